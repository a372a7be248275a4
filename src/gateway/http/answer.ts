// A fault as an HTTP answer: the one shape of whatever is not a success. Source: design §7.
import { type Fault, GATEWAY_ERRORS } from "../errors.js";
import type { ErrorAnswer } from "../schemas/index.js";
import type { GatewayContext } from "./context.js";

/** The status of a fault: the table's, or 504 where time ran out. */
export const statusOf = ({ code, status }: Fault) => status ?? GATEWAY_ERRORS[code].status;

/** The body of a fault. */
export function toErrorAnswer(fault: Fault, requestId: string): ErrorAnswer {
  const { code, message, details, paymentId } = fault;
  const { action, retryable } = { ...GATEWAY_ERRORS[code], ...adviceOf(fault) };
  return {
    success: false,
    error: {
      code,
      message,
      action,
      ...(details && { details: [...details] }),
      retryable,
      ...(paymentId !== undefined && { paymentId }),
    },
    requestId,
  };
}

const adviceOf = ({ action, retryable }: Fault) => ({
  ...(action !== undefined && { action }),
  ...(retryable !== undefined && { retryable }),
});

/** What goes into headers beside the body. */
export function errorHeaders({ code, retryAfter }: Fault): Record<string, string> {
  return {
    ...(retryAfter !== undefined && { "Retry-After": String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(code === "UNAUTHORIZED" && { "WWW-Authenticate": "Bearer" }),
  };
}

/** @example return answerFault(c, fault("NOT_FOUND", "there is no payment with this id")) */
export function answerFault(c: GatewayContext, fault: Fault, headers: Record<string, string> = {}): Response {
  const body = toErrorAnswer(fault, c.get("requestId"));
  return c.json(body, statusOf(fault), { ...errorHeaders(fault), ...headers });
}
