// The answers of the facilitator API in the words of the version that was asked in. Source: protocol §2.3, §6.
import { reasonOf } from "../../errors.js";
import type { FacilitatorRequest, SettleResponse, VerifyResponse } from "../../wire/facilitator.js";
import { fault, type Outcome } from "../errors.js";
import type { Payment } from "../payment.js";
import type { Asked, Judged, Refused } from "./facilitator-judge.js";
import type { Rejection } from "./facilitator-terms.js";

/** What came of one `/settle`. */
export type SettleOutcome =
  | { readonly outcome: "settled"; readonly transaction: string }
  /** `transaction`: empty where there is none. */
  | (Rejection & { readonly transaction: string; readonly payer?: string })
  | Refused;

export function toVerifyAnswer(judged: Judged, { x402Version: version }: FacilitatorRequest): Outcome<VerifyResponse> {
  switch (judged.outcome) {
    case "valid":
      return { ok: true, pending: true, value: { isValid: true, payer: judged.payer } };
    case "rejected": {
      const { reason, message, payer } = judged;
      const words = version === 2 ? { invalidMessage: message } : {};
      return {
        ok: true,
        pending: true,
        value: { isValid: false, invalidReason: reason, ...words, ...(payer && { payer }) },
      };
    }
    case "refused":
      return judged.fault;
  }
}

/** @param asked absent where the request could not be read so far */
export function toSettleAnswer(
  outcome: SettleOutcome | Rejection,
  { x402Version: version, paymentRequirements }: FacilitatorRequest,
  asked: Asked | undefined,
): Outcome<SettleResponse> {
  const network = asked?.terms.networkName ?? paymentRequirements.network;
  const about = { network, ...(asked && { payer: asked.proof.payer }) };
  switch (outcome.outcome) {
    case "settled":
      return { ok: true, value: { success: true, transaction: outcome.transaction, ...about } };
    case "rejected": {
      const transaction = "transaction" in outcome ? outcome.transaction : "";
      const words = version === 2 ? { errorMessage: outcome.message } : {};
      const value = { success: false, errorReason: outcome.reason, ...words, transaction, ...about };
      // Time or the payer's own doing may change it: the same key asks anew.
      return { ok: true, pending: true, value };
    }
    case "refused":
      return outcome.fault;
  }
}

export const settledAnswer = ({ signature }: Payment): SettleOutcome => ({
  outcome: "settled",
  transaction: signature ?? "",
});

/**
 * Under way. The protocol says so with a transaction alone; without one nothing may be said that reads as a failure, because
 * the money may still move.
 */
export function pendingAnswer({ id, signature }: Payment, { version }: Asked): SettleOutcome {
  const message = "the settlement is under way: send the same payment again";
  if (signature !== null) {
    return { outcome: "rejected", reason: reasonOf("settlement_unknown", version), message, transaction: signature };
  }
  const more = { status: 504, paymentId: id, retryAfter: 2 } as const;
  return { outcome: "refused", fault: fault("PAYMENT_VERIFICATION_FAILED", message, more) };
}
