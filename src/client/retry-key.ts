// The key by which a seller knows a request that comes again. It is the purchase's id.
import { RETRY_KEY } from "../proof.js";
import { takesRetryKey } from "./envelope.js";
import type { Challenge } from "./offer.js";

export const RETRY_KEY_HEADER = "Idempotency-Key";

/** 16 random bytes in hex. */
export const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The caller's own key, where it can be one. */
export function callersKey(headers: Headers): string | undefined {
  const key = headers.get(RETRY_KEY_HEADER);
  return key !== null && RETRY_KEY.test(key) ? key : undefined;
}

/**
 * The header that carries the key, where the payment itself does not. A caller's own header is never changed.
 *
 * From a page to another origin there is none: a seller whose CORS rules do not name it would get no request at all.
 */
export function retryKeyHeader(
  key: string,
  place: URL,
  challenge: Challenge,
  headers: Headers,
): Readonly<Record<string, string>> {
  if (takesRetryKey(challenge) || headers.has(RETRY_KEY_HEADER)) return {};
  const { document, location } = globalThis as { document?: unknown; location?: { origin?: string } };
  if (document !== undefined && location?.origin !== place.origin) return {};
  return { [RETRY_KEY_HEADER]: key };
}
