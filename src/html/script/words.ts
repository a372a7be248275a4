// What became of a payment, for a person: the table of codes speaks to programs.
import type { PageProblem } from "../page-data.js";

type Code = PageProblem["code"];

const CANNOT_SELL = "The seller cannot take payments at this moment.";
const WORDS: Partial<Record<Code, string>> = {
  settlement_unknown: "Your payment is on its way, and its outcome is not known yet.",
  settlement_unavailable: "The payment could not be taken yet.",
  payment_in_progress: "Your payment is being taken right now.",
  payment_not_seen: "The chain has not seen your transfer yet.",
  payment_expired: "The payment ran out of time before it was taken.",
  payment_expires_too_soon: "It took longer to sign than the seller waits.",
  payment_rejected: "The payment was checked and is not valid.",
  payment_malformed: "The payment could not be read.",
  insufficient_funds: "Your account does not hold enough.",
  settlement_refused: "The payment could not be taken.",
  offer_mismatch: "The price has changed since you signed.",
  misconfigured: CANNOT_SELL,
  not_ready: CANNOT_SELL,
  receiver_unreachable: CANNOT_SELL,
  store_full: CANNOT_SELL,
};

export const wordsOf = (code: Code, message: string): string => WORDS[code] ?? message;
