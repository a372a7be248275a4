// The answer of last resort, sent when the guard or the capture breaks its word and throws. It claims nothing about
// the money, because whoever threw may have thrown after a settlement: the buyer is told to repeat, never to pay anew.
import { ERRORS } from "../src/errors.js";
import type { Answer } from "../src/request.js";

const { status, reason, retry } = ERRORS.internal_error;

export const INTERNAL_ERROR: Answer = Object.freeze({
  status,
  headers: [
    ["Content-Type", "application/json; charset=utf-8"],
    ["Cache-Control", "no-store"],
  ] as const,
  body: JSON.stringify({
    error: reason,
    code: "internal_error",
    message: "The server failed. Do not pay again: send the same payment again in a moment.",
    retry,
    payment: "unknown",
  }),
});
