// The state machine of a proof, as pure functions from record to record. Settlement and delivery are two things:
// a settlement that turns out otherwise never makes a delivered proof deliver again.
//
//   settlement:  (nothing) -> claimed -> settling -> settled
//                claimed  -> released (handler failed, lease out)      released -> claimed
//                settling -> released (no byte left), refused, unknown (anything else, lease out)
//                unknown, refused, released -> settled (positive evidence), expired (final evidence)
//                settled  -> settling (reorganised away: sent again), expired (reorganised away for good)
//   delivery:    none -> delivering -> delivered                       delivering -> none (client gone, lease out)
//
// Invariant: every change of a live claim carries its fence; who has lost the fence changes nothing.
import type { ErrorCode } from "../errors.js";
import { MAX_TRANSACTION_AGE_MS } from "../proof.js";
import type { TransferMethod } from "../requirement.js";

/** Digests that tell "the same request" from another one. */
export type RequestPrint = {
  /** Method and full target. */
  readonly target: string;
  /** Digest of the raw body; null where none can be had. */
  readonly body: string | null;
  /** Authorization, Cookie, Accept*, Content-Type, Range. */
  readonly headers: string;
  /** Hash of the retry key; null where none came. */
  readonly retryKey: string | null;
};

/** What is known of the money, enough for a lookup. Amounts are decimal text: a record is JSON. */
export type ProofTrace = {
  readonly proofId: string;
  readonly network: string;
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  readonly method: TransferMethod;
  /** `eip3009`: the authorization's nonce, `0x` and 64 hex digits. Else the key of the transaction (`Identity.key`). */
  readonly nonce: string;
  /** Unix seconds; for a transaction an upper bound, long enough for its id to stay remembered. */
  readonly validBefore: number;
  readonly transaction: string | null;
  /** Solana: known from the moment at which its bytes may leave. */
  readonly expiry: ChainExpiry | null;
  /** Atomic units that came where it was more than the amount, decimal. */
  readonly received: string | null;
  /** `transaction`: blocks that must stand on it before it counts, as sold; where it is absent only finality counts. */
  readonly confirmations?: number;
  /**
   * Store time at which the memory begins in which the proof was claimed: what was mined before, and not sent by us, may have bought
   * something that is forgotten. Absent = nothing is forgotten.
   */
  readonly since?: number;
  /** Block or slot in which the settlement was last seen: a node that is not as far as that cannot miss it. */
  readonly height?: number;
};

/** What bounds the life of a Solana transaction, as seen before it was sent. */
export type ChainExpiry = {
  /** A slot before it could land. */
  readonly slot: number;
  /** The last block height in which it can land, at most. */
  readonly lastValidBlockHeight: number;
};

export type ProofRecord = {
  readonly settlement: "claimed" | "released" | "settling" | "refused" | "settled" | "unknown" | "expired";
  readonly delivery: "none" | "delivering" | "delivered";
  /** Grows with every claim and every delivery; its holder alone may change the record while the lease lives. */
  readonly fence: number;
  /** Store time, epoch milliseconds, until which the holder of the fence counts as alive. */
  readonly leaseUntil: number;
  /** Digest of the canonical signed proof that was verified. */
  readonly digest: string;
  readonly print: RequestPrint;
  readonly trace: ProofTrace;
  readonly settlementId: string | null;
  /** Runs of the handler so far, the present one included. */
  readonly runs: number;
  /** Runs that ended without a charge. */
  readonly uncharged: number;
  /** The answers that were begun for this proof, by their ids. */
  readonly deliveries: readonly string[];
  readonly refusal: { readonly code: ErrorCode; readonly reason: string } | null;
  /** Store time of the claim, and of the write that said `settled` (`record-times.ts`). */
  readonly claimedAt?: number;
  readonly settledAt?: number;
  /** Store time of the last lookup. */
  readonly lookedUpAt: number;
  /** Lookups in the background since the state last changed: each pause is twice the one before. */
  readonly lookups: number;
  /** Name of the receiver that was to settle it; null = nothing was sent yet. */
  readonly sentBy: string | null;
  /**
   * `false`: it was settled, and until that is final the chain may still take it back. Absent = it never was, or nobody can tell.
   */
  readonly final?: boolean;
};

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** Finality lags wall-clock time by less than this on every chain of the table. */
const FINALITY_MS = 20 * MINUTE;
/** `unknown` is kept until it is decided. */
const UNDECIDED = 8_640_000_000_000_000;

/** Is somebody working on it right now? */
export const isLive = (record: ProofRecord, now: number): boolean =>
  record.leaseUntil > now &&
  (record.settlement === "claimed" || record.settlement === "settling" || record.delivery === "delivering");

/** At most so many answers are begun for one proof. */
export const MAX_DELIVERIES = 3;
/** A delivery that nobody has ended may never have begun, and is taken off once its process reaches the store (`unbegun.ts`). */
const UNENDED_MS = 60_000;

/** Invariant: a buyer is not told for good that nothing is left, while the last of his deliveries may not have been one. */
export const mayBeTakenOff = (record: ProofRecord, now: number): boolean =>
  record.settlement === "settled" &&
  record.delivery === "delivering" &&
  record.deliveries.length >= MAX_DELIVERIES &&
  now < record.leaseUntil + UNENDED_MS;

/** The record as a reader has to take it: a lease that ran out has already decided. */
export function settleLeases(record: ProofRecord, now: number): ProofRecord {
  if (record.leaseUntil > now) return record;
  if (record.settlement === "claimed") return released(record, { charge: false });
  if (record.settlement === "settling") return unknown(record, record.trace.transaction);
  if (record.delivery === "delivering" && !mayBeTakenOff(record, now)) return { ...record, delivery: "none" };
  return record;
}

/**
 * Money may still be found for it: somebody else can submit a proof that we refused or released. But a public transaction
 * that was not shown to be his, or was too old, has not paid for whoever showed it.
 */
export function isOpenToEvidence({ settlement, refusal }: ProofRecord): boolean {
  if (settlement === "refused") return !FINAL_REFUSALS.has(refusal?.code);
  return settlement === "unknown" || settlement === "released";
}

const FINAL_REFUSALS = new Set<ErrorCode | undefined>([
  // Used before this store's memory begins, or by another seller with the same key: not for this request.
  "payment_already_used",
  "payment_secret_required",
  "payment_unreferenced",
  "payment_too_old",
  "payment_too_low",
]);

/** Store time until which the record must be kept. */
export function keepUntil(record: ProofRecord, now: number): number {
  const { settlement, delivery, trace } = record;
  const isTransaction = trace.method === "transaction";
  const proofDies = trace.validBefore * 1000 + FINALITY_MS;
  if (settlement === "settling") return UNDECIDED;
  // A transaction may stay unmined for ever. What is forgotten here was never served: shown again it is judged anew.
  if (settlement === "unknown") return isTransaction ? Math.max(proofDies, now) + DAY : UNDECIDED;
  if (settlement === "settled" && delivery !== "delivered") return Math.max(proofDies, now + DAY);
  // It may have been mined just now, and can be shown as new for its whole age from then on.
  return Math.max(proofDies, now + (isTransaction ? MAX_TRANSACTION_AGE_MS + FINALITY_MS : MINUTE));
}

const FIRST_PAUSE_MS = 1000;
/** Between two lookups of one proof, at most. */
export const LONGEST_PAUSE_MS = 5 * MINUTE;
/** What is not expected to change has its first lookup after 2^4 seconds. */
const CALM = 4;

/** How long after one lookup of it the next is worth making. */
export function pauseOf({ settlement, lookups }: ProofRecord): number {
  const undecided = settlement === "unknown" || settlement === "settling";
  return Math.min(FIRST_PAUSE_MS * 2 ** (lookups + (undecided ? 0 : CALM)), LONGEST_PAUSE_MS);
}

/** Store time from which a lookup is worth making, of a record written now; undefined = nothing to find out. */
export function dueAt(record: ProofRecord, now: number): number | undefined {
  const { settlement, leaseUntil, lookups, trace } = record;
  const next = now + pauseOf(record);
  const diesAt = trace.validBefore * 1000;
  switch (settlement) {
    case "settling":
      return leaseUntil;
    case "unknown":
      return lookups === 0 ? now : next;
    // Whoever holds the claim may die, and then it is like a released one.
    case "claimed":
      return leaseUntil + pauseOf(record);
    case "released":
    case "refused":
      // A buyer's own transaction has no end that could be waited for.
      return isOpenToEvidence(record) && (trace.method !== "transaction" || now < diesAt) ? next : undefined;
    case "settled":
      return record.final === false && now < diesAt + DAY ? Math.max(next, leaseUntil) : undefined;
    case "expired":
      return undefined;
  }
}

export type NewClaim = Pick<ProofRecord, "digest" | "print" | "trace"> & { readonly leaseUntil: number };

/** The first claim of a proof, or a claim of one that was released: bound anew to the request at hand. */
export function claimed(earlier: ProofRecord | undefined, claim: NewClaim): ProofRecord {
  return {
    settlement: "claimed",
    delivery: "none",
    fence: (earlier?.fence ?? 0) + 1,
    ...claim,
    settlementId: null,
    runs: (earlier?.runs ?? 0) + 1,
    uncharged: earlier?.uncharged ?? 0,
    deliveries: [],
    refusal: null,
    lookedUpAt: 0,
    lookups: 0,
    sentBy: null,
  };
}

export const renewed = (record: ProofRecord, leaseUntil: number): ProofRecord => ({ ...record, leaseUntil });

/** `charge: false` counts the run against the proof; `null` is our own fault and counts nothing. */
export const released = (record: ProofRecord, { charge }: { readonly charge: false | null }): ProofRecord => ({
  ...record,
  settlement: "released",
  leaseUntil: 0,
  settlementId: null,
  uncharged: record.uncharged + (charge === false ? 1 : 0),
});

/** Who begins to settle, and until when it may take. */
export type NewSettlement = Pick<ProofRecord, "settlementId" | "sentBy" | "leaseUntil">;

/** Invariant: written before the first byte of the settlement leaves. */
export const settling = (record: ProofRecord, settlement: NewSettlement): ProofRecord => ({
  ...record,
  ...settlement,
  settlement: "settling",
});

/**
 * The chain has taken a settlement back, and it is sent again by whoever gets this fence. Invariant: the delivery stays what it
 * was, so that what has been delivered is never delivered again, and nothing is until the money is there anew.
 */
export const reorganised = (record: ProofRecord, settlement: NewSettlement): ProofRecord => ({
  ...settling(record, settlement),
  fence: record.fence + 1,
  lookups: record.settlement === "settled" ? 0 : record.lookups,
});

/** Whoever writes this asks the chain next, and nobody else for a while. */
export const lookedUp = (record: ProofRecord, now: number, counts: boolean): ProofRecord => ({
  ...record,
  lookedUpAt: now,
  lookups: record.lookups + (counts ? 1 : 0),
});

export const sent = (record: ProofRecord, transaction: string, expiry: ChainExpiry | null): ProofRecord => ({
  ...record,
  trace: { ...record.trace, transaction, expiry },
});

export const refused = (record: ProofRecord, code: ErrorCode, reason: string): ProofRecord => ({
  ...record,
  settlement: "refused",
  leaseUntil: 0,
  refusal: { code, reason },
});

export const unknown = (record: ProofRecord, transaction: string | null): ProofRecord => ({
  ...record,
  settlement: "unknown",
  leaseUntil: 0,
  trace: { ...record.trace, transaction: transaction ?? record.trace.transaction },
});

/** It can never be taken (any more). One that had been delivered by then is a loss. */
export const expired = (record: ProofRecord): ProofRecord => ({ ...record, settlement: "expired", leaseUntil: 0 });

/** What settled a proof. */
export interface Paid {
  readonly transaction: string;
  /** Atomic units, where more came than the price. */
  readonly received?: bigint;
  /** Block or slot in which it stands. */
  readonly height?: number;
}

/**
 * Positive evidence: from `settling` by its holder, from `unknown`, `refused` and `released` by whoever finds it.
 *
 * @param watched somebody can tell when it is final
 */
export function settled(record: ProofRecord, { transaction, received, height }: Paid, watched: boolean): ProofRecord {
  const { final: _, ...rest } = record;
  const { height: __, ...trace } = record.trace;
  const about = { transaction, received: received?.toString() ?? null };
  return {
    ...rest,
    settlement: "settled",
    leaseUntil: 0,
    refusal: null,
    lookups: 0,
    ...(watched && { final: false }),
    trace: { ...trace, ...about, ...(height !== undefined && { height }) },
  };
}

/** Begins one delivery of a settled proof; the new fence shuts out whoever delivered before. */
export const delivering = (record: ProofRecord, leaseUntil: number, id: string): ProofRecord => ({
  ...record,
  delivery: "delivering",
  fence: record.fence + 1,
  leaseUntil,
  deliveries: [...record.deliveries, id],
});

export const delivered = (record: ProofRecord): ProofRecord => ({ ...record, delivery: "delivered", leaseUntil: 0 });

export const undelivered = (record: ProofRecord): ProofRecord => ({ ...record, delivery: "none", leaseUntil: 0 });

/** The handler of a paid proof failed: no goods left, so the delivery does not count. */
export const withdrawn = (record: ProofRecord): ProofRecord => ({
  ...undelivered(record),
  deliveries: record.deliveries.slice(0, -1),
});

/** The kept answer of a delivered proof is sent once more. */
export const replayed = (record: ProofRecord, id: string): ProofRecord => ({
  ...record,
  deliveries: [...record.deliveries, id],
});

/** A delivery of which no byte has left does not count; if it is the present one, the next may begin at once. */
export const unbegun = (record: ProofRecord, id: string): ProofRecord => ({
  ...(record.delivery === "delivering" && record.deliveries.at(-1) === id ? undelivered(record) : record),
  deliveries: record.deliveries.filter((one) => one !== id),
});

/** A redelivery runs the handler once more, for the headers of the request that collects. */
export const rerun = (record: ProofRecord, headers: string): ProofRecord => ({
  ...record,
  runs: record.runs + 1,
  print: { ...record.print, headers },
});
