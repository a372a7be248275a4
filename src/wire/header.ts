// The header codec: JSON to base64 and back. Written headers are plain ASCII, so that every published client, also those
// that mix up Latin-1 and UTF-8, reads the same bytes. Spec: protocol §1.2.
import { findFlaw } from "./json.js";

/** A payment header's text may be this long, before it is decoded. */
export const MAX_HEADER_LENGTH = 16 * 1024;

export type Decoded =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: "payment_malformed" | "payment_header_too_large"; readonly problem: string };

/** A header value: standard, padded base64 of ASCII-only JSON. */
export function encodeHeader(value: unknown): string {
  return asciiToBase64(toAsciiJson(value));
}

/**
 * JSON in which every non-ASCII code unit is written as `\uXXXX`.
 *
 * @throws TypeError for what JSON cannot say: `undefined`, a function, a bigint, a cycle.
 */
export function toAsciiJson(value: unknown): string {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined) throw new TypeError("the value has no JSON form");
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Standard, padded base64 of ASCII text. */
export function asciiToBase64(ascii: string): string {
  return runtimeBuffer ? runtimeBuffer.from(ascii, "latin1").toString("base64") : btoa(ascii);
}

/**
 * Reads an x402 header: base64 or base64url, padded or not, of a JSON object in UTF-8, or in Latin-1 as some published
 * clients write it (they echo our description so; no money field is touched). Everything else is refused, never guessed
 * at: stray characters (two headers joined by a comma among them), false padding, deep nesting.
 *
 * @param maxLength in characters; a payment's unless a challenge or a receipt is read
 */
export function decodeHeader(text: string, maxLength: number = MAX_HEADER_LENGTH): Decoded {
  if (text.length > maxLength) {
    const problem = `the header has ${text.length} characters where at most ${maxLength} are allowed`;
    return { ok: false, code: "payment_header_too_large", problem };
  }
  const digits = base64Digits(text.trim());
  if (digits === undefined) return malformed("the header is not base64");
  let value: unknown;
  try {
    value = JSON.parse(decodeText(base64ToBytes(digits)));
  } catch {
    return malformed("the header is not base64 of JSON");
  }
  const flaw = findFlaw(value);
  return flaw ? malformed(`the header's JSON ${flaw}`) : { ok: true, value };
}

const malformed = (problem: string): Decoded => ({ ok: false, code: "payment_malformed", problem });

// Keeping the byte order mark lets JSON.parse refuse it: one payload, one spelling.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder("latin1");

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    // Not UTF-8: every byte is a character of Latin-1.
    return latin1.decode(bytes);
  }
}

/** Node's own codec where there is one: several times faster than `btoa` and `atob`. */
const runtimeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer;

/** The digits in the standard alphabet without padding, or undefined where the text is not base64. */
function base64Digits(text: string): string | undefined {
  const match = /^([A-Za-z0-9+/]+|[A-Za-z0-9_-]+)(={0,2})$/.exec(text);
  if (!match) return undefined;
  const [, digits = "", padding = ""] = match;
  const over = digits.length % 4;
  if (over === 1 || (padding !== "" && over + padding.length !== 4)) return undefined;
  const standard = digits.replaceAll("-", "+").replaceAll("_", "/");
  // The last digit's unused bits must be zero, or several texts would decode to the same bytes.
  if (over === 2 && !/[AQgw]$/.test(standard)) return undefined;
  if (over === 3 && !/[AEIMQUYcgkosw048]$/.test(standard)) return undefined;
  return standard;
}

function base64ToBytes(digits: string): Uint8Array {
  return runtimeBuffer
    ? runtimeBuffer.from(digits, "base64")
    : Uint8Array.from(atob(digits), (character) => character.charCodeAt(0));
}
