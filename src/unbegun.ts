// Deliveries that the store has counted and whose answer never began: the store was too slow to say so, or its word got lost. They
// are taken off again, at once or as soon as the store can be reached, so that a buyer loses none of his tries by the seller's store.
import type { Clock } from "./clock.js";
import type { Logger } from "./settings.js";
import { inTime, STORE_MS } from "./time-limit.js";

/** Between two tries: twice as long each time. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 8_000];
/** Buyers ask again soon, or not at all. */
const KEEP_MS = 30 * 60_000;
/** What a store was asked to write, and gave no answer to, may stand there so much later. */
const LATE_MS = 2 * STORE_MS;
/** A round that has not ended by then was let die with the request that began it. */
const LONGEST_ROUND_MS = 120_000;
/** A store that is away for long leaves no more behind than this; what comes later stays counted. */
const MOST = 10_000;

export interface Unbegun {
  /** Never rejects; resolves after the first try. `mayCome`: the store did not say what it did, and may still write it. */
  add(proofId: string, deliveryId: string, mayCome: boolean): Promise<void>;
}

interface Waiting {
  readonly proofId: string;
  readonly until: number;
  /** If it does not stand there by then, it never will. */
  readonly comesUntil: number;
}

/** @param take takes one off in the store; false = it does not stand there. Rejects where the store cannot be reached */
export function createUnbegun(
  take: (proofId: string, deliveryId: string) => Promise<boolean>,
  clock: Clock,
  logger: Logger,
): Unbegun {
  const waiting = new Map<string, Waiting>();
  let pauseMs = FIRST_PAUSE_MS;
  /** Until then the round or the pause that goes on is believed in. */
  let aliveUntil = Number.NEGATIVE_INFINITY;

  function plan(): void {
    if (clock.now() < aliveUntil || waiting.size === 0) return;
    aliveUntil = clock.now() + pauseMs + LONGEST_ROUND_MS;
    try {
      clock.after(pauseMs, () => void round());
    } catch (error) {
      // Workers allow no timer outside of a request: the next one that needs it plans again.
      aliveUntil = Number.NEGATIVE_INFINITY;
      logger.debug("deliveries that never began wait for a payment", { reason: String(error) });
    }
  }

  async function round(): Promise<void> {
    aliveUntil = clock.now() + LONGEST_ROUND_MS;
    let isOpen = false;
    for (const [deliveryId, one] of waiting) {
      const result = clock.now() >= one.until ? "done" : await tryOne(deliveryId, one);
      if (result === "done") waiting.delete(deliveryId);
      else isOpen = true;
      // One answer of a store that is away says enough.
      if (result === "away") break;
    }
    pauseMs = isOpen ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    aliveUntil = Number.NEGATIVE_INFINITY;
    plan();
  }

  /** Invariant: what does not stand there yet, and may still be written, is looked for again. */
  function tryOne(deliveryId: string, { proofId, comesUntil }: Waiting): Promise<"done" | "open" | "away"> {
    const late = () => "away" as const;
    return inTime<"done" | "open" | "away">({ clock, ms: STORE_MS, late }, () =>
      take(proofId, deliveryId).then((stood) => (stood || clock.now() >= comesUntil ? "done" : "open"), late),
    );
  }

  return {
    async add(proofId, deliveryId, mayCome) {
      const now = clock.now();
      const one = { proofId, until: now + KEEP_MS, comesUntil: mayCome ? now + LATE_MS : now };
      if ((await tryOne(deliveryId, one)) === "done") return;
      if (waiting.size >= MOST) {
        logger.warn("a delivery that never began stays counted: too many wait for the store", { proofId });
        return;
      }
      waiting.set(deliveryId, one);
      plan();
    },
  };
}
