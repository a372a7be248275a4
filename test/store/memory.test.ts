import { expect, it } from "vitest";
import { atOnceOf, defaultStore, isSingleProcess, memoryStore } from "../../src/store/memory.js";
import type { Snapshot, Store } from "../../src/store/store.js";
import { createFakeClock } from "../support/fake-clock.js";
import { describeStore } from "./contract.js";
import { describeListing } from "./contract-list.js";
import { describePasses } from "./contract-passes.js";

const inMemory = async () => {
  const clock = createFakeClock();
  return { store: memoryStore({}, clock), advance: clock.advance };
};

describeStore("memory", inMemory);
describeListing("memory", inMemory);
describePasses("memory", inMemory);

// What is decided at once comes to the same: the contract again, over the short way alone.
describeStore("memory, at once", async () => {
  const clock = createFakeClock();
  const memory = memoryStore({}, clock);
  const atOnce = atOnceOf(memory);
  if (!atOnce) throw new Error("a memory store has a short way");
  const store: Store = {
    ...memory,
    async read(keys, ledgers = []) {
      let seen: Snapshot | undefined;
      atOnce(keys, ledgers, (snapshot) => {
        seen = snapshot;
        return undefined;
      });
      return seen as Snapshot;
    },
    async commit(transaction) {
      const keys = transaction.writes.map(({ key }) => key);
      const result = atOnce(keys, [], ({ entries }) => {
        const stale = transaction.writes.some(({ version }, at) => (entries[at]?.version ?? 0) !== version);
        return stale ? undefined : transaction;
      });
      return result === "none" ? "conflict" : result;
    },
  };
  return { store, advance: clock.advance };
});

it("has no short way for a store that stands in front of it", () => {
  const memory = memoryStore();
  expect([atOnceOf(memory), atOnceOf({ ...memory }), atOnceOf(Object.create(memory))]).toEqual([
    expect.any(Function),
    undefined,
    undefined,
  ]);
});

const write = (key: string, now: number, evictable = false) => ({
  writes: [{ key, version: 0, value: { body: new Uint8Array(1000) }, expiresAt: now + 60_000, evictable }],
});

it("says full instead of evicting a record, and has room again when one has had its time", async () => {
  const clock = createFakeClock();
  const store = memoryStore({ maxEntries: 2 }, clock);
  expect(await store.commit(write("a", clock.now()))).toBe("ok");
  expect(await store.commit(write("b", clock.now() + 60_000))).toBe("ok");
  expect(await store.commit(write("c", clock.now()))).toBe("full");
  expect((await store.read(["a", "b"])).entries.every(Boolean)).toBe(true);
  await clock.advance(61_000);
  expect(await store.commit(write("c", clock.now()))).toBe("ok");
});

it("evicts kept answers by bytes, oldest first, and never a record for them", async () => {
  const clock = createFakeClock();
  const store = memoryStore({ maxKeptBytes: 3000 }, clock);
  await store.commit(write("record", clock.now()));
  for (const key of ["a", "b", "c"]) await store.commit(write(key, clock.now(), true));
  const { entries } = await store.read(["record", "a", "b", "c"]);
  expect(entries.map(Boolean)).toEqual([true, false, true, true]);
});

it("is shared by all guards of a process unless another is given", () => {
  expect(defaultStore()).toBe(defaultStore());
  expect(memoryStore()).not.toBe(defaultStore());
  expect([isSingleProcess(memoryStore({ singleProcess: true })), isSingleProcess(memoryStore())]).toEqual([
    true,
    false,
  ]);
});
