// Looks for what is due, in rounds, for as long as the paywall is open: what this process has begun and what a dead one has
// left in a shared store. Bounded: so many at once, each with pauses of its own that grow (`record.ts`). Its timers keep no
// process alive, and a round that a runtime has let die with a request is begun anew by the next one that needs it.
import type { Clock } from "./clock.js";
import type { Logger } from "./settings.js";

/** Between two rounds when there was something to do, and when there was not. */
const [BUSY_MS, IDLE_MS] = [1000, 5000];
/** Proofs in one round, and of them at once. */
const [BATCH, AT_ONCE] = [100, 8];
/** A round that has not ended by then was let die. */
const LONGEST_ROUND_MS = 120_000;

export interface ReconcilerParts {
  /** Oldest first, without the first `skip`. */
  due(limit: number, skip: number): Promise<readonly string[]>;
  /** False = there was nothing to look up for this process. */
  look(id: string): Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Reconciler {
  /** Begins, unless it goes on already. Cheap: called with every settlement. */
  start(): void;
  /** No further round; what is under way ends by itself. */
  close(): void;
}

export function createReconciler({ due, look, clock, logger }: ReconcilerParts): Reconciler {
  let cancel = () => {};
  let closed = false;
  /** Until then the round or the pause that goes on is believed in. */
  let aliveUntil = Number.NEGATIVE_INFINITY;
  let current = 0;
  /** Due proofs that are not this process's to look up, or that fail, may stand before its own: so many it is past. */
  let passed = 0;

  async function round(own: number): Promise<void> {
    aliveUntil = clock.now() + LONGEST_ROUND_MS;
    let pauseMs = BUSY_MS;
    try {
      const ids = await due(BATCH, passed);
      const { looked, failures } = await lookAtAll(ids);
      const isLast = ids.length < BATCH;
      // Invariant: whatever stands in front, each that is due is come to; after the last one it begins anew. What was looked up
      // is due no more, or later.
      passed = isLast ? 0 : passed + ids.length - looked;
      const [error] = failures;
      // Once for all of them: what fails for one, a store that takes no writes for instance, mostly fails for each.
      if (error !== undefined)
        logger.warn("background lookups failed", { failed: failures.length, error: String(error) });
      if (looked === 0 && (isLast || error !== undefined)) pauseMs = IDLE_MS;
      else if (looked >= BATCH) pauseMs = 0;
    } catch (error) {
      logger.warn("the background lookup could not reach the store", { error: String(error) });
    }
    if (own === current) pause(pauseMs);
  }

  /** How many of them there was something to look up for, and what those that could not be looked up met. */
  async function lookAtAll(ids: readonly string[]) {
    const queue = ids.values();
    const failures: unknown[] = [];
    let looked = 0;
    const work = async () => {
      for (const id of queue) {
        if (closed) return;
        // Invariant: one that fails is due again and hides nobody. It is passed by, and never a reason to go on without a pause.
        const found = await look(id).catch((error: unknown) => {
          failures.push(error);
          return false;
        });
        if (found) looked += 1;
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, work));
    return { looked, failures };
  }

  function pause(ms: number): void {
    if (closed) return;
    const own = ++current;
    aliveUntil = clock.now() + ms + LONGEST_ROUND_MS;
    try {
      cancel = clock.after(ms, () => void round(own));
    } catch (error) {
      // Workers allow no timer outside of a request: the next one that needs it begins again.
      aliveUntil = Number.NEGATIVE_INFINITY;
      logger.debug("the background lookup waits for a payment", { reason: String(error) });
    }
  }

  return {
    start() {
      if (closed || clock.now() < aliveUntil) return;
      cancel();
      pause(0);
    },
    close() {
      closed = true;
      cancel();
    },
  };
}
