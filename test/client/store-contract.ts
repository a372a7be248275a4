// What every buyer's store promises, as one list of tests: run it on each implementation.
import { describe, expect, it } from "vitest";
import type { Purchase } from "../../src/client/purchase.js";
import {
  type BuyerStore,
  DAY_MS,
  type Limit,
  PENDING_MS,
  type PendingProof,
  type Spend,
} from "../../src/client/store.js";

export const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

export const spendOf = (id: string, amount: bigint, more: Partial<Spend> = {}): Spend => ({
  id,
  host: "api.example",
  unit: "usd",
  amount,
  at: NOW,
  ...more,
});

export const limitOf = (amount: bigint, more: Partial<Limit> = {}): Limit => ({
  name: "budget.perDay",
  unit: "usd",
  windowMs: DAY_MS,
  amount,
  ...more,
});

export const purchaseOf = (id: string, more: Partial<Purchase> = {}): Purchase => ({
  id,
  status: "settled",
  method: "GET",
  url: "https://api.example/report",
  host: "api.example",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  symbol: "USDC",
  decimals: 6,
  amount: 10_000n,
  price: "0.01 USDC",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  payer: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  at: NOW,
  transaction: undefined,
  httpStatus: undefined,
  served: false,
  ...more,
});

export const proofOf = (request: string, id: string, more: Partial<PendingProof> = {}): PendingProof => ({
  request,
  headers: { "X-PAYMENT": `proof of ${id}`, "Idempotency-Key": id },
  expiresAt: NOW + 600_000,
  purchase: purchaseOf(id, { status: "sent" }),
  ...more,
});

/** `make`: an empty one. `again`: another instance that shares its memory; undefined where nothing can. */
export function describeBuyerStore(
  name: string,
  make: () => BuyerStore,
  again?: (store: BuyerStore) => BuyerStore,
): void {
  describe(`the buyer's ${name} store`, () => {
    it("counts of 200 parallel payments as many as the limit holds, to the atomic unit", async () => {
      const store = make();
      const amount = 333_333_333_333_333_333n;
      // 37 of them and one unit less than the 38th.
      const limits = [limitOf(amount * 38n - 1n)];
      const spends = Array.from({ length: 200 }, (_, index) => spendOf(`p${index}`, amount));
      const results = await Promise.all(spends.map((spend) => store.reserve(spend, limits)));
      expect(results.filter(({ ok }) => ok)).toHaveLength(37);
      expect(results.find(({ ok }) => !ok)).toEqual({ ok: false, limit: limits[0], spent: amount * 37n });
      // What is left is left exactly.
      expect(await store.reserve(spendOf("rest", amount - 1n), limits)).toEqual({ ok: true });
      expect(await store.reserve(spendOf("more", 1n), limits)).toMatchObject({ ok: false, spent: amount * 38n - 1n });
    });

    it("counts amounts that no float can hold", async () => {
      const store = make();
      const huge = 2n ** 200n + 1n;
      await store.reserve(spendOf("a", huge), []);
      expect(await store.reserve(spendOf("b", huge), [limitOf(huge * 2n - 1n)])).toMatchObject({
        ok: false,
        spent: huge,
      });
      expect(await store.reserve(spendOf("b", huge), [limitOf(huge * 2n)])).toEqual({ ok: true });
    });

    it("holds the limits of a host and of all hosts together, and counts nothing where one of them is reached", async () => {
      const store = make();
      const of = (host: string) => [limitOf(100n), limitOf(30n, { host, name: `budget.hosts["${host}"].perDay` })];
      const pay = (id: string, host: string, amount: bigint) => store.reserve(spendOf(id, amount, { host }), of(host));
      expect(await pay("a", "one.example", 30n)).toEqual({ ok: true });
      expect(await pay("b", "one.example", 1n)).toMatchObject({ ok: false, limit: { amount: 30n }, spent: 30n });
      expect(await pay("c", "two.example", 30n)).toEqual({ ok: true });
      expect(await pay("d", "three.example", 30n)).toEqual({ ok: true });
      expect(await pay("e", "four.example", 11n)).toMatchObject({ ok: false, limit: { amount: 100n }, spent: 90n });
      expect(await pay("f", "four.example", 10n)).toEqual({ ok: true });
    });

    it("counts each unit by itself", async () => {
      const store = make();
      await store.reserve(spendOf("a", 10n), [limitOf(10n)]);
      const other = spendOf("b", 10n, { unit: "native:SOL" });
      expect(await store.reserve(other, [limitOf(10n, { unit: "native:SOL" })])).toEqual({ ok: true });
    });

    it("refuses an amount below 0, which would give back what was spent, and a window that it does not remember", async () => {
      const store = make();
      await expect(store.reserve(spendOf("a", -1n), [limitOf(10n)])).rejects.toThrow(RangeError);
      await expect(store.reserve(spendOf("a", 1n, { at: Number.NaN }), [])).rejects.toThrow(RangeError);
      await expect(store.reserve(spendOf("a", 1n), [limitOf(10n, { windowMs: DAY_MS + 1 })])).rejects.toThrow("a day");
    });

    it("takes back what is released, once, and ignores what it does not know", async () => {
      const store = make();
      await store.reserve(spendOf("a", 10n), [limitOf(10n)]);
      await store.release("unknown");
      expect((await store.reserve(spendOf("b", 1n), [limitOf(10n)])).ok).toBe(false);
      await store.release("a");
      await store.release("a");
      expect((await store.reserve(spendOf("b", 10n), [limitOf(10n)])).ok).toBe(true);
      expect((await store.reserve(spendOf("c", 1n), [limitOf(10n)])).ok).toBe(false);
    });

    it("counts two payments of one id as two, and releases no more than the smaller one", async () => {
      const store = make();
      await store.reserve(spendOf("a", 7n), []);
      await store.reserve(spendOf("a", 3n), []);
      expect(await store.reserve(spendOf("b", 1n), [limitOf(10n)])).toMatchObject({ spent: 10n });
      await store.release("a");
      expect(await store.reserve(spendOf("b", 4n), [limitOf(10n)])).toMatchObject({ spent: 7n });
    });

    it("releases neither of two payments of one id that are counted apart, because it is not known which never left", async () => {
      const store = make();
      await store.reserve(spendOf("a", 1n), []);
      await store.reserve(spendOf("a", 1n, { unit: "native:SOL" }), []);
      await store.release("a");
      expect((await store.reserve(spendOf("b", 1n), [limitOf(1n)])).ok).toBe(false);
    });

    it.each([HOUR_MS, DAY_MS])(
      "lets a payment leave a window of %d ms when it is as old as that, and no sooner",
      async (windowMs) => {
        const store = make();
        const limits = [limitOf(10n, { windowMs })];
        await store.reserve(spendOf("a", 10n), limits);
        const later = (ms: number) => store.reserve(spendOf(`after ${ms}`, 10n, { at: NOW + ms }), limits);
        expect((await later(windowMs - 1)).ok).toBe(false);
        expect((await later(windowMs)).ok).toBe(true);
      },
    );

    it("frees nothing where the clock goes back: a payment from the future counts", async () => {
      const store = make();
      await store.reserve(spendOf("a", 10n), [limitOf(10n)]);
      const before = spendOf("b", 1n, { at: NOW - 30 * DAY_MS });
      expect(await store.reserve(before, [limitOf(10n)])).toMatchObject({ ok: false, spent: 10n });
    });

    it("still counts a payment of the day when older ones have left it", async () => {
      const store = make();
      await store.reserve(spendOf("old", 10n), []);
      await store.reserve(spendOf("new", 10n, { at: NOW + HOUR_MS }), []);
      const later = (id: string, amount: bigint) => spendOf(id, amount, { at: NOW + DAY_MS });
      expect((await store.reserve(later("a", 10n), [limitOf(20n)])).ok).toBe(true);
      expect(await store.reserve(later("b", 1n), [limitOf(20n)])).toMatchObject({ ok: false, spent: 20n });
    });

    it("keeps proofs beside each other, the oldest first, and leaves out those that others send", async () => {
      const store = make();
      await store.keep(proofOf("r", "one"));
      await store.keep(proofOf("r", "two"));
      await store.keep(proofOf("s", "three"));
      expect(await store.pending("r", NOW)).toEqual(proofOf("r", "one"));
      expect(await store.pending("r", NOW, new Set(["one"]))).toEqual(proofOf("r", "two"));
      expect(await store.pending("r", NOW, new Set(["one", "two"]))).toBeUndefined();
      expect(await store.pending("t", NOW)).toBeUndefined();
    });

    it("replaces a proof by that of the same purchase", async () => {
      const store = make();
      await store.keep(proofOf("r", "one"));
      await store.keep(proofOf("r", "one", { purchase: purchaseOf("one", { status: "refused" }) }));
      expect((await store.pending("r", NOW))?.purchase.status).toBe("refused");
      await store.forget("r", "one");
      expect(await store.pending("r", NOW)).toBeUndefined();
    });

    it("forgets a proof by its request and its purchase, and no other one", async () => {
      const store = make();
      await store.keep(proofOf("r", "one"));
      await store.forget("r", "two");
      await store.forget("s", "one");
      expect(await store.pending("r", NOW)).toEqual(proofOf("r", "one"));
      await store.forget("r", "one");
      expect(await store.pending("r", NOW)).toBeUndefined();
    });

    it("gives a proof back for a day, and longer where it can be settled for longer", async () => {
      const store = make();
      await store.keep(proofOf("r", "one"));
      await store.keep(proofOf("s", "two", { expiresAt: NOW + PENDING_MS + 5 }));
      expect(await store.pending("r", NOW + PENDING_MS - 1)).toBeDefined();
      expect(await store.pending("r", NOW + PENDING_MS)).toBeUndefined();
      expect(await store.pending("s", NOW + PENDING_MS + 4)).toBeDefined();
      expect(await store.pending("s", NOW + PENDING_MS + 5)).toBeUndefined();
      // A payment a day later drops what is over, and nothing else.
      await store.reserve(spendOf("a", 1n, { at: NOW + PENDING_MS }), []);
      expect(await store.pending("r", NOW)).toBeUndefined();
      expect(await store.pending("s", NOW)).toBeDefined();
      await expect(store.keep(proofOf("t", "x", { expiresAt: Number.POSITIVE_INFINITY }))).rejects.toThrow(RangeError);
    });

    it("tells purchases newest first, each as it was written last", async () => {
      const store = make();
      await store.record(purchaseOf("b", { at: NOW + 1, status: "reserved" }));
      await store.record(purchaseOf("a"));
      await store.record(purchaseOf("c", { at: NOW + 2, payer: undefined, symbol: undefined, decimals: undefined }));
      await store.record(purchaseOf("b", { at: NOW + 1, httpStatus: 200, served: true, transaction: "0x01" }));
      const all = await store.purchases();
      expect(all.map(({ id }) => id)).toEqual(["c", "b", "a"]);
      expect(all[0]).toEqual(
        purchaseOf("c", { at: NOW + 2, payer: undefined, symbol: undefined, decimals: undefined }),
      );
      expect(all[1]).toMatchObject({ status: "settled", httpStatus: 200, served: true, transaction: "0x01" });
      expect(all[2]).toEqual(purchaseOf("a"));
    });

    if (again) {
      it("agrees with another instance of the same memory", async () => {
        const store = make();
        const other = again(store);
        const amounts = Array.from({ length: 60 }, (_, index) => spendOf(`p${index}`, 10n));
        const one = (spend: Spend, index: number) => (index % 2 ? store : other).reserve(spend, [limitOf(255n)]);
        const results = await Promise.all(amounts.map(one));
        expect(results.filter(({ ok }) => ok)).toHaveLength(25);
        await store.keep(proofOf("r", "one"));
        expect(await other.pending("r", NOW)).toEqual(proofOf("r", "one"));
        await other.record(purchaseOf("a"));
        expect(await store.purchases()).toEqual([purchaseOf("a")]);
      });
    }
  });
}
