// What the gateway's answer proves. Invariant: `valid` and `settled` need a well-formed 200 that contradicts nothing we know;
// once a settlement may have begun, only the gateway's refusal of this very request, before it sent anything, is a refusal.
import type * as z from "zod/mini";
import { ERRORS, type ErrorCode, reasonOf } from "../errors.js";
import type { BoundProof } from "../proof.js";
import type { Alarms } from "./alarms.js";
import { errorSchema, receivedSchema, statusSchema } from "./hosted-api.js";
import type { HttpAnswer, HttpReply } from "./http.js";
import type { Finality, Lookup, Settlement, Trace, Verification } from "./receiver.js";

type GatewayError = z.infer<typeof errorSchema>["error"];

export const errorOf = ({ body }: HttpAnswer): GatewayError | undefined => errorSchema.safeParse(body).data?.error;

/** Reads the answer of `POST /payment/receive` with `settle: false`. */
export function readVerified(reply: HttpReply, proof: BoundProof, alarms: Alarms): Verification {
  if (reply.outcome === "failed") {
    const code = reply.failure === "bad_answer" ? "receiver_bad_response" : "receiver_unreachable";
    return { outcome: "unavailable", code, message: `/payment/receive: ${reply.message}` };
  }
  const { status } = reply;
  if (status === 200) {
    const parsed = receivedSchema.safeParse(reply.body);
    if (!parsed.success || isOtherPayment(parsed.data, proof)) {
      alarms.raise("answer", "The gateway's answer is not about the payment that was shown to it.", {
        proofId: proof.id,
      });
      return { outcome: "unavailable", code: "receiver_bad_response", message: "/payment/receive answered otherwise" };
    }
    const { balanceAtomic } = parsed.data;
    // When it was mined is not told to the guard: the gateway grants a payment once, whatever this process remembers.
    return {
      outcome: "valid",
      payer: proof.payer,
      ...(balanceAtomic !== undefined && { balance: BigInt(balanceAtomic) }),
    };
  }
  const error = errorOf(reply);
  if (status === 401 || status === 403) return unauthorised(alarms, status, error);
  if (status === 400 && error?.code === "INVALID_PAYMENT_PROOF") return invalid(error, proof);
  if (status === 400 && error) {
    alarms.raise("requirement", "The gateway does not accept this seller's terms; no buyer can mend that.", {
      code: error.code,
      message: error.message.slice(0, 300),
    });
    return { outcome: "unavailable", code: "receiver_bad_response", message: `/payment/receive: ${error.code}` };
  }
  const code = status === 429 || status >= 500 ? "receiver_unreachable" : "receiver_bad_response";
  return { outcome: "unavailable", code, message: `/payment/receive answered ${status}` };
}

const REFUSED_KEY =
  'The gateway refuses the API key: it is revoked, expired, of another gateway, or its plan or scopes do not permit this. Check the option "apiKey".';

function unauthorised(alarms: Alarms, status: number, error: GatewayError | undefined): Verification {
  alarms.raise("credentials", REFUSED_KEY, {
    status,
    ...(error && { code: error.code, message: error.message.slice(0, 300) }),
  });
  return { outcome: "unavailable", code: "receiver_auth", message: `/payment/receive answered ${status}` };
}

function invalid(error: GatewayError, { version }: BoundProof): Verification {
  const { code, expected } = faultOf(error);
  if (code === "payment_already_used") return { outcome: "used" };
  return { outcome: "invalid", code, reason: reasonOf(code, version), ...(expected && { expected }) };
}

/** The gateway names our own codes in its details; another word stays opaque. */
export function faultOf({ details = [] }: GatewayError): { readonly code: ErrorCode; readonly expected?: string } {
  for (const { path, message } of details) {
    if (path === "already_used") return { code: "payment_already_used" };
    if (Object.hasOwn(ERRORS, path)) return { code: path as ErrorCode, expected: message.slice(0, 300) };
  }
  return { code: "payment_rejected" };
}

/** Reads the answer of `POST /payment/receive` that settles. */
export function readReceived(reply: HttpReply, proof: BoundProof, alarms: Alarms): Settlement {
  if (reply.outcome === "failed") {
    const message = `/payment/receive: ${reply.message}`;
    return reply.sent ? { outcome: "unknown", message, unanswered: true } : { outcome: "unavailable", message };
  }
  const { status } = reply;
  if (status === 200) return readSettled(reply, proof, alarms);
  const error = errorOf(reply);
  const message = `/payment/receive answered ${status}${error ? ` ${error.code}` : ""}`;
  // Invariant: these are judged before the request is, so nothing has begun.
  if (error && (status === 401 || status === 403 || status === 429 || status === 503)) {
    if (status < 429) unauthorised(alarms, status, error);
    return { outcome: "unavailable", message, answered: true };
  }
  if (status === 400 && error?.code === "INVALID_PAYMENT_PROOF") {
    const { code } = faultOf(error);
    return { outcome: "refused", code, reason: reasonOf(code, proof.version) };
  }
  // The gateway's own fault, or the key's, whatever the payment is like.
  const isFault = status === 401 || status === 403 || status === 429 || status >= 500;
  return { outcome: "unknown", message, ...(isFault && { unanswered: true }) };
}

function readSettled(reply: HttpAnswer, proof: BoundProof, alarms: Alarms): Settlement {
  const parsed = receivedSchema.safeParse(reply.body);
  if (!parsed.success || isOtherPayment(parsed.data, proof)) {
    alarms.raise("answer", "The gateway's answer is not about the payment that was to be settled.", {
      proofId: proof.id,
    });
    return { outcome: "unknown", message: "/payment/receive answered otherwise" };
  }
  const { status, signature, amountAtomic } = parsed.data;
  const isSettled = status === "confirmed" || status === "finalized";
  if (!isSettled || signature === null || !isTransactionId(signature)) {
    return { outcome: "unknown", message: `the gateway's payment is ${status ?? "not settled"}` };
  }
  const received = BigInt(amountAtomic);
  const more = received > proof.requirement.amount ? { received } : {};
  return { outcome: "settled", transaction: signature, payer: proof.payer, evidence: "word", ...more };
}

const isTransactionId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);

/** Whether a positive answer names another payer or network than the proof, or less money than the price. */
function isOtherPayment(answer: z.infer<typeof receivedSchema>, { payer, requirement }: BoundProof): boolean {
  return (
    answer.payer.toLowerCase() !== payer.toLowerCase() ||
    answer.network !== requirement.network ||
    BigInt(answer.amountAtomic) < requirement.amount
  );
}

/**
 * What the gateway now says of a payment that it has settled. What a chain has taken back it sends again itself, so nothing is
 * ever `gone` here; and a gateway without a record of it has proven nothing.
 */
export function readFinality(reply: HttpReply, trace: Trace): Finality {
  const reading = readStatus(reply, trace);
  if (reading.outcome === "over") return { outcome: "lost" };
  if (reading.outcome === "settled") {
    const { transaction } = reading;
    const isFinal = reply.outcome === "answer" && statusSchema.safeParse(reply.body).data?.status === "finalized";
    return { outcome: isFinal ? "final" : "settled", transaction };
  }
  return { outcome: "unknown", message: "message" in reading ? reading.message : "the gateway has no record of it" };
}

/** `absent`: the gateway has no record of it. `over`: it has one, and that ended without money. */
export type StatusReading = Lookup | { readonly outcome: "absent" | "over" };

/** Reads the answer of `GET /payment/status/{proof id}`. */
export function readStatus(reply: HttpReply, { payTo, amount, network }: Trace): StatusReading {
  const unknown = (message: string): Lookup => ({ outcome: "unknown", message: `/payment/status: ${message}` });
  if (reply.outcome === "failed") return unknown(reply.message);
  if (reply.status === 404 && errorOf(reply)?.code === "NOT_FOUND") return { outcome: "absent" };
  const parsed = statusSchema.safeParse(reply.body);
  if (reply.status !== 200 || !parsed.success) return unknown(`answered ${reply.status} without a record`);
  const { type, status, recipient, signature, amountAtomic, network: where } = parsed.data;
  const isOurs = type === "received" && where === network && recipient.toLowerCase() === payTo.toLowerCase();
  if (!isOurs || BigInt(amountAtomic) < BigInt(amount)) return unknown("it is a record of another payment");
  if (status === "failed" || status === "expired") return { outcome: "over" };
  if ((status !== "confirmed" && status !== "finalized") || signature === null) return unknown(`it is ${status}`);
  const received = BigInt(amountAtomic);
  return { outcome: "settled", transaction: signature, ...(received > BigInt(amount) && { received }) };
}
