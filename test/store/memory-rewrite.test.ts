// A record that is written again lives as long as its last write says, and takes up room no longer.
import { expect, it } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import { createFakeClock } from "../support/fake-clock.js";

it.each([
  ["later", 60_000],
  ["sooner", 2_000],
])("makes room once the end of the last write has passed, also where it is %s than the first one's", async (_, ms) => {
  const clock = createFakeClock();
  const store = memoryStore({ maxEntries: 1 }, clock);
  const write = (key: string, version: number, lifeMs: number) =>
    store.commit({ writes: [{ key, version, value: { version }, expiresAt: clock.now() + lifeMs }] });
  expect(await write("a", 0, 10_000)).toBe("ok");
  const [first] = (await store.read(["a"])).entries;
  expect(await write("a", first?.version ?? 0, ms)).toBe("ok");
  await clock.advance(ms - 1_000);
  expect((await store.read(["a"])).entries[0]?.value).toEqual({ version: first?.version });
  expect(await write("b", 0, 1_000)).toBe("full");
  await clock.advance(2_001);
  expect(await write("b", 0, 1_000)).toBe("ok");
});
