// The store in memory: the contract, and how much it remembers.
import { describe, expect, it } from "vitest";
import { emptyLedger, keep, type Room, reserve } from "../../src/client/ledger.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { DAY_MS } from "../../src/client/store.js";
import { describeBuyerStore, limitOf, NOW, proofOf, purchaseOf, spendOf } from "./store-contract.js";

describeBuyerStore("memory", () => memoryBuyerStore());

describe("the memory of a buyer", () => {
  it("drops the oldest purchases beyond its room, and keeps counting them", async () => {
    const store = memoryBuyerStore({ maxPurchases: 2 });
    for (const id of ["a", "b", "c"]) {
      await store.reserve(spendOf(id, 1n), []);
      await store.record(purchaseOf(id));
    }
    expect((await store.purchases()).map(({ id }) => id)).toEqual(["c", "b"]);
    expect(await store.reserve(spendOf("d", 1n), [limitOf(3n)])).toMatchObject({ ok: false, spent: 3n });
  });

  const room: Room = { spends: 3, pending: 2, purchases: 1 };

  it("counts nothing new rather than forget a payment of the last day", () => {
    const ledger = emptyLedger();
    for (const id of ["a", "b", "c"]) reserve(ledger, room, spendOf(id, 1n), []);
    expect(() => reserve(ledger, room, spendOf("d", 1n), [])).toThrow("the store is full: it holds 3 payments");
    expect(reserve(ledger, room, spendOf("e", 1n, { at: NOW + DAY_MS }), [])).toEqual({ ok: true });
  });

  it("signs nothing new rather than forget a payment whose outcome is not known", () => {
    const ledger = emptyLedger();
    keep(ledger, room, proofOf("r", "one"));
    keep(ledger, room, proofOf("r", "two"));
    expect(() => keep(ledger, room, proofOf("r", "three"))).toThrow("2 payments whose outcome is not known");
    expect(() => reserve(ledger, room, spendOf("a", 1n), [])).toThrow("2 payments whose outcome is not known");
    // What is known anew of one that is kept is written.
    keep(ledger, room, proofOf("r", "two", { expiresAt: NOW }));
    expect(ledger.pending.size).toBe(2);
  });
});
