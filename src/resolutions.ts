// What becomes of a settlement after its holder has let go of it: each look at it is taken first, so that of all processes one
// asks the chain, and what it shows is written only over the record that was looked at.
import type { Change, Changes, Found } from "./changes.js";
import { reasonOf } from "./errors.js";
import type { Finality, Lookup, Receiver } from "./receive/receiver.js";
import type { ProofRecord } from "./store/record.js";
import * as state from "./store/record.js";
import { isTraceable } from "./traceable.js";

/** Who looks: a buyer asks for it, or it is due. */
export type By = "request" | "background";

/** The record as it was taken, its lease decided. */
export interface Taken {
  readonly id: string;
  readonly record: ProofRecord;
}

export interface Resolved extends Found {
  /** Has this very call changed what becomes of the money? */
  readonly changed: boolean;
}

export interface Resolutions {
  /** Undefined = nothing to look up for now, or somebody else does: look at the record. */
  take(id: string, by: By): Promise<Taken | undefined>;
  /** Writes what a lookup found, or a late answer with the key it has to own; gives the record as it then is. */
  resolve(id: string, lookup: Lookup, owned?: string): Promise<Resolved>;
  /** Writes what is known of a settlement that was seen before. */
  confirm(taken: Taken, finality: Finality): Promise<Resolved>;
  /** Takes a settlement that the chain has taken back, to send it again; undefined = somebody is at work on it. */
  reorganise(taken: Taken, settlementId: string, ms: number): Promise<Taken | undefined>;
  /** Settled anew: `undefined` = nobody knows, it is looked up again. Nothing is delivered by it. */
  resettle(taken: Taken, paid: state.Paid | undefined): Promise<boolean>;
  /** What it takes to send it again, where that was kept. */
  signed(id: string): Promise<string | undefined>;
}

/** What this process asks. */
export type Asked = Pick<Receiver, "name" | "identity" | "evidence" | "networks" | "finality">;

/** Between two lookups that buyers ask for. */
const REQUEST_PAUSE_MS = 1000;

export function createResolutions(changes: Changes, receiver: Asked | undefined): Resolutions {
  const watched = receiver?.finality !== undefined;
  const sender = receiver?.identity ?? receiver?.name;
  // The chain knows what has moved without being who moved it.
  const canTell = ({ sentBy, trace }: ProofRecord) =>
    sentBy === null ||
    sender === undefined ||
    sentBy === sender ||
    (receiver?.evidence === "chain" && isTraceable(trace));
  // Whose evidence is the chain announces a transaction before it sends it: of one that has no name no byte was sent here.
  const isUnsent = ({ settlement, trace, sentBy }: ProofRecord) =>
    receiver?.evidence === "chain" &&
    sentBy === sender &&
    settlement === "unknown" &&
    trace.method === "transaction" &&
    trace.transaction === null;
  const isKnown = ({ trace }: ProofRecord) => receiver?.networks?.includes(trace.network) ?? true;

  async function write(id: string, decide: (record: ProofRecord) => Change | undefined, owned?: string) {
    const { result } = await changes.change(
      id,
      ({ record: current, now }) => {
        const record = current && state.settleLeases(current, now);
        return !record || state.isLive(record, now) ? undefined : decide(record);
      },
      { owned, signed: true },
    );
    return { ...(await changes.peek(id)), changed: result === "ok" };
  }
  /** A change of what was taken: nothing happens once another settlement stands there. */
  const ofTaken = (taken: Taken, decide: (record: ProofRecord) => Change | undefined) =>
    write(taken.id, (record) => (isSame(record, taken.record) ? decide(record) : undefined));

  return {
    async take(id, by) {
      let isGivenUp = false;
      const { result, record } = await changes.change(id, ({ record: current, now }) => {
        const found = current && state.settleLeases(current, now);
        if (!found || state.isLive(found, now) || !isKnown(found)) return undefined;
        const isOpen = state.isOpenToEvidence(found) || (watched && by === "background" && found.final === false);
        const pause = by === "request" ? REQUEST_PAUSE_MS : state.pauseOf(found);
        if (!isOpen || now - found.lookedUpAt < pause) return undefined;
        // Invariant: its buyer may have sent it himself, and has paid then. So it is judged anew, by whoever claims it next; the
        // one before announces nothing any more (claims.ts).
        isGivenUp = isUnsent(found);
        if (isGivenUp) return { record: state.released(found, { charge: null }), release: true };
        return { record: state.lookedUp(found, now, by === "background") };
      });
      return result === "ok" && record && !isGivenUp ? { id, record } : undefined;
    },
    resolve: (id, lookup, owned) => write(id, (record) => resolved(record, lookup, canTell(record), watched), owned),
    confirm: (taken, finality) => ofTaken(taken, (record) => confirmed(record, finality, canTell(record))),
    async reorganise(taken, settlementId, ms) {
      const { result, record } = await changes.change(taken.id, ({ record: current, now }) => {
        const found = current && state.settleLeases(current, now);
        if (!found || state.isLive(found, now) || !isSame(found, taken.record)) return undefined;
        const next = { settlementId, sentBy: sender ?? null, leaseUntil: now + ms };
        return { record: state.reorganised(found, next) };
      });
      return result === "ok" && record ? { id: taken.id, record } : undefined;
    },
    async resettle({ id, record: { fence } }, paid) {
      const { result } = await changes.change(id, ({ record }) => {
        // A lookup may have been faster, once the time for it was over.
        if (
          record?.fence !== fence ||
          (record.settlement !== "settling" && !(paid && record.settlement === "unknown"))
        ) {
          return undefined;
        }
        if (!paid) return { record: state.unknown(record, record.trace.transaction) };
        return { record: state.settled(record, paid, watched), release: true };
      });
      return result === "ok";
    },
    signed: changes.signed,
  };
}

/** Is it the same settlement, in a state in which the chain may still decide? */
const isSame = (record: ProofRecord, taken: ProofRecord): boolean =>
  record.fence === taken.fence &&
  record.final === false &&
  record.trace.transaction === taken.trace.transaction &&
  (record.settlement === "settled" || record.settlement === "unknown");

/** Only positive evidence settles; only what is final expires, by the chain or on the word of who was to settle it. */
function resolved(record: ProofRecord, lookup: Lookup, canTell: boolean, watched: boolean): Change | undefined {
  if (!state.isOpenToEvidence(record) || lookup.outcome === "unknown") return undefined;
  if (lookup.outcome === "settled") return { record: state.settled(record, lookup, watched), release: true };
  // Invariant: never goods for it, and never a new bill: whoever has paid learns that the payment is used.
  if (lookup.outcome === "too_old") return tooOld(record);
  // Invariant: a word that is not known here decides nothing.
  if (lookup.outcome !== "expired") return undefined;
  // What a buyer has signed whole he can still send himself, as long as nothing of it was sent by us.
  const mayCome = record.settlement !== "unknown" && record.trace.method === "transaction";
  if (!canTell || mayCome) return undefined;
  // Invariant: that nobody here has sent it says nothing of its buyer, who may have: no new bill for it, and no goods.
  if (record.settlement === "unknown" && !isTraceable(record.trace)) return tooOld(record);
  return { record: state.expired(record), release: true };
}

const tooOld = (record: ProofRecord): Change => ({
  record: state.refused(record, "payment_too_old", reasonOf("payment_too_old", 2)),
  release: true,
});

function confirmed(record: ProofRecord, finality: Finality, canTell: boolean): Change | undefined {
  switch (finality.outcome) {
    case "final":
      return { record: { ...standing(record, finality), final: true }, signed: null, release: true };
    case "settled": {
      const { trace, settlement } = record;
      const isNews =
        settlement !== "settled" || trace.transaction !== finality.transaction || trace.height !== finality.height;
      return isNews ? { record: standing(record, finality), release: true } : undefined;
    }
    case "lost":
      if (!canTell) return undefined;
      return { record: state.expired(record), signed: null, release: true };
    case "untold": {
      const { final: _, ...rest } = record;
      return record.settlement === "settled" ? { record: rest, signed: null } : undefined;
    }
    default:
      return undefined;
  }
}

/** Seen in a block: what has come with it is what came before. The pauses go on growing. */
function standing(record: ProofRecord, { transaction, height }: state.Paid): ProofRecord {
  const { received } = record.trace;
  const paid = {
    transaction,
    ...(height !== undefined && { height }),
    ...(received !== null && { received: BigInt(received) }),
  };
  // Nor does a look end a delivery: what is known of its lease stays.
  return { ...state.settled(record, paid, true), lookups: record.lookups, leaseUntil: record.leaseUntil };
}
