// What a facilitator's answer proves. Invariant: `valid` and `settled` need a positive, well-formed answer with a 2xx
// status that contradicts nothing we know; once a settlement may have left, everything else is `unknown`.
import { parseInteger } from "../money.js";
import { networkFromWire } from "../networks.js";
import type { BoundProof } from "../proof.js";
import { readSettleResponse, readVerifyResponse, type SettleResponse } from "../wire/facilitator.js";
import type { Alarms } from "./alarms.js";
import type { HttpReply } from "./http.js";
import { boundedReason, faultOf } from "./reasons.js";
import type { Settlement, Verification } from "./receiver.js";

const isSuccess = (status: number) => status >= 200 && status < 300;
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
    const code = status === 429 || status >= 500 ? "receiver_unreachable" : "receiver_bad_response";
    return { outcome: "unavailable", code, message: `/verify answered ${status} without a verdict` };
  }
  if (!answer.isValid) return readRejection(answer.invalidReason, alarms);
  const problem = !isSuccess(status)
    ? `calls the payment valid with status ${status}`
    : isOtherPayer(answer.payer, proof)
      ? "names another payer than the one who signed"
      : undefined;
  if (problem === undefined) return { outcome: "valid", payer: proof.authorization.from };
  alarms.raise("answer", `The facilitator's /verify ${problem}.`, { proofId: proof.id });
  return { outcome: "unavailable", code: "receiver_bad_response", message: `/verify ${problem}` };
}

function readRejection(given: string | undefined, alarms: Alarms): Verification {
  const reason = boundedReason(given || "invalid_payment");
  const fault = faultOf(reason);
  switch (fault.fault) {
    case "payer":
      return { outcome: "invalid", code: fault.code, reason };
    case "used":
      return { outcome: "used" };
    case "facilitator":
      // Its own failure is no verdict on the payment: the buyer keeps it.
      return { outcome: "unavailable", code: "receiver_unreachable", message: `/verify failed: ${reason}` };
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
    return reply.sent ? unknown(message) : { outcome: "unavailable", message };
  }
  const { status, body } = reply;
  if (isRefusedCredential(status)) {
    raiseCredentials(alarms, "/settle", status);
    return unknown(`/settle answered ${status}`);
  }
  const answer = readSettleResponse(withDefaults(body));
  if (!answer) return unknown(`/settle answered ${status} without an outcome`);
  if (!answer.success) return readFailure(answer, reply.retryAfterMs);

  const problem = contradiction(answer, status, proof);
  if (problem === undefined) {
    const { transaction } = answer;
    return { outcome: "settled", transaction, payer: proof.authorization.from, evidence: "word" };
  }
  alarms.raise("answer", `The facilitator's /settle ${problem}.`, { proofId: proof.id });
  return unknown(`/settle ${problem}`);
}

function readFailure(answer: SettleResponse, retryAfterMs: number | undefined): SettleReading {
  const reason = boundedReason(answer.errorReason || "settlement_refused");
  const message = `/settle failed: ${reason}`;
  if (answer.transaction !== "") {
    if (!isTransactionId(answer.transaction)) return unknown(message);
    const { transaction } = answer;
    return reason === "settlement_pending"
      ? { outcome: "pending", transaction, retryAfterMs }
      : unknown(message, transaction);
  }
  const fault = faultOf(reason);
  // Invariant: only a fault of the payer, found before anything was sent, is a refusal. "Used" may be somebody else's
  // submission of this very payment, which paid us.
  return fault.fault === "payer" ? { outcome: "refused", code: fault.code, reason } : unknown(message);
}

/** What speaks against a `success: true`. */
function contradiction(answer: SettleResponse, status: number, proof: BoundProof): string | undefined {
  const { requirement } = proof;
  if (!isSuccess(status)) return `claims success with status ${status}`;
  if (!isTransactionId(answer.transaction)) return "claims success without a transaction";
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

/** It goes into a header and a record: printable, no spaces, bounded. */
const isTransactionId = (text: string) => /^[\x21-\x7e]{1,128}$/.test(text);

const isOtherPayer = (payer: string | undefined, proof: BoundProof) =>
  Boolean(payer) && payer?.toLowerCase() !== proof.authorization.from.toLowerCase();

function unknown(message: string, transaction?: string): Settlement {
  return transaction === undefined ? { outcome: "unknown", message } : { outcome: "unknown", transaction, message };
}

function raiseCredentials(alarms: Alarms, path: string, status: number): void {
  alarms.raise("credentials", `The facilitator refuses the seller's credentials: check the option "headers".`, {
    path,
    status,
  });
}
