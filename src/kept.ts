// Kept answers: a finished small answer that its buyer may ask for again with the retry key.
import type { Answer } from "./request.js";

/** 64 KiB. */
export const MAX_KEPT_BYTES = 64 * 1024;

/** An answer as the store holds it. */
export type KeptAnswer = {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
};

/** The answer to keep, or undefined: too large, or it sets a cookie (which is for one client only). */
export function toKept(answer: Answer): KeptAnswer | undefined {
  const body = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body;
  if (body.byteLength > MAX_KEPT_BYTES) return undefined;
  if (answer.headers.some(([name]) => name.toLowerCase() === "set-cookie")) return undefined;
  return { status: answer.status, headers: answer.headers, body };
}
