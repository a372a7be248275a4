// Reads the text of a payment proof: the value of X-PAYMENT (v1) or of PAYMENT-SIGNATURE (v2), told apart by its own
// x402Version. Shape only: what it pays, and whether it does, is decided elsewhere.
import { ERRORS, type ErrorCode, type ErrorFacts } from "../../errors.js";
import { type DecodedProof, decodeProof } from "../../proof.js";
import { decodeHeader, encodeHeader } from "../../wire/header.js";
import { type PaymentPayload, parsePaymentPayload } from "../../wire/payload.js";
import { type Fault, fault, type Outcome } from "../errors.js";

/** A proof that is not good, with the code of the paywall's own table as its detail. No signature is ever shown. */
export function badProof(code: ErrorCode, facts: ErrorFacts = {}, more: { readonly paymentId?: string } = {}): Fault {
  const { expected, got } = facts;
  const words = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(", ");
  const message = words || ERRORS[code].title;
  return fault("INVALID_PAYMENT_PROOF", words ? `${ERRORS[code].title} (${words})` : message, {
    details: [{ path: code, message }],
    ...more,
  });
}

/** It has been granted, or is being settled, for another request. Says nothing of whose that was. */
export const alreadyUsed = (paymentId?: string): Fault =>
  fault("INVALID_PAYMENT_PROOF", "This payment has already been used: it buys nothing more.", {
    details: [{ path: "already_used", message: "expected a proof that was never used" }],
    ...(paymentId !== undefined && { paymentId }),
  });

/** @example const decoded = readProof(request.paymentProof); */
export function readProof(text: string): Outcome<DecodedProof> {
  const json = decodeHeader(text);
  return json.ok ? readJson(json.value) : badProof(json.code, { got: json.problem });
}

/** A payload that came apart from any header, as the facilitator API has it, or as a record keeps it. */
export const readPayload = (payload: PaymentPayload): Outcome<DecodedProof> => readProof(encodeHeader(payload));

/**
 * Anything but 2 is read as version 1, whose schema then says what is wrong. Extensions are between buyer and seller: they go on
 * to whoever settles, and nothing here is decided by them.
 */
function readJson(value: unknown): Outcome<DecodedProof> {
  const { extensions: _, ...rest } = Object(value) as { readonly x402Version?: unknown; readonly extensions?: unknown };
  const version = rest.x402Version === 2 ? 2 : 1;
  const whole = parsePaymentPayload(version, value);
  if (!whole.ok) return badProof(whole.code, { got: whole.problem });
  const text = encodeHeader(rest);
  const headers = { v1: version === 1 ? text : undefined, v2: version === 2 ? text : undefined };
  const decoded = decodeProof({ ...headers, idempotencyKey: undefined });
  if (!decoded.ok) return badProof(decoded.code, decoded);
  return { ok: true, value: { ...decoded.proof, payload: whole.payload } };
}
