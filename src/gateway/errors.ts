// What the gateway says when it does not do as asked: one frozen table, from which status, advice and documentation come.
// Faults are values; only what nobody foresaw is thrown, and becomes INTERNAL_ERROR without its text. Source: design §7.

interface ErrorFacts {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 500 | 502 | 503;
  /** The specification's recommended caller action. */
  readonly action: string;
  /** Is the same request worth sending again? */
  readonly retryable: boolean;
  readonly when: string;
}

const fact = (status: ErrorFacts["status"], retryable: boolean, when: string, action: string): ErrorFacts =>
  Object.freeze({ status, action, retryable, when });

export const GATEWAY_ERRORS = Object.freeze({
  INVALID_REQUEST: fact(400, false, "parameters are invalid", "Correct the fields named in details"),
  INVALID_RECIPIENT: fact(
    400,
    false,
    "the recipient is malformed, of another chain family, or cannot exist or receive",
    "Verify the recipient address",
  ),
  INSUFFICIENT_BALANCE: fact(400, false, "not enough funds for payment plus fees", "Add funds to the wallet"),
  INVALID_PAYMENT_PROOF: fact(
    400,
    false,
    "the proof is undecodable, invalid, expired, already used, or for something else",
    "Retry with a fresh proof",
  ),
  UNAUTHORIZED: fact(
    401,
    false,
    "the API key is missing or invalid",
    "Send Authorization: Bearer with a valid API key; the operator makes one with tollgate keys create",
  ),
  FORBIDDEN: fact(
    403,
    false,
    "the plan or the key does not permit this",
    "Use a key whose plan, scopes and wallets permit this",
  ),
  NOT_FOUND: fact(404, false, "there is no such thing for this account", "Check the path and the id"),
  METHOD_NOT_ALLOWED: fact(405, false, "the path exists with another method", "Use the method that Allow names"),
  CONFLICT: fact(
    409,
    true,
    "the Idempotency-Key was used with other content, or its request still runs",
    "Wait and send the same request again, or use another Idempotency-Key for another request",
  ),
  BODY_TOO_LARGE: fact(413, false, "the body has more than 64 KiB", "Send a smaller body"),
  UNSUPPORTED_MEDIA_TYPE: fact(415, false, "the body is not JSON", "Send Content-Type: application/json"),
  RATE_LIMIT: fact(429, true, "too many requests", "Slow down; retry with exponential backoff"),
  PAYMENT_VERIFICATION_FAILED: fact(
    502,
    true,
    "the facilitator or the chain could not verify the payment",
    "Check payment status and retry",
  ),
  UNAVAILABLE: fact(503, true, "the service cannot do this now; nothing was done", "Retry later"),
  INTERNAL_ERROR: fact(
    500,
    true,
    "our fault",
    "Retry with the same Idempotency-Key; report the requestId if it persists",
  ),
});
export type GatewayErrorCode = keyof typeof GATEWAY_ERRORS;

/** One place of a request and what was wrong there. */
export interface ErrorDetail {
  /** Dotted, as in `amount` or `metadata.order`; a machine's word (`already_used`) where no field is to blame. */
  readonly path: string;
  readonly message: string;
}

/** An expected outcome that is not success. */
export interface Fault {
  readonly ok: false;
  readonly code: GatewayErrorCode;
  /** What was wrong, expected and got; never a secret, key or signature. */
  readonly message: string;
  readonly details?: readonly ErrorDetail[];
  /** The record that tells how it went, where one was made. */
  readonly paymentId?: string;
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  /** In place of the table's: 504 where time ran out, 426 and 431 where HTTP itself has a word for it. */
  readonly status?: 426 | 431 | 504;
  /** In place of the table's, where this very case has a better remedy. */
  readonly action?: string;
  /** In place of the table's: what only the operator can change is not worth sending again. */
  readonly retryable?: false;
}

/** `pending`: the answer may be another one later, so an idempotent repeat evaluates anew. */
export type Outcome<Value> = { readonly ok: true; readonly value: Value; readonly pending?: boolean } | Fault;

/** @example return fault("INVALID_RECIPIENT", "recipientAddress: expected a Solana address, got an EVM one") */
export function fault(
  code: GatewayErrorCode,
  message: string,
  more: Omit<Fault, "ok" | "code" | "message"> = {},
): Fault {
  return { ok: false, code, message, ...more };
}

/** One field of a request that is wrong, named in the message and in the details. */
export const invalidField = (path: string, message: string): Fault =>
  fault("INVALID_REQUEST", `${path}: ${message}`, { details: [{ path, message }] });
