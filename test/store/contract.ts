// What every store promises, as one list of tests: run it on each implementation.
import { describe, expect, it } from "vitest";
import type { Store, StoreValue, Write } from "../../src/store/store.js";

export interface StoreUnderTest {
  readonly store: Store;
  /** Moves the store's clock. */
  advance(ms: number): Promise<void>;
}

export function describeStore(name: string, make: () => Promise<StoreUnderTest>): void {
  const far = async (store: Store) => (await store.read([])).now + 3_600_000;
  const put = async (store: Store, key: string, version: number, value: StoreValue, more: Partial<Write> = {}) =>
    store.commit({ writes: [{ key, version, value, expiresAt: await far(store), ...more }] });
  const versionOf = async (store: Store, key: string) => (await store.read([key])).entries[0]?.version ?? 0;
  const readValue = async (store: Store, key: string) => (await store.read([key])).entries[0]?.value;

  describe(`the ${name} store`, () => {
    it("gives back what was written, bytes too, and its own time", async () => {
      const { store } = await make();
      const value = { text: "a", list: [1, null, true], bytes: new Uint8Array([0, 255]) };
      expect(await put(store, "a", 0, value)).toBe("ok");
      const { now, entries } = await store.read(["a", "b"]);
      expect(entries[0]?.value).toEqual(value);
      expect(entries[1]).toBeUndefined();
      expect(now).toBeGreaterThan(1_600_000_000_000);
    });

    it("refuses a write whose version is not the one that stands, and an insert where something stands", async () => {
      const { store } = await make();
      await put(store, "a", 0, 1);
      expect(await put(store, "a", 0, 2)).toBe("conflict");
      const version = await versionOf(store, "a");
      expect(await put(store, "a", version, 3)).toBe("ok");
      expect(await put(store, "a", version, 4)).toBe("conflict");
      expect(await readValue(store, "a")).toBe(3);
    });

    it("never gives a key that was deleted and made anew a version that was seen before", async () => {
      const { store } = await make();
      await put(store, "a", 0, 1);
      const first = await versionOf(store, "a");
      await put(store, "a", first, null);
      expect(await readValue(store, "a")).toBeUndefined();
      await put(store, "a", 0, 2);
      expect(await put(store, "a", first, 3)).toBe("conflict");
    });

    // A store may write in an order of its own.
    it.each(["0", "b"])("writes all keys of a commit or none: %s with a key that stands", async (other) => {
      const { store } = await make();
      await put(store, "a", 0, 1);
      const expiresAt = await far(store);
      const both = [
        { key: other, version: 0, value: 1, expiresAt },
        { key: "a", version: 0, value: 2, expiresAt },
      ];
      expect(await store.commit({ writes: both })).toBe("conflict");
      expect(await readValue(store, other)).toBeUndefined();
    });

    it("lets one of many that race for a key win", async () => {
      const { store } = await make();
      const results = await Promise.all(Array.from({ length: 100 }, (_, at) => put(store, "a", 0, at)));
      expect(results.filter((result) => result === "ok")).toHaveLength(1);
    });

    it("forgets an entry at its time and not before", async () => {
      const { store, advance } = await make();
      await put(store, "a", 0, 1, { expiresAt: (await store.read([])).now + 300_000 });
      // A server's own clock goes on meanwhile.
      await advance(240_000);
      expect(await readValue(store, "a")).toBe(1);
      await advance(60_001);
      expect(await readValue(store, "a")).toBeUndefined();
      expect(await put(store, "a", 0, 2)).toBe("ok");
    });

    it("lists what is due, oldest first, and no longer once that is taken back", async () => {
      const { store, advance } = await make();
      const { now } = await store.read([]);
      await put(store, "late", 0, 1, { dueAt: now + 120_000 });
      await put(store, "early", 0, 1, { dueAt: now + 60_000 });
      await put(store, "never", 0, 1);
      expect(await store.due(10)).toEqual([]);
      await advance(180_000);
      expect(await store.due(10)).toEqual(["early", "late"]);
      expect(await store.due(1)).toEqual(["early"]);
      expect(await store.due(1, 1)).toEqual(["late"]);
      expect(await store.due(10, 1)).toEqual(["late"]);
      expect(await store.due(10, 2)).toEqual([]);
      await put(store, "early", await versionOf(store, "early"), 2);
      expect(await store.due(10)).toEqual(["late"]);
    });

    const reserve = async (
      store: Store,
      member: string,
      amount: string,
      limits: { maxMembers?: number; maxSum?: string },
    ) =>
      store.commit({
        writes: [],
        reserve: [
          {
            ledger: "payer",
            member,
            amount,
            maxMembers: limits.maxMembers ?? 10,
            expiresAt: (await store.read([])).now + 60_000,
            ...(limits.maxSum !== undefined && { maxSum: limits.maxSum }),
          },
        ],
      });

    it("bounds the members of a ledger, also when many race", async () => {
      const { store } = await make();
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) => reserve(store, `m${at}`, "1", { maxMembers: 5 })),
      );
      expect(results.filter((result) => result === "ok")).toHaveLength(5);
      expect(results.filter((result) => result === "too_many")).toHaveLength(15);
      expect((await store.read([], ["payer"])).members).toEqual([5]);
    });

    it("sums a ledger exactly beyond 2^64", async () => {
      const { store } = await make();
      const huge = (2n ** 255n).toString();
      expect(await reserve(store, "a", huge, { maxSum: (2n ** 256n).toString() })).toBe("ok");
      expect(await reserve(store, "b", (2n ** 255n + 1n).toString(), { maxSum: (2n ** 256n).toString() })).toBe(
        "over_sum",
      );
      expect(await reserve(store, "b", huge, { maxSum: (2n ** 256n).toString() })).toBe("ok");
    });

    it("counts a member that is added again once", async () => {
      const { store } = await make();
      await reserve(store, "a", "7", {});
      expect(await reserve(store, "a", "9", { maxMembers: 1, maxSum: "9" })).toBe("ok");
      expect((await store.read([], ["payer"])).members).toEqual([1]);
    });

    it("frees a member by release and by time", async () => {
      const { store, advance } = await make();
      await reserve(store, "a", "1", {});
      await reserve(store, "b", "1", {});
      await store.commit({ writes: [], release: [{ ledger: "payer", member: "a" }] });
      expect((await store.read([], ["payer"])).members).toEqual([1]);
      await advance(60_001);
      expect((await store.read([], ["payer"])).members).toEqual([0]);
    });

    it("writes nothing when a reservation of the commit is refused", async () => {
      const { store } = await make();
      const expiresAt = await far(store);
      const result = await store.commit({
        writes: [{ key: "a", version: 0, value: 1, expiresAt }],
        reserve: [{ ledger: "payer", member: "a", amount: "2", maxMembers: 1, maxSum: "1", expiresAt }],
      });
      expect(result).toBe("over_sum");
      expect(await readValue(store, "a")).toBeUndefined();
    });
  });
}
