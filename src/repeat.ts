// What a repeat of a proof gets: the table of design, as one pure function. Settlement makes a proof public, so a paid
// proof alone earns nothing that was already delivered; only the retry key does.
import { isLive, type ProofRecord, type RequestPrint, settleLeases } from "./store/record.js";

/** At most so many answers are begun for one proof. */
export const MAX_DELIVERIES = 3;

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
  /** The kept answer or nothing. */
  | { readonly kind: "replay"; readonly kept: boolean }
  /** 409, with the receipt where the goods went out. */
  | { readonly kind: "already_used"; readonly receipt: boolean }
  /** 402 with offers: this proof bought something else. */
  | { readonly kind: "used_elsewhere" };

/** @param now store time of the read that gave the record */
export function judgeRepeat(found: ProofRecord, print: RequestPrint, now: number): Repeat {
  if (isLive(found, now)) return { kind: "in_progress" };
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
  if (!isSameRequest(record, print)) return { kind: "already_used", receipt: false };
  if (record.deliveries >= MAX_DELIVERIES) return { kind: "already_used", receipt: true };
  const sameHeaders = record.print.headers === print.headers;
  if (keyed) return { kind: "goods", kept: sameHeaders };
  // Without a key the buyer is whoever repeats the exact request first; with one, nobody but its holder.
  if (record.print.retryKey === null && sameHeaders) return { kind: "goods", kept: true };
  return { kind: "already_used", receipt: false };
}

function judgeDelivered(record: ProofRecord, print: RequestPrint): Repeat {
  if (!isSameRequest(record, print)) return { kind: "used_elsewhere" };
  if (!hasRetryKey(record, print)) return { kind: "already_used", receipt: true };
  const kept = record.print.headers === print.headers && record.deliveries < MAX_DELIVERIES;
  return { kind: "replay", kept };
}

const hasRetryKey = (record: ProofRecord, print: RequestPrint): boolean =>
  record.print.retryKey !== null && record.print.retryKey === print.retryKey;

/** Same method, target and body; where a body's digest cannot be had, the retry key stands in its place. */
function isSameRequest(record: ProofRecord, print: RequestPrint): boolean {
  if (record.print.target !== print.target) return false;
  if (record.print.body === null || print.body === null) return hasRetryKey(record, print);
  return record.print.body === print.body;
}
