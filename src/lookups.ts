// Finds out what became of settlements whose outcome is not known: on request (single flight, once a second per proof)
// and in the background until everything is decided.
import type { Found } from "./changes.js";
import type { Claims } from "./claims.js";
import type { Clock } from "./clock.js";
import type { Events } from "./events.js";
import type { BoundProof } from "./proof.js";
import type { Again, Lookup, Receiver, Trace } from "./receive/receiver.js";
import type { Resource } from "./requirement.js";
import type { Logger } from "./settings.js";
import { isLive, isOpenToEvidence, settleLeases } from "./store/record.js";

const LOOKUP_INTERVAL_MS = 1000;
const LOOKUP_TIMEOUT_MS = 5000;
const BACKGROUND_MS = 5000;
const BATCH = 20;

export interface Shown {
  readonly proof: BoundProof;
  readonly resource: Resource;
}

export interface Lookups {
  /**
   * Looks the proof up unless that was done within the last second; gives the record as it then is. `shown`: who asks has
   * shown it again, verified.
   */
  lookup(id: string, shown?: Shown): Promise<Found>;
  /** Begins looking in the background until nothing is due any more. */
  watch(): void;
  close(): void;
}

export function createLookups(
  claims: Claims,
  receiver: Receiver,
  clock: Clock,
  events: Events,
  logger: Logger,
): Lookups {
  const inFlight = new Map<string, Promise<Found>>();
  let cancel: (() => void) | undefined;
  let closed = false;

  async function ask(id: string, shown?: Shown): Promise<Found> {
    const found = await claims.peek(id);
    const record = found.record && settleLeases(found.record, found.now);
    if (!record || isLive(record, found.now)) return found;
    if (!isOpenToEvidence(record)) return found;
    if (found.now - record.lookedUpAt < LOOKUP_INTERVAL_MS) return found;
    const { trace, settlementId, digest } = record;
    // Another signature of the same nonce is another proof: it was never to be settled.
    const again = shown && settlementId !== null && shown.proof.digest === digest && { ...shown, settlementId };
    const lookup = await askReceiver(trace, again || undefined);
    const after = await claims.resolve(id, lookup);
    if (after.record?.settlement === "settled" && lookup.outcome === "settled") {
      const { payer, payTo, network, asset, amount } = after.record.trace;
      const facts = { proofId: id, payer, payTo, network, asset, amount: BigInt(amount) };
      events.emit("settled", { ...facts, transaction: lookup.transaction });
    }
    return after;
  }

  async function askReceiver(trace: Trace, again: Again | undefined): Promise<Lookup> {
    try {
      return await receiver.lookup(trace, AbortSignal.timeout(LOOKUP_TIMEOUT_MS), again);
    } catch (error) {
      logger.warn("a lookup failed", { receiver: receiver.name, error: String(error) });
      return { outcome: "unknown", message: "the lookup failed" };
    }
  }

  async function round(): Promise<void> {
    try {
      const due = await claims.due(BATCH);
      await Promise.all(due.map((id) => lookups.lookup(id)));
      if (due.length > 0) lookups.watch();
    } catch (error) {
      logger.warn("the background lookup could not reach the store", { error: String(error) });
      lookups.watch();
    }
  }

  const lookups: Lookups = {
    lookup(id, shown) {
      const running = inFlight.get(id);
      if (running) return running;
      const asked = ask(id, shown).finally(() => inFlight.delete(id));
      inFlight.set(id, asked);
      return asked;
    },
    watch() {
      if (closed || cancel) return;
      cancel = clock.after(BACKGROUND_MS, () => {
        cancel = undefined;
        void round();
      });
    },
    close() {
      closed = true;
      cancel?.();
    },
  };
  return lookups;
}
