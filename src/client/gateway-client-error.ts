// What a call to the gateway throws when it does not end in its answer. It says whether the request may have been carried out all
// the same, and under which key it can be asked for again. Nothing in it holds the API key.
import type { GatewayErrorCode } from "./gateway-client-shapes.js";

/** Beside the gateway's own: what went wrong on the way. */
const OWN = Object.freeze({
  UNREACHABLE: "Check that the gateway runs at baseUrl and can be reached from here",
  BAD_ANSWER: "Check that baseUrl leads to a gateway and that no proxy answers in its place",
  cursor_expired: "Read the history, and follow the events without since",
  NOT_IN_TIME: "Ask for the payment's status again later",
});

export type GatewayClientErrorCode = GatewayErrorCode | keyof typeof OWN;

export interface GatewayErrorFacts {
  /** Of the gateway; a newer one may know more of them. */
  readonly code: GatewayClientErrorCode;
  /** `POST /payment/send`. */
  readonly endpoint: string;
  readonly message: string;
  /** HTTP; undefined where no answer began. */
  readonly status?: number;
  /** What to do, in the gateway's words. */
  readonly action?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  readonly retryable: boolean;
  readonly paymentId?: string;
  readonly requestId?: string;
  /** How long the gateway asks to be left alone. */
  readonly retryAfterMs?: number;
  readonly inDoubt: boolean;
  readonly idempotencyKey?: string;
}

/**
 * A call that ended without its answer.
 *
 * @example
 * try { await client.send(request); } catch (error) {
 *   if (error instanceof GatewayError && error.inDoubt) await client.send(request, { idempotencyKey: error.idempotencyKey });
 * }
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: GatewayClientErrorCode;
  /** `POST /payment/send`. */
  readonly endpoint: string;
  /** HTTP; undefined where no answer began. */
  readonly status: number | undefined;
  /** The recommended caller action. */
  readonly action: string;
  /** Each place of the request that was wrong. */
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Is the same request worth sending again? */
  readonly retryable: boolean;
  /** The record that tells how it went, where one was made. */
  readonly paymentId: string | undefined;
  /** Names the request in the gateway's log. */
  readonly requestId: string | undefined;
  /** How long the gateway asks to be left alone, milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The request may have been carried out all the same: repeat it with the same `idempotencyKey`, and nothing is done twice. */
  readonly inDoubt: boolean;
  /** Under which the request was made. */
  readonly idempotencyKey: string | undefined;
  constructor(facts: GatewayErrorFacts) {
    const { code, endpoint, message, requestId, details = [] } = facts;
    const action = facts.action ?? (Object.hasOwn(OWN, code) ? OWN[code as keyof typeof OWN] : "");
    const head = `${endpoint}: ${code}: ${message}${requestId === undefined ? "" : ` (request ${requestId})`}`;
    super(action === "" ? head : `${head}\n${action}`);
    this.code = code;
    this.endpoint = endpoint;
    this.status = facts.status;
    this.action = action;
    this.details = details;
    this.retryable = facts.retryable;
    this.paymentId = facts.paymentId;
    this.requestId = requestId;
    this.retryAfterMs = facts.retryAfterMs;
    this.inDoubt = facts.inDoubt;
    this.idempotencyKey = facts.idempotencyKey;
  }
}

/** No built transaction came in the caller's time; the same key asks for the same one. */
export const notBuilt = (endpoint: string, idempotencyKey: string): GatewayError =>
  new GatewayError({
    ...{ code: "NOT_IN_TIME", endpoint, idempotencyKey, retryable: true, inDoubt: true },
    message: "the gateway built nothing in time; nothing was signed",
    action: "Order again under the same idempotencyKey, or give it more time by timeoutMs",
  });
