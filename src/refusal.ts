// A refusal explains itself: every answer that is not the goods says in words and in a code what was wrong, what was
// expected, what to do next, and whether money moved.
import { ERRORS, type ErrorCode, type ErrorFacts, type Money, reasonOf } from "./errors.js";
import type { Answer, HeaderList } from "./request.js";
import { toAsciiJson } from "./wire/header.js";

/** Response headers that a page on another origin may read. Source: protocol §1.6. */
export const EXPOSED_HEADERS =
  "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Payment-Replayed, Payment-Pass, WWW-Authenticate, Retry-After";
export const VARY_HEADERS = "PAYMENT-SIGNATURE, X-PAYMENT, Payment-Pass";

/** On every answer of the guard itself. */
export const REFUSAL_HEADERS: HeaderList = Object.freeze([
  ["Content-Type", "application/json; charset=utf-8"],
  ["Cache-Control", "no-store"],
  ["Vary", VARY_HEADERS],
  ["Access-Control-Expose-Headers", EXPOSED_HEADERS],
] as const);

/** The members that our codes add to a protocol body. */
export function explain(code: ErrorCode, facts: ErrorFacts = {}) {
  const { title, retry, payment } = ERRORS[code];
  return {
    code,
    message: title,
    ...(facts.expected !== undefined && { expected: facts.expected }),
    ...(facts.got !== undefined && { got: facts.got }),
    retry,
    payment,
    docs: `docs/errors.md#${code}`,
  };
}

export interface RefusalOptions extends ErrorFacts {
  readonly version?: 1 | 2;
  /** Receipt headers and the like, beside the usual ones. */
  readonly headers?: HeaderList;
  /** Instead of the table's, for a price function's own 4xx. */
  readonly status?: number;
  readonly message?: string;
  /** Whether money moved, where that is known better than the table can say. */
  readonly payment?: Money;
  /** The money is there already, whatever the code's own row says. */
  readonly paid?: boolean;
  /** Leads to the log entry of an unexpected error. */
  readonly id?: string;
}

const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, string>> = {
  payment_in_progress: "1",
  too_many_payments: "5",
  too_many_failures: "60",
  misconfigured: "60",
};

const PAID_MESSAGE = "The payment was taken, but the resource failed. Do not pay again: send the same payment again.";

/** A refusal without offers: nothing here invites another payment. */
export function refuse(code: ErrorCode, options: RefusalOptions = {}): Answer {
  const { version = 2, headers = [], status = ERRORS[code].status, message, id, paid, payment } = options;
  const retryAfter = RETRY_AFTER_SECONDS[code] ?? (status >= 502 ? "2" : undefined);
  const body = {
    x402Version: version,
    error: options.reason ?? reasonOf(code, version),
    ...explain(code, options),
    ...(message !== undefined && { message }),
    ...(payment && { payment }),
    ...(paid && { payment: "settled", message: PAID_MESSAGE }),
    ...(id !== undefined && { id }),
  };
  return {
    status,
    headers: [...REFUSAL_HEADERS, ...(retryAfter ? ([["Retry-After", retryAfter]] as const) : []), ...headers],
    body: toAsciiJson(body),
  };
}
