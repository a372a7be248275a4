// What a refusal by `verifyStatic` is called on our side: its code in the error table, or "no verdict" where the fault is
// ours. One place for every receiver, so that `local` and `facilitator` refuse alike.
import type { ErrorCode } from "../../errors.js";
import type { Verification } from "../../receive/receiver.js";
import { type Reason, type Refused, wireReason } from "./reasons.js";

/** Not listed: `payment_rejected`, which the reason word explains. */
const CODES: Partial<Record<Reason, ErrorCode>> = Object.freeze({
  // The fee payer and the mint stand in the offer: whoever signs it unchanged has them right.
  network_mismatch: "offer_mismatch",
  missing_fee_payer: "offer_mismatch",
  invalid_fee_payer: "offer_mismatch",
  fee_payer_not_ours: "offer_mismatch",
  fee_payer_mismatch: "offer_mismatch",
  mint_mismatch: "offer_mismatch",
  not_decoded: "payment_malformed",
  signature_invalid: "signature_invalid",
  recipient_mismatch: "recipient_mismatch",
  amount_mismatch: "amount_mismatch",
});

/** The code of a reason. */
export const codeOf = (reason: Reason): ErrorCode => CODES[reason] ?? "payment_rejected";

/** A refusal as the answer of a receiver, its reason in the words of the proof's protocol version. */
export function toVerification(
  { reason, expected, got }: Refused,
  version: 1 | 2,
): Extract<Verification, { outcome: "invalid" | "unavailable" }> {
  if (reason === "verification_failed") {
    // Our terms or our runtime: the payment has not been judged.
    return { outcome: "unavailable", code: "internal_error", message: `${expected}: ${got}` };
  }
  const facts = { ...(expected !== undefined && { expected }), ...(got !== undefined && { got }) };
  return { outcome: "invalid", code: codeOf(reason), reason: wireReason(reason, version), ...facts };
}
