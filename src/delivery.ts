// The way of a paid answer to its buyer: `delivered` when the last byte was handed over, else the proof may be used again.
import type { Claim } from "./claims.js";
import type { Context } from "./context.js";
import type { PaymentFacts } from "./events.js";
import { keepAlive } from "./lease.js";
import type { Delivery } from "./request.js";

/** For answers that are not the goods. */
export const NO_DELIVERY: Delivery = Object.freeze({ delivered: async () => {}, lost: async () => {} });

/** A delivery may go on for as long as bytes flow; this only bounds a client that never reads. */
const MAX_DELIVERY_MS = 24 * 60 * 60 * 1000;

/** Pauses between the tries to store how it ended: a store that is away for a moment has forgotten nothing. */
const TRY_AGAIN_MS: readonly number[] = [250, 1_000, 2_000, 4_000, 8_000];

/** Keeps the delivery's lease until the adapter says how it went. `done` is called once, at the end. */
export function deliver(context: Context, facts: PaymentFacts, claim: Claim, done: () => void): Delivery {
  const { claims, clock, events, logger, settings } = context;
  const lease = keepAlive(claim, context, settings.limits.leaseMs, clock.now() + MAX_DELIVERY_MS);
  let ended = false;
  const end = async (name: "delivered" | "undelivered") => {
    if (ended) return;
    ended = true;
    lease.stop();
    done();
    await store(name);
  };
  const store = async (name: "delivered" | "undelivered", tries = 0): Promise<void> => {
    try {
      await claims[name](claim);
      events.emit(name, facts);
    } catch (error) {
      const pause = TRY_AGAIN_MS[tries];
      // Invariant: one lost write sells nothing twice. Said while the lease lasts; after it the fence decides.
      if (pause !== undefined && later(pause, () => void store(name, tries + 1))) return;
      // Safe because the lease runs out by itself and leaves the proof undelivered: its buyer can ask again.
      logger.warn("the end of a delivery could not be stored", { proofId: claim.id, error: String(error) });
    }
  };
  const later = (ms: number, task: () => void): boolean => {
    try {
      clock.after(ms, task);
      return true;
    } catch {
      // Workers allow no timer outside of a request.
      return false;
    }
  };
  return { delivered: () => end("delivered"), lost: () => end("undelivered") };
}
