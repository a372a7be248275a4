// Reads a 402: the v2 header where there is one, else the JSON body. Whatever a seller sends, the work is bounded (bytes, time,
// nesting, number of offers) and the answer is a value; the body is read or let go in every case. Spec: protocol §1.3, §2.1.
import { decodeHeader } from "../wire/header.js";
import { findFlaw, isRecord } from "../wire/json.js";
import { cancelBody, drainBody, readBodyText } from "./bounded-body.js";
import type { Challenge, Offer, UnpayableOffer } from "./offer.js";
import { readOffer } from "./read-offer.js";
import { toSellerWords } from "./seller-words.js";

export interface ChallengeLimits {
  /** Milliseconds for the whole body; 30 s. */
  readonly timeoutMs?: number;
  /** The caller's: where it aborts, reading rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
}

export type ReadChallenge =
  | { readonly ok: true; readonly challenge: Challenge }
  | {
      readonly ok: false;
      readonly code: "challenge_invalid" | "challenge_too_large";
      /** In words of ours. */
      readonly reason: string;
    };

/** Characters. Node itself takes 16 KiB of headers in all unless told otherwise. */
const MAX_HEADER = 64 * 1024;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_OFFERS = 100;
const TIMEOUT_MS = 30_000;

const invalid = (reason: string): ReadChallenge => ({ ok: false, code: "challenge_invalid", reason });
const tooLarge = (reason: string): ReadChallenge => ({ ok: false, code: "challenge_too_large", reason });

/**
 * The challenge of a 402. Its offers are those that somebody could pay; what is wrong with another is said beside them.
 * Rejects only with the reason of an aborted signal.
 *
 * @example
 * const read = await readChallenge(await fetch(url));
 * if (read.ok) show(read.challenge.offers);
 */
export async function readChallenge(response: Response, limits: ChallengeLimits = {}): Promise<ReadChallenge> {
  const header = response.headers.get("PAYMENT-REQUIRED");
  if (header !== null) {
    // A small rest is taken in, so that the connection can serve the paid try; nobody waits for it.
    void drainBody(response);
    const decoded = decodeHeader(header, MAX_HEADER);
    if (decoded.ok) return toChallenge(decoded.value, "PAYMENT-REQUIRED");
    // Invariant: a broken header is not made up for by the body. Who can garble one of the two chooses between them.
    const reason = `PAYMENT-REQUIRED: ${decoded.problem}`;
    return decoded.code === "payment_header_too_large" ? tooLarge(reason) : invalid(reason);
  }
  if (Number(response.headers.get("Content-Length")) > MAX_BODY_BYTES) {
    cancelBody(response);
    return tooLarge(`the body has more than ${MAX_BODY_BYTES} bytes`);
  }
  const { timeoutMs = TIMEOUT_MS, signal } = limits;
  const body = await readBodyText(response, { maxBytes: MAX_BODY_BYTES, timeoutMs, signal });
  if (body.ok) return readBody(body.text);
  return body.problem === "large"
    ? tooLarge(`the body has more than ${MAX_BODY_BYTES} bytes`)
    : invalid(body.problem === "late" ? `the body did not come within ${timeoutMs} ms` : "the body broke off");
}

function readBody(text: string): ReadChallenge {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("there is no PAYMENT-REQUIRED header, and the body is not JSON");
  }
  const flaw = findFlaw(value);
  return flaw ? invalid(`the body's JSON ${flaw}`) : toChallenge(value, "the body");
}

/**
 * The version is the one that the object itself names, wherever it stands: sellers have been seen to put version 2 into the
 * body. Offers of two versions are never mixed.
 */
function toChallenge(value: unknown, place: string): ReadChallenge {
  if (!isRecord(value)) return invalid(`${place}: not a JSON object`);
  const { x402Version: version, accepts, error, extensions } = value;
  if (version !== 1 && version !== 2) return invalid(`${place}: x402Version is neither 1 nor 2`);
  if (!Array.isArray(accepts)) return invalid(`${place}: accepts is no list of offers`);
  if (accepts.length > MAX_OFFERS) {
    return tooLarge(`${place}: ${accepts.length} offers where at most ${MAX_OFFERS} are looked at`);
  }
  const offers: Offer[] = [];
  const unpayable: UnpayableOffer[] = [];
  for (const [index, given] of accepts.entries()) {
    const read = readOffer(version, index, given);
    if (read.ok) offers.push(read.offer);
    else unpayable.push({ index, reason: read.reason });
  }
  const challenge: Challenge = {
    version,
    offers,
    unpayable,
    // Optional members of v2 may be null, which means absent.
    resource: version === 2 ? (value.resource ?? undefined) : undefined,
    extensions: version === 2 && isRecord(extensions) ? extensions : undefined,
    error: toSellerWords(error),
    description: toSellerWords(describes(value.resource) ?? accepts.map(describes).find(Boolean)),
  };
  return { ok: true, challenge };
}

/** v2 describes the resource, v1 each offer. */
const describes = (value: unknown): unknown => (isRecord(value) ? value.description : undefined);
