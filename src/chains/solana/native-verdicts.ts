// Verdicts on a payment in SOL, worded for the version of the protocol that its buyer speaks. Source: protocol §4.7.
import type { ErrorCode, ErrorFacts } from "../../errors.js";
import type { Verification } from "../../receive/receiver.js";
import type { NativeProof } from "./native-judge.js";

/** v2's word and v1's, where they are not those of the error table. */
const WORDS: Partial<Record<ErrorCode, readonly [v2: string, v1: string]>> = Object.freeze({
  simulation_failed: [
    "invalid_exact_svm_transaction_simulation_failed",
    "invalid_exact_svm_payload_transaction_simulation_failed",
  ],
  payment_expired: ["invalid_exact_svm_transaction_simulation_failed", "settle_exact_svm_block_height_exceeded"],
  payment_rejected: ["invalid_exact_svm_transaction_failed", "invalid_transaction_state"],
});

/** A refusal that is the payer's to mend. */
export function invalid(
  { version }: Pick<NativeProof, "version">,
  code: ErrorCode,
  facts: Pick<ErrorFacts, "expected" | "got">,
): Extract<Verification, { outcome: "invalid" }> {
  const reason = WORDS[code]?.[version === 2 ? 0 : 1];
  return { outcome: "invalid", code, ...(reason !== undefined && { reason }), ...facts };
}

/** No verdict: the payment stays good. */
export const unavailable = (code: ErrorCode, message: string): Extract<Verification, { outcome: "unavailable" }> => ({
  outcome: "unavailable",
  code,
  message,
});
