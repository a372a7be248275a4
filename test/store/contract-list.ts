// The list that every store keeps: in pages, nothing twice, and nothing missed that stood all the time.
import { describe, expect, it } from "vitest";
import type { Store, Write } from "../../src/store/store.js";
import { dice } from "../support/dice.js";
import type { StoreUnderTest } from "./contract.js";

const HOUR = 3_600_000;

const put = async (store: Store, key: string, more: Partial<Write> = {}) => {
  const { now, entries } = await store.read([key]);
  const write = { key, version: entries[0]?.version ?? 0, value: { of: key }, expiresAt: now + HOUR, listed: true };
  expect(await store.commit({ writes: [{ ...write, ...more }] })).toBe("ok");
};

/** Every key of the list; `between` runs after each page. */
async function listed(store: Store, limit: number, between: () => Promise<void> = async () => {}): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(cursor, limit);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    for (const { key, value } of page.entries) expect(value).toMatchObject({ of: key });
    keys.push(...page.entries.map(({ key }) => key));
    cursor = page.next;
    await between();
  } while (cursor !== undefined);
  return keys;
}

export function describeListing(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`the list of the ${name} store`, () => {
    it("gives what was written to be listed, the last that was added first, page by page, and the store's time", async () => {
      const { store } = await make();
      expect(await listed(store, 2)).toEqual([]);
      for (const key of ["c", "a", "d", "b", "e"]) await put(store, key);
      await put(store, "beside", { listed: false });
      await put(store, "answer", { evictable: true });
      for (const limit of [1, 2, 5, 100]) expect(await listed(store, limit)).toEqual(["e", "b", "d", "a", "c"]);
      const { now } = await store.read([]);
      expect(Math.abs((await store.list(undefined, 1)).now - now)).toBeLessThan(60_000);
    });

    it("keeps a key in its place from write to write, and takes out what is deleted, unlisted or over", async () => {
      const { store, advance } = await make();
      for (const key of ["a", "b", "c", "d", "e"]) await put(store, key);
      await put(store, "b", { value: { of: "b", again: true } });
      expect(await listed(store, 2)).toEqual(["e", "d", "c", "b", "a"]);
      await put(store, "c", { value: null });
      await put(store, "d", { listed: false });
      await put(store, "e", { expiresAt: (await store.read([])).now + 5000 });
      await advance(5001);
      expect(await listed(store, 2)).toEqual(["b", "a"]);
      for (const key of ["e", "c", "d"]) await put(store, key);
      expect(await listed(store, 2)).toEqual(["d", "c", "e", "b", "a"]);
    });

    it("gives nothing twice and misses nothing that stood all the time, whatever is written meanwhile", async () => {
      const { store } = await make();
      const roll = dice(7);
      const standing = Array.from({ length: 30 }, (_, at) => `standing ${at}`);
      const passing = Array.from({ length: 30 }, (_, at) => `passing ${at}`);
      for (const [at, key] of standing.entries()) {
        await put(store, key);
        await put(store, passing[at] ?? "");
      }
      let added = 0;
      const keys = await listed(store, 7, async () => {
        for (let write = 0; write < 3; write += 1) {
          added += 1;
          await put(store, `added ${added}`);
          await put(store, standing[roll(30)] ?? "", { expiresAt: (await store.read([])).now + HOUR + added });
          const one = passing[roll(30)] ?? "";
          await put(store, one, { value: null });
          if (roll(2) === 0) await put(store, one);
        }
      });
      expect(added).toBeGreaterThan(15);
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.filter((key) => key.startsWith("standing"))).toEqual(standing.toReversed());
    });
  });
}
