// A buyer's store in memory: the budget holds for one process, and ends with it.
import { emptyLedger, forget, keep, newestFirst, pendingOf, type Room, record, release, reserve } from "./ledger.js";
import type { BuyerStore } from "./store.js";

export interface MemoryBuyerStoreOptions {
  /** How many purchases `receipts()` tells of; 10,000. */
  readonly maxPurchases?: number;
}

const ROOM: Room = { spends: 100_000, pending: 10_000, purchases: 10_000 };

/**
 * Remembers in memory what was spent, what is not decided yet and what was bought. A program that is started anew has its whole
 * budget again: give those that are `fileBuyerStore(path)`.
 *
 * @example payingFetch({ wallets, budget, store: memoryBuyerStore() })
 */
export function memoryBuyerStore({ maxPurchases = ROOM.purchases }: MemoryBuyerStoreOptions = {}): BuyerStore {
  const ledger = emptyLedger();
  const room = { ...ROOM, purchases: maxPurchases };
  // Each is one synchronous step, so that calls which overlap cannot see each other's half.
  return Object.freeze<BuyerStore>({
    reserve: async (spend, limits) => reserve(ledger, room, spend, limits),
    release: async (id) => release(ledger, id),
    pending: async (request, now, except) => pendingOf(ledger, request, now, except),
    keep: async (proof) => keep(ledger, room, proof),
    forget: async (request, id) => forget(ledger, request, id),
    record: async (purchase) => record(ledger, room, purchase),
    purchases: async () => newestFirst(ledger),
  });
}
