// Proofs that left and whose outcome is not known: the same request gets the same one again. Those that a call of this process
// is sending just now are not pending for its other calls, so equal calls at one time are as many purchases.
import { type BuyerStore, PENDING_MS, type PendingProof } from "./store.js";

export interface PendingProofs {
  /** May one be kept for this target? Asked before every request, so it costs a look into a map. */
  mayHave(target: string): Promise<boolean>;
  /** One that is kept for the request and that no other call sends; it is this call's until `end`. */
  take(request: string): Promise<PendingProof | undefined>;
  /** Keeps one that is about to be sent, of an id that is this call's. */
  keep(proof: PendingProof, target: string): Promise<void>;
  /** Writes what has become known of it. */
  update(proof: PendingProof): Promise<void>;
  forget(proof: PendingProof, target: string): Promise<void>;
  /** Makes the id this call's until `end`; false where another call has it. */
  begin(id: string): boolean;
  /** The call has ended, whatever is known. */
  end(id: string): void;
}

/** What the calls of one process know of one store, whichever paying fetch they belong to. */
interface Shared {
  readonly live: Set<string>;
  /** How many are kept for a target. A hint: the store is asked again before anything is signed. */
  readonly targets: Map<string, number>;
  loading: Promise<void> | undefined;
}

const shared = new WeakMap<BuyerStore, Shared>();
/** Beyond this the target that was met first is forgotten, which costs an unpaid request and no money. */
const MAX_TARGETS = 10_000;

export function createPendingProofs(store: BuyerStore, now: () => number): PendingProofs {
  const state: Shared = shared.get(store) ?? { live: new Set(), targets: new Map(), loading: undefined };
  shared.set(store, state);
  const { live, targets } = state;

  function count(target: string, change: 1 | -1): void {
    const kept = (targets.get(target) ?? 0) + change;
    if (kept > 0) targets.set(target, kept);
    else targets.delete(target);
    const [oldest] = targets.keys();
    if (targets.size > MAX_TARGETS && oldest !== undefined) targets.delete(oldest);
  }

  /** What an earlier process left in the store. */
  async function load(): Promise<void> {
    for (const { method, url, at, served, status } of await store.purchases()) {
      if (!served && status !== "reserved" && at > now() - PENDING_MS) count(`${method} ${url}`, 1);
    }
  }

  return {
    async mayHave(target) {
      // A store that cannot be read now is asked again later: before anything is signed it must answer.
      state.loading ??= load().catch(() => {
        state.loading = undefined;
      });
      await state.loading;
      return targets.has(target);
    },
    async take(request) {
      const seen = new Set<string>();
      for (;;) {
        const found = await store.pending(request, now(), live);
        if (!found) return undefined;
        const { id } = found.purchase;
        if (!live.has(id)) {
          live.add(id);
          return found;
        }
        // Another call took it while the store was asked. A store that gives it twice does not leave out what it was told to.
        if (seen.has(id)) return undefined;
        seen.add(id);
      }
    },
    async keep(proof, target) {
      count(target, 1);
      await store.keep(proof);
    },
    update: (proof) => store.keep(proof),
    async forget(proof, target) {
      await store.forget(proof.request, proof.purchase.id);
      count(target, -1);
    },
    begin(id) {
      if (live.has(id)) return false;
      live.add(id);
      return true;
    },
    end: (id) => void live.delete(id),
  };
}
