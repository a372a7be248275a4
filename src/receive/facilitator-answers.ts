// What a facilitator's answer proves. Invariant: `valid` and `settled` need a positive, well-formed answer with a 2xx
// status that contradicts nothing we know; once a settlement may have left, everything else is `unknown`.
import { parseInteger } from "../money.js";
import { networkFromWire } from "../networks.js";
import type { BoundProof } from "../proof.js";
import { readSettleResponse, readVerifyResponse, type SettleResponse } from "../wire/facilitator.js";
import type { Alarms } from "./alarms.js";
import type { HttpAnswer, HttpReply } from "./http.js";
import { boundedReason, faultOf } from "./reasons.js";
import type { Settlement, Verification } from "./receiver.js";

const isSuccess = (status: number) => status >= 200 && status < 300;
/** Too busy, or broken. */
const isOwnFault = (status: number) => status === 429 || status >= 500;
const isRefusedCredential = (status: number) => status === 401 || status === 403;

/** Reads the answer of /verify. A typed body counts whatever its status (protocol §6.2), but `isValid: true` needs a 2xx. */
export function readVerification(reply: HttpReply, proof: BoundProof, alarms: Alarms): Verification {
  if (reply.outcome === "failed") {
    const code = reply.failure === "bad_answer" ? "receiver_bad_response" : "receiver_unreachable";
    return { outcome: "unavailable", code, message: `/verify: ${reply.message}` };
  }
  const { status, body } = reply;
  if (isRefusedCredential(status)) {
    raiseCredentials(alarms, "/verify", status);
    return { outcome: "unavailable", code: "receiver_auth", message: `/verify answered ${status}` };
  }
  const answer = readVerifyResponse(body);
  if (!answer) {
    const code = isOwnFault(status) ? "receiver_unreachable" : "receiver_bad_response";
    return { outcome: "unavailable", code, message: `/verify answered ${status} without a verdict` };
  }
  if (!answer.isValid) return readRejection(answer.invalidReason, status, alarms);
  const problem = !isSuccess(status)
    ? `calls the payment valid with status ${status}`
    : isOtherPayer(answer.payer, proof)
      ? "names another payer than the one who signed"
      : undefined;
  if (problem === undefined) return { outcome: "valid", payer: proof.payer };
  alarms.raise("answer", `The facilitator's /verify ${problem}.`, { proofId: proof.id });
  return { outcome: "unavailable", code: "receiver_bad_response", message: `/verify ${problem}` };
}

function readRejection(given: string | undefined, status: number, alarms: Alarms): Verification {
  const reason = boundedReason(given || "invalid_payment");
  const fault = faultOf(reason);
  switch (fault.fault) {
    case "payer":
      return { outcome: "invalid", code: fault.code, reason };
    case "used":
      return { outcome: "used" };
    case "facilitator":
      // Its own failure is no verdict on the payment: the buyer keeps it.
      return {
        outcome: "unavailable",
        code: "receiver_unreachable",
        message: `/verify failed: ${reason}`,
        ...(!isOwnFault(status) && { answered: true }),
      };
    case "seller":
      alarms.raise("requirement", "The facilitator does not accept this seller's terms; no buyer can mend that.", {
        reason,
      });
      return { outcome: "invalid", code: "payment_rejected", reason };
    default:
      return { outcome: "invalid", code: "payment_rejected", reason };
  }
}

/** `pending`: broadcast and not yet confirmed; the identical request may be sent once more (protocol §6.4). */
export type SettleReading =
  | Settlement
  | { readonly outcome: "pending"; readonly transaction: string; readonly retryAfterMs: number | undefined };

/** Reads the first answer of /settle. */
export function readSettlement(reply: HttpReply, proof: BoundProof, alarms: Alarms): SettleReading {
  if (reply.outcome === "failed") {
    const message = `/settle: ${reply.message}`;
    return reply.sent ? unanswered(message) : { outcome: "unavailable", message };
  }
  const { status, body } = reply;
  if (isRefusedCredential(status)) {
    raiseCredentials(alarms, "/settle", status);
    return unanswered(`/settle answered ${status}`);
  }
  const answer = readSettleResponse(withDefaults(body));
  if (!answer) {
    const message = `/settle answered ${status} without an outcome`;
    return isOwnFault(status) ? unanswered(message) : unknown(message);
  }
  if (!answer.success) return readFailure(answer, proof, reply);

  const problem = contradiction(answer, status, proof);
  if (problem === undefined) {
    const { transaction } = answer;
    return { outcome: "settled", transaction, payer: proof.payer, evidence: "word" };
  }
  alarms.raise("answer", `The facilitator's /settle ${problem}.`, { proofId: proof.id });
  return unknown(`/settle ${problem}`);
}

function readFailure(answer: SettleResponse, proof: BoundProof, { status, retryAfterMs }: HttpAnswer): SettleReading {
  const reason = boundedReason(answer.errorReason || "settlement_refused");
  const message = `/settle failed: ${reason}`;
  if (answer.transaction !== "") {
    if (!isTransactionId(answer.transaction, proof)) return unknown(message);
    const { transaction } = answer;
    return reason === "settlement_pending"
      ? { outcome: "pending", transaction, retryAfterMs }
      : unknown(message, transaction);
  }
  const fault = faultOf(reason);
  // Invariant: only a fault of the payer, found before anything was sent, is a refusal. "Used" may be somebody else's
  // submission of this very payment, which paid us.
  if (fault.fault === "payer") return { outcome: "refused", code: fault.code, reason };
  return fault.fault === "facilitator" && isOwnFault(status) ? unanswered(message) : unknown(message);
}

/** What speaks against a `success: true`. */
function contradiction(answer: SettleResponse, status: number, proof: BoundProof): string | undefined {
  const { requirement } = proof;
  if (!isSuccess(status)) return `claims success with status ${status}`;
  if (!isTransactionId(answer.transaction, proof)) return "claims success without a transaction";
  if (isOtherPayer(answer.payer, proof)) return "names another payer than the one who signed";
  // Read as in v1, which knows every spelling: x402-rs names CAIP-2 ids there (protocol §2.3).
  if (answer.network !== "" && networkFromWire(1, answer.network)?.id !== requirement.network) {
    return "settled on another network than the payment's";
  }
  if (answer.amount !== undefined) {
    const charged = parseInteger(answer.amount);
    if (charged.ok && charged.amount !== requirement.amount) return "settled another amount than the price";
  }
  return undefined;
}

/** A member that may be left out means: none. A wrong type stays wrong. */
function withDefaults(body: unknown): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const members = Object.entries(body).filter(([, member]) => member !== null);
  return { transaction: "", network: "", ...Object.fromEntries(members) };
}

/** It goes into a header and a record: printable, no spaces, bounded; on Solana base58 of 64 bytes, which has one spelling. */
const isTransactionId = (text: string, { requirement }: BoundProof) =>
  (requirement.method === "spl" ? /^[1-9A-HJ-NP-Za-km-z]{64,88}$/ : /^[\x21-\x7e]{1,128}$/).test(text);

/**
 * Hex has two spellings, base58 has one. On Solana some read the protocol's text as "the fee payer" (protocol §9.18): that
 * one is no sign of another payment either.
 */
function isOtherPayer(payer: string | undefined, { payer: ours, requirement }: BoundProof): boolean {
  if (!payer) return false;
  if (requirement.method === "eip3009") return payer.toLowerCase() !== ours.toLowerCase();
  return payer !== ours && !(requirement.method === "spl" && payer === requirement.extra.feePayer);
}

function unknown(message: string, transaction?: string): Settlement {
  return transaction === undefined ? { outcome: "unknown", message } : { outcome: "unknown", transaction, message };
}

/** Its own fault, whatever the payment is like. */
const unanswered = (message: string): Settlement => ({ outcome: "unknown", message, unanswered: true });

function raiseCredentials(alarms: Alarms, path: string, status: number): void {
  alarms.raise("credentials", `The facilitator refuses the seller's credentials: check the option "headers".`, {
    path,
    status,
  });
}
