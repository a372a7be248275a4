// The rest of what every store promises: exactness, other connections, memories that end.
import { describe, expect, it } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { Store, StoreValue, Write } from "../../src/store/store.js";
import { dice } from "../support/dice.js";
import { createFakeClock } from "../support/fake-clock.js";
import type { StoreUnderTest } from "./contract.js";

const MINUTE = 60_000;
const FAR = 60 * MINUTE;
/** `unknown` records are kept until then. */
const UNDECIDED = 8_640_000_000_000_000;

const nowOf = async (store: Store) => (await store.read([])).now;
const put = async (store: Store, key: string, version: number, value: StoreValue, more: Partial<Write> = {}) =>
  store.commit({ writes: [{ key, version, value, expiresAt: (await nowOf(store)) + FAR, ...more }] });
const entryOf = async (store: Store, key: string) => (await store.read([key])).entries[0];

export function describeExactness(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`the ${name} store, exactly`, () => {
    it.each<[string, StoreValue]>([
      ["bytes at any depth", { a: [{ b: new Uint8Array([0, 1, 254, 255]) }], c: new Uint8Array() }],
      ["many bytes", new Uint8Array(100_000).map((_, at) => (at * 31) % 256)],
      ["members that look like the mark of bytes", { $bytes: "AA==", $$bytes: ["$bytes"], $: 1 }],
      ["nothing, false, zero and empty things", [null, false, 0, "", [], {}]],
      ["signs of every kind", { text: '\u0000\u001f"\\ é 日本 😀 \ud800', "a b": "'; drop table x --" }],
      ["numbers at the ends of what is exact", [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 1e-7, 1.5e300]],
      ["names of the prototype", JSON.parse('{"__proto__":{"a":1},"constructor":"x"}') as StoreValue],
    ])("gives back %s", async (_what, value) => {
      const { store } = await make();
      await put(store, "a", 0, value);
      expect((await entryOf(store, "a"))?.value).toEqual(value);
    });

    it("tells keys apart that differ in case, in a trailing space or in their normal form", async () => {
      const { store } = await make();
      const keys = ["key", "KEY", "key ", "k\u00e9y", "ke\u0301y", "k%y", "k_y"];
      for (const [at, key] of keys.entries()) expect(await put(store, key, 0, at)).toBe("ok");
      const { entries } = await store.read(keys);
      expect(entries.map((entry) => entry?.value)).toEqual(keys.map((_, at) => at));
    });

    it("keeps what is kept until it is decided, and lists it when it is due", async () => {
      const { store, advance } = await make();
      const dueAt = (await nowOf(store)) + 1000;
      await put(store, "unknown", 0, 1, { expiresAt: UNDECIDED, dueAt });
      await advance(1001);
      expect(await store.due(5)).toEqual(["unknown"]);
      const entry = await entryOf(store, "unknown");
      expect(await put(store, "unknown", entry?.version ?? 0, 2, { expiresAt: UNDECIDED, dueAt: UNDECIDED })).toBe(
        "ok",
      );
      expect(await store.due(5)).toEqual([]);
    });

    it("deletes only what stands as it was read", async () => {
      const { store } = await make();
      await put(store, "a", 0, 1);
      const first = (await entryOf(store, "a"))?.version ?? 0;
      await put(store, "a", first, 2);
      expect(await put(store, "a", first, null)).toBe("conflict");
      expect(await put(store, "a", 0, null)).toBe("conflict");
      expect((await entryOf(store, "a"))?.value).toBe(2);
      expect(await put(store, "b", 0, null)).toBe("ok");
    });

    it("gives every write of a key a greater version", async () => {
      const { store } = await make();
      let version = 0;
      for (let write = 0; write < 5; write += 1) {
        await put(store, "a", version, write);
        const next = (await entryOf(store, "a"))?.version ?? 0;
        expect(next).toBeGreaterThan(version);
        expect(Number.isSafeInteger(next)).toBe(true);
        version = next;
      }
    });

    it("writes a kept answer beside a record, over a record's place and away again", async () => {
      const { store } = await make();
      const kept = { body: new Uint8Array(1000) };
      await put(store, "answer", 0, kept, { evictable: true });
      const first = await entryOf(store, "answer");
      expect(first?.value).toEqual(kept);
      await put(store, "answer", first?.version ?? 0, kept, { evictable: true });
      const second = await entryOf(store, "answer");
      expect(await put(store, "answer", second?.version ?? 0, null)).toBe("ok");
      expect(await entryOf(store, "answer")).toBeUndefined();
    });

    it("sums forty members of 78 digits to the last unit", async () => {
      const { store } = await make();
      const amounts = Array.from({ length: 40 }, (_, at) => 2n ** 256n - BigInt(at) * 10n ** 14n - 1n);
      const total = amounts.reduce((sum, amount) => sum + amount, 0n);
      const expiresAt = (await nowOf(store)) + FAR;
      const reserve = (member: string, amount: bigint, maxSum: bigint) =>
        store.commit({
          writes: [],
          reserve: [
            { ledger: "l", member, amount: String(amount), maxMembers: 100, maxSum: String(maxSum), expiresAt },
          ],
        });
      for (const [at, amount] of amounts.entries()) expect(await reserve(`m${at}`, amount, total)).toBe("ok");
      expect(await reserve("one more", 1n, total)).toBe("over_sum");
      expect(await reserve("one more", 0n, total)).toBe("ok");
      expect(await reserve("m0", amounts[0]! + 1n, total)).toBe("over_sum");
    });

    it("says since when it remembers, which no write changes", async () => {
      const { store, advance } = await make();
      const { now, since } = await store.read([]);
      expect(since).toBeLessThanOrEqual(now);
      await put(store, "a", 0, 1);
      await advance(5000);
      expect((await store.read(["a"])).since).toBe(since);
    });

    it("refuses what was decided on another memory", async () => {
      const { store } = await make();
      const { now, since } = await store.read([]);
      const write = { key: "a", version: 0, value: 1, expiresAt: now + FAR };
      expect(await store.commit({ since: since - 1, writes: [write] })).toBe("conflict");
      expect(await entryOf(store, "a")).toBeUndefined();
      expect(await store.commit({ since, writes: [write] })).toBe("ok");
    });

    it("lets nothing be built on what it held before it was closed", async () => {
      const { store } = await make();
      await put(store, "a", 0, 1);
      const { now, since, entries } = await store.read(["a"]);
      await store.close();
      const late = { key: "a", version: entries[0]?.version ?? 0, value: 2, expiresAt: now + FAR };
      const result = await store.commit({ since, writes: [late] }).catch((error: unknown) => String(error));
      expect(result).toMatch(/^conflict$|is closed/);
    });

    it("answers like a store in memory, whatever is asked of it", async () => {
      const { store, advance } = await make();
      const clock = createFakeClock();
      const model = memoryStore({}, clock);
      const roll = dice(20_260_101);
      for (let step = 0; step < 150; step += 1) {
        if (roll(10) === 0) {
          const ms = roll(4) * MINUTE;
          await Promise.all([advance(ms), clock.advance(ms)]);
        }
        const [ours, theirs] = [await randomStep(store, dice(step)), await randomStep(model, dice(step))];
        expect(ours, `step ${step}`).toEqual(theirs);
      }
    });
  });
}

const KEYS = ["a", "b", "c", "d"];

/** One commit of up to two writes and a reservation, and all that can be seen after it but versions and times. */
async function randomStep(store: Store, roll: (count: number) => number): Promise<unknown> {
  const pick = <Item>(list: readonly Item[]) => list[roll(list.length)]!;
  const before = await store.read(KEYS);
  // Half a minute away from every full one, so that two clocks never disagree about the order.
  const later = (minutes: number) => before.now + minutes * MINUTE + MINUTE / 2;
  const chosen = new Set(roll(2) === 0 ? [pick(KEYS)] : [pick(KEYS), pick(KEYS)]);
  const writes = [...chosen].map((key): Write => {
    const standing = before.entries[KEYS.indexOf(key)];
    const version = roll(7) === 0 ? 0 : (standing?.version ?? 0);
    const value = roll(5) === 0 ? null : { rolled: roll(1000) };
    return { key, version, value, expiresAt: later(roll(9)), ...(roll(2) === 0 && { dueAt: later(roll(4)) }) };
  });
  const [ledger, member, amount] = [pick(["x", "y"]), pick(["m", "n", "o"]), String(roll(100))];
  const reserve = { ledger, member, amount, maxMembers: 2, maxSum: "120", expiresAt: later(roll(4)) };
  const result = await store.commit({
    since: before.since,
    writes,
    ...(roll(2) === 0 && { reserve: [reserve] }),
    ...(roll(3) === 0 && { release: [{ ledger: "x", member: pick(["m", "n", "o"]) }] }),
  });
  const { entries, members } = await store.read(KEYS, ["x", "y"]);
  return { result, values: entries.map((entry) => entry?.value), members, due: [...(await store.due(10))].sort() };
}

/** What several processes on one store may rely on. `another` opens the same data a second time. */
export function describeSharing(
  name: string,
  make: () => Promise<StoreUnderTest & { another(): Promise<Store> }>,
): void {
  describe(`the ${name} store, on two connections`, () => {
    it("lets one of many that race for a key win, wherever they come from", async () => {
      const { store, another } = await make();
      const stores = [store, await another()];
      for (let round = 0; round < 5; round += 1) {
        const racing = Array.from({ length: 40 }, (_, at) => put(stores[at % 2]!, `race ${round}`, 0, at));
        const results = await Promise.all(racing);
        expect(results.filter((result) => result === "ok")).toHaveLength(1);
        expect(results.filter((result) => result === "conflict")).toHaveLength(39);
        const seen = await Promise.all(stores.map((one) => entryOf(one, `race ${round}`)));
        expect(seen[0]).toEqual(seen[1]);
        expect(seen[0]?.value).toBe(results.indexOf("ok"));
      }
    });

    it("begins once, however many open it at the same moment", async () => {
      const { store, another } = await make();
      const stores = [store, ...(await Promise.all([1, 2, 3].map(another)))];
      const snapshots = await Promise.all(stores.map((one) => one.read([])));
      expect(new Set(snapshots.map(({ since }) => since)).size).toBe(1);
    });

    it("counts a hundred increments by compare-and-set", async () => {
      const { store, another } = await make();
      const stores = [store, await another()];
      await put(store, "count", 0, 0);
      const increment = async (on: Store): Promise<void> => {
        for (;;) {
          const entry = await entryOf(on, "count");
          if ((await put(on, "count", entry?.version ?? 0, Number(entry?.value) + 1)) === "ok") return;
        }
      };
      const worker = async (on: Store) => {
        for (let times = 0; times < 25; times += 1) await increment(on);
      };
      await Promise.all([...stores, ...stores].map(worker));
      expect((await entryOf(store, "count"))?.value).toBe(100);
    });

    it("writes the same keys in opposite orders, and one wins all of them", async () => {
      const { store, another } = await make();
      const stores = [store, await another()];
      const keys = ["a", "b", "c"];
      for (let round = 1; round <= 10; round += 1) {
        const { now, entries } = await store.read(keys);
        const writes = keys.map((key, at) => {
          return { key, version: entries[at]?.version ?? 0, value: 0, expiresAt: now + FAR };
        });
        const commitAs = (value: number, order: readonly Write[]) =>
          stores[value % 2]!.commit({ writes: order.map((write) => ({ ...write, value })) });
        const results = await Promise.all(
          [1, 2, 3, 4].map((at) => commitAs(at, at % 2 ? writes : writes.toReversed())),
        );
        expect(results.filter((result) => result === "ok")).toHaveLength(1);
        const after = await store.read(keys);
        expect(new Set(after.entries.map((entry) => entry?.value))).toEqual(new Set([results.indexOf("ok") + 1]));
      }
    });

    it("bounds a ledger in number and in sum, whoever reserves", async () => {
      const { store, another } = await make();
      const stores = [store, await another()];
      const expiresAt = (await nowOf(store)) + FAR;
      const reserve = (at: number, limits: { maxMembers: number; maxSum: string }, ledger: string) =>
        stores[at % 2]!.commit({
          writes: [{ key: `${ledger} ${at}`, version: 0, value: at, expiresAt }],
          reserve: [{ ledger, member: `m${at}`, amount: "30", expiresAt, ...limits }],
        });
      const all = Array.from({ length: 30 }, (_, at) => at);
      const few = await Promise.all(all.map((at) => reserve(at, { maxMembers: 5, maxSum: "100000" }, "few")));
      const small = await Promise.all(all.map((at) => reserve(at, { maxMembers: 100, maxSum: "119" }, "small")));
      expect([few, small].map((results) => results.filter((result) => result === "ok").length)).toEqual([5, 3]);
      expect((await store.read([], ["few", "small"])).members).toEqual([5, 3]);
      const written = await store.read(all.map((at) => `few ${at}`));
      expect(written.entries.filter(Boolean)).toHaveLength(5);
    });

    it("has one time and one memory", async () => {
      const { store, another } = await make();
      const other = await another();
      const [here, there] = await Promise.all([store.read([]), other.read([])]);
      expect(there.since).toBe(here.since);
      expect(Math.abs(there.now - here.now)).toBeLessThan(2000);
      await put(store, "due", 0, 1, { dueAt: here.now - 1 });
      expect(await other.due(1)).toEqual(["due"]);
    });

    it("keeps what it holds when one of the two is closed", async () => {
      const { store, another } = await make();
      const other = await another();
      await put(other, "a", 0, 1);
      const { since } = await store.read([]);
      await other.close();
      await expect(other.read(["a"])).rejects.toThrow("is closed");
      const after = await store.read(["a"]);
      expect([after.entries[0]?.value, after.since]).toEqual([1, since]);
    });

    it("refuses a key that a database would change, before anything is written", async () => {
      const { store } = await make();
      for (const key of ["a\u0000b", "\ud800"])
        await expect(put(store, key, 0, 1)).rejects.toThrow("a key of the store");
    });
  });
}
