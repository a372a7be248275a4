// Deliveries that the store has counted and whose answer never began: the store was too slow to say so, or its word got lost. They
// are taken off again, at once or as soon as the store can be reached, so that a buyer loses none of his tries by the seller's store.
import type { Clock } from "./clock.js";
import type { Logger } from "./settings.js";

/** Between two tries: twice as long each time. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 30_000];
/** As long as anybody would still ask for his goods. */
const KEEP_MS = 30 * 60_000;
/** A store that is away for long leaves no more behind than this; what comes later stays counted. */
const MOST = 10_000;

export interface Unbegun {
  /** Never rejects; resolves after the first try. */
  add(proofId: string, deliveryId: string): Promise<void>;
}

interface Waiting {
  readonly proofId: string;
  readonly until: number;
}

/** @param take takes one off in the store, if it stands there; rejects where the store cannot be reached */
export function createUnbegun(
  take: (proofId: string, deliveryId: string) => Promise<unknown>,
  clock: Clock,
  logger: Logger,
): Unbegun {
  const waiting = new Map<string, Waiting>();
  let pauseMs = FIRST_PAUSE_MS;
  let isPlanned = false;

  function plan(): void {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    try {
      clock.after(pauseMs, () => void round());
    } catch (error) {
      // Workers allow no timer outside of a request: the next one that needs it plans again.
      isPlanned = false;
      logger.debug("deliveries that never began wait for a payment", { reason: String(error) });
    }
  }

  async function round(): Promise<void> {
    let failed = false;
    for (const [deliveryId, { proofId, until }] of waiting) {
      if (clock.now() >= until || (await isTaken(proofId, deliveryId))) waiting.delete(deliveryId);
      else {
        // One answer of a store that is away says enough.
        failed = true;
        break;
      }
    }
    pauseMs = failed ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    isPlanned = false;
    plan();
  }

  const isTaken = (proofId: string, deliveryId: string): Promise<boolean> =>
    take(proofId, deliveryId).then(
      () => true,
      () => false,
    );

  return {
    async add(proofId, deliveryId) {
      if (await isTaken(proofId, deliveryId)) return;
      if (waiting.size >= MOST) {
        logger.warn("a delivery that never began stays counted: too many wait for the store", { proofId });
        return;
      }
      waiting.set(deliveryId, { proofId, until: clock.now() + KEEP_MS });
      plan();
    },
  };
}
