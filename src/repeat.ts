// What a repeat of a proof gets: the table of design, as one pure function. Settlement makes a proof public, so a paid
// proof alone earns nothing that was already delivered; only the retry key does.
import {
  isLive,
  MAX_DELIVERIES,
  mayBeTakenOff,
  type ProofRecord,
  type RequestPrint,
  settleLeases,
} from "./store/record.js";

export type Repeat =
  /** Nothing stands against a (new) run of the handler. */
  | { readonly kind: "run" }
  /** 409: another request is at work. */
  | { readonly kind: "in_progress" }
  /** Ask the receiver what became of it, then look again. */
  | { readonly kind: "lookup" }
  /** 402: the proof ran out unused. */
  | { readonly kind: "expired" }
  /** The goods: `kept` = the kept answer may be given (same headers), else the handler runs again. */
  | { readonly kind: "goods"; readonly kept: boolean }
  /** The kept answer, if there still is one. */
  | { readonly kind: "replay" }
  /** 409, with the receipt where the goods went out; `expected`: what a repeat would have needed. */
  | { readonly kind: "already_used"; readonly receipt: boolean; readonly expected: string }
  /** 402 with offers: this proof bought something else. */
  | { readonly kind: "used_elsewhere" };

/** What a repeat would have needed, in words for the buyer. */
export const NEEDS = Object.freeze({
  request: "the same method, target and body as the first request",
  key: "the retry key of the first request",
  headers: "the first request's Authorization, Cookie, Accept*, Content-Type and Range headers",
  price: "a request that this payment has paid for: here and now another price is asked",
  delivery: `no more than ${MAX_DELIVERIES} deliveries of one payment`,
  kept: "an answer that is still kept (small, without a cookie, not older than the route keeps it)",
});

/** @param now store time of the read that gave the record */
export function judgeRepeat(found: ProofRecord, print: RequestPrint, now: number): Repeat {
  if (isLive(found, now) || mayBeTakenOff(found, now)) return { kind: "in_progress" };
  const record = settleLeases(found, now);
  switch (record.settlement) {
    case "claimed":
    case "settling":
      return { kind: "in_progress" };
    case "released":
      return { kind: "run" };
    case "unknown":
    case "refused":
      return { kind: "lookup" };
    case "expired":
      return { kind: "expired" };
    case "settled":
      return record.delivery === "delivered" ? judgeDelivered(record, print) : judgeUndelivered(record, print);
  }
}

function judgeUndelivered(record: ProofRecord, print: RequestPrint): Repeat {
  const keyed = hasRetryKey(record, print);
  if (!isSameRequest(record, print)) return { kind: "already_used", receipt: false, expected: NEEDS.request };
  if (record.deliveries.length >= MAX_DELIVERIES)
    return { kind: "already_used", receipt: true, expected: NEEDS.delivery };
  const sameHeaders = record.print.headers === print.headers;
  if (keyed) return { kind: "goods", kept: sameHeaders };
  // Without a key the buyer is whoever repeats the exact request first; with one, nobody but its holder.
  if (record.print.retryKey === null && sameHeaders) return { kind: "goods", kept: true };
  const expected = record.print.retryKey === null ? NEEDS.headers : NEEDS.key;
  return { kind: "already_used", receipt: false, expected };
}

function judgeDelivered(record: ProofRecord, print: RequestPrint): Repeat {
  if (!isSameRequest(record, print)) return { kind: "used_elsewhere" };
  if (!hasRetryKey(record, print)) return { kind: "already_used", receipt: true, expected: NEEDS.key };
  if (record.print.headers !== print.headers) return { kind: "already_used", receipt: true, expected: NEEDS.headers };
  if (record.deliveries.length >= MAX_DELIVERIES)
    return { kind: "already_used", receipt: true, expected: NEEDS.delivery };
  return { kind: "replay" };
}

const hasRetryKey = (record: ProofRecord, print: RequestPrint): boolean =>
  record.print.retryKey !== null && record.print.retryKey === print.retryKey;

/** Same method, target and body; where a body's digest cannot be had, the retry key stands in its place. */
function isSameRequest(record: ProofRecord, print: RequestPrint): boolean {
  if (record.print.target !== print.target) return false;
  if (record.print.body === null || print.body === null) return hasRetryKey(record, print);
  return record.print.body === print.body;
}
