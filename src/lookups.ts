// Finds out what became of settlements whose outcome is not known, and whether those that are known stay: on request (single
// flight, once a second per proof) and in the background (`reconciler.ts`). A lookup first takes the record, so that of all
// processes of a seller one asks the chain.
import { lookupBy } from "./answered.js";
import type { Found } from "./changes.js";
import type { Claims } from "./claims.js";
import type { Clock } from "./clock.js";
import { inStoreTime } from "./commits.js";
import type { Events, Reconciled } from "./events.js";
import { factsOfTrace } from "./facts.js";
import type { Again, Finality, Lookup, Receiver } from "./receive/receiver.js";
import { createReconciler } from "./reconciler.js";
import type { By, Resolved, Taken } from "./resolutions.js";
import type { Logger } from "./settings.js";
import type { Shown } from "./signed.js";
import { createSingleFlight } from "./single-flight.js";
import { inTime } from "./time-limit.js";

const LOOKUP_TIMEOUT_MS = 5000;
/** With time for the store. One that takes longer is overtaken by another one, which the store lets look only when it may. */
const FLIGHT_MS = 2 * LOOKUP_TIMEOUT_MS;
const UNTOLD: Finality = { outcome: "untold" };

export interface Lookups {
  /**
   * Looks the proof up unless that was done within the last second; gives the record as it then is. `shown`: who asks has
   * shown it again, verified.
   */
  lookup(id: string, shown?: Shown): Promise<Found>;
  /** Begins to look in the background, unless that goes on already. */
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
  const flights = createSingleFlight<Taken | undefined>(clock, FLIGHT_MS);
  const closing = new AbortController();
  const parts = { claims, receiver, clock, events, logger };

  async function look(id: string, by: By, shown?: Shown): Promise<Taken | undefined> {
    const taken = await stored(() => claims.take(id, by));
    if (!taken) return undefined;
    const { final } = taken.record;
    if (final === false && receiver.finality) await confirm(taken, by, await askFinality(taken));
    else await resolve(taken, by, await askLookup(taken, shown));
    return taken;
  }

  async function confirm(taken: Taken, by: By, finality: Finality): Promise<void> {
    if (finality.outcome === "gone") {
      // Rare, so it is loaded when it is needed.
      const { sendAgain } = await import("./send-again.js");
      return sendAgain(parts, taken);
    }
    await stored(async () => tell(taken, by, await claims.confirm(taken, finality), finality.outcome === "final"));
  }

  async function resolve(taken: Taken, by: By, lookup: Lookup): Promise<void> {
    await stored(async () => tell(taken, by, await claims.resolve(taken.id, lookup), false));
  }

  function tell({ record: before }: Taken, how: By, { record, changed }: Resolved, isFinal: boolean): void {
    if (!changed || !record) return;
    const facts = factsOfTrace(record.trace);
    const transaction = record.trace.transaction ?? undefined;
    const say = (outcome: Reconciled["outcome"]) => events.emit("reconciled", { ...facts, outcome, how, transaction });
    if (record.settlement === "settled" && before.settlement !== "settled") {
      events.emit("settled", { ...facts, transaction: transaction ?? "" });
      say("settled");
    }
    if (record.settlement === "settled" && isFinal) say("final");
    if (record.settlement !== "expired") return;
    const delivered = record.delivery === "delivered";
    if (delivered) logger.error("a settlement is lost, and its goods are delivered", { proofId: facts.proofId });
    events.emit("expired", { ...facts, delivered });
    say("expired");
  }

  // Invariant: nor does a store that never answers hold up the lookups to come. What it writes late is told then.
  const stored = <Result>(ask: () => Promise<Result>) => inStoreTime(clock, ask);
  // Invariant: a receiver that never answers holds up neither the buyer who waits nor the lookups of others.
  const late = () => ({ outcome: "unknown", message: "no answer in time" }) as const;
  const patience = { clock, ms: LOOKUP_TIMEOUT_MS, outer: closing.signal, late };
  const failed = (error: unknown) => {
    logger.warn("a lookup failed", { receiver: receiver.name, error: String(error) });
    return { outcome: "unknown", message: "the lookup failed" } as const;
  };

  async function askLookup({ record }: Taken, shown: Shown | undefined): Promise<Lookup> {
    const { trace, settlement, settlementId, digest } = record;
    // Invariant: only an unknown is sent once more. What was refused or released is billed anew when nothing is found of it, so
    // nothing of it may be on its way. And another signature of the same nonce is another proof: it was never to be settled.
    const maySend = settlement === "unknown" && settlementId !== null && shown?.proof.digest === digest;
    try {
      const shownAgain = (maySend ? { ...shown, settlementId } : undefined) as Again | undefined;
      return await inTime<Lookup>(patience, (signal) => lookupBy(receiver, trace, signal, shownAgain));
    } catch (error) {
      return failed(error);
    }
  }

  async function askFinality({ record: { trace, settledAt } }: Taken): Promise<Finality> {
    try {
      const settled = { ...trace, ...(settledAt !== undefined && { settledAt }) };
      const ask = async (signal: AbortSignal) => (await receiver.finality?.(settled, signal)) ?? UNTOLD;
      return await inTime<Finality>(patience, ask);
    } catch (error) {
      return failed(error);
    }
  }

  /** Single flight in this process; what another process does meanwhile the store tells. */
  const once = (id: string, by: By, shown?: Shown) => flights.once(id, () => look(id, by, shown));

  const reconciler = createReconciler({
    due: (limit, skip) => stored(() => claims.due(limit, skip)),
    look: async (id) => (await once(id, "background")) !== undefined,
    clock,
    logger,
  });

  return {
    async lookup(id, shown) {
      await once(id, "request", shown);
      return claims.peek(id);
    },
    watch: reconciler.start,
    close() {
      reconciler.close();
      closing.abort();
    },
  };
}
