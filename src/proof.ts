// Decodes, identifies and binds a proof. Equivalent encodings are one proof: everything is compared by decoded value,
// never by the header's bytes, and nothing a client echoes becomes a term of the sale.
import { checksumAddress } from "./address.js";
import type { ErrorCode, ErrorFacts } from "./errors.js";
import { sha256 } from "./hash.js";
import { networkFromWire } from "./networks.js";
import type { Requirement } from "./requirement.js";
import { decodeHeader } from "./wire/header.js";
import {
  type PaymentPayload,
  type PaymentPayloadV1,
  type PaymentPayloadV2,
  parsePaymentPayload,
} from "./wire/payload.js";
import { matchesOffer } from "./wire/v2.js";

/** An EIP-3009 authorization as signed, normalised: lower-case hex, exact integers. Source: protocol §3.1. */
export interface Authorization {
  readonly from: `0x${string}`;
  readonly to: `0x${string}`;
  readonly value: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  /** Unix seconds. */
  readonly validBefore: bigint;
  readonly nonce: `0x${string}`;
}

/** A decoded proof that has been matched to one of our own offers. Nothing in it has been verified yet. */
export interface BoundProof {
  /** Canonical identity: network, asset, payer, nonce; hashed, so that it can be logged. */
  readonly id: string;
  /** Digest of the whole canonical signed proof, signature included. */
  readonly digest: string;
  /** `authorization.from`, checksummed. */
  readonly payer: string;
  readonly version: 1 | 2;
  /** Our own copy, never the client's echo. */
  readonly requirement: Requirement;
  readonly authorization: Authorization;
  /** `0x` and lower-case hex, as long as it came. */
  readonly signature: `0x${string}`;
  /** The payload as the client sent it, for services that want it whole. */
  readonly payload: PaymentPayload;
}

/** A proof as it came, read but not matched. */
export interface DecodedProof {
  readonly version: 1 | 2;
  /** The versions whose receipt the buyer expects: both when both headers came. */
  readonly versions: readonly (1 | 2)[];
  readonly payload: PaymentPayload;
  readonly authorization: Authorization;
  readonly signature: `0x${string}`;
  /** What lets the same buyer ask again. */
  readonly retryKey: string | undefined;
}

export interface Failure extends ErrorFacts {
  readonly ok: false;
  readonly code: ErrorCode;
}

/** The key under which a v2 payload carries its retry key (protocol §8). */
export const PAYMENT_IDENTIFIER = "payment-identifier";
const RETRY_KEY = /^[a-zA-Z0-9_-]{16,128}$/;

/** Reads the payment headers; both are fine when they carry the same proof. */
export function decodeProof(headers: {
  readonly v1: string | undefined;
  readonly v2: string | undefined;
  readonly idempotencyKey: string | undefined;
}): { readonly ok: true; readonly proof: DecodedProof } | Failure {
  const payloads: PaymentPayload[] = [];
  for (const [version, text] of [[2, headers.v2] as const, [1, headers.v1] as const]) {
    if (text === undefined) continue;
    const json = decodeHeader(text);
    if (!json.ok) return { ok: false, code: json.code, got: json.problem };
    const parsed = parsePaymentPayload(version, json.value);
    if (!parsed.ok) return { ok: false, code: parsed.code, got: parsed.problem };
    payloads.push(parsed.payload);
  }
  const [payload, twin] = payloads;
  if (!payload) return { ok: false, code: "payment_malformed", got: "no payment header" };
  const inner = readInner(payload);
  if (twin && canonical(inner) !== canonical(readInner(twin))) return { ok: false, code: "payment_headers_conflict" };
  const retryKey = readRetryKey(payload, headers.idempotencyKey);
  if (!retryKey.ok) return retryKey;
  return {
    ok: true,
    proof: {
      version: payload.x402Version,
      versions: twin ? [2, 1] : [payload.x402Version],
      payload,
      ...inner,
      retryKey: retryKey.key,
    },
  };
}

type Inner = Pick<BoundProof, "authorization" | "signature">;

function readInner({ payload: { authorization, signature } }: PaymentPayload): Inner {
  return {
    signature: hex(signature),
    authorization: {
      from: hex(authorization.from),
      to: hex(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: hex(authorization.nonce),
    },
  };
}

const hex = (text: string) => text.toLowerCase() as `0x${string}`;

const canonical = ({ authorization: a, signature }: Inner): string =>
  [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature].join("|");

function readRetryKey(
  payload: PaymentPayload,
  header: string | undefined,
): { readonly ok: true; readonly key: string | undefined } | Failure {
  const extensions = payload.x402Version === 2 ? payload.extensions : undefined;
  const identifier =
    extensions && Object.hasOwn(extensions, PAYMENT_IDENTIFIER) ? extensions[PAYMENT_IDENTIFIER] : null;
  const info = infoOf(identifier);
  // An echo without an id is a buyer that does not use the extension.
  const key = info && Object.hasOwn(info, "id") ? info.id : header;
  if (identifier && info?.required !== false) {
    return { ok: false, code: "extension_echo_mismatch", expected: `${PAYMENT_IDENTIFIER}.info.required: false` };
  }
  if (key === undefined) return { ok: true, key: undefined };
  if (typeof key !== "string" || !RETRY_KEY.test(key)) return { ok: false, code: "retry_key_invalid" };
  return { ok: true, key };
}

function infoOf(extension: unknown): Record<string, unknown> | undefined {
  const info = isObject(extension) ? extension.info : undefined;
  return isObject(info) ? info : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/**
 * The offers that a proof can be for, best first; more than one only for a v1 proof, which names no asset.
 * A mismatch names the field, what was expected and what came. Source: protocol §1.4, §2.4.
 */
export function matchOffers(
  proof: DecodedProof,
  offers: readonly Requirement[],
): { readonly ok: true; readonly requirements: readonly Requirement[] } | Failure {
  const named = proof.payload.x402Version === 2 ? byAccepted(proof.payload, offers) : byNetwork(proof.payload, offers);
  if (!named.ok) return named;
  const { to, value } = proof.authorization;
  const paid = named.requirements.filter((offer) => offer.payTo.toLowerCase() === to && offer.amount === value);
  if (paid.length > 0) return { ok: true, requirements: paid };
  const [offer] = named.requirements as [Requirement];
  if (offer.payTo.toLowerCase() !== to) {
    return { ok: false, code: "recipient_mismatch", expected: offer.payTo, got: to };
  }
  return { ok: false, code: "amount_mismatch", expected: offer.amount.toString(), got: value.toString() };
}

type Matched = ReturnType<typeof matchOffers>;

function byAccepted({ accepted }: PaymentPayloadV2, offers: readonly Requirement[]): Matched {
  let nearest: { field: string; expected: string; got: string } | undefined;
  for (const offer of offers) {
    const match = matchesOffer(accepted, offer);
    if (match.ok) return { ok: true, requirements: [offer] };
    // The offer that agrees in network and asset is the one the buyer meant.
    if (!nearest || (offer.network === accepted.network && match.field !== "asset")) nearest = match;
  }
  if (accepted.scheme !== "exact")
    return { ok: false, code: "unsupported_scheme", expected: "exact", got: accepted.scheme };
  return mismatch(nearest?.field ?? "accepted", nearest?.expected ?? "", nearest?.got ?? "");
}

function byNetwork(payload: PaymentPayloadV1, offers: readonly Requirement[]): Matched {
  if (payload.scheme !== "exact") {
    return { ok: false, code: "unsupported_scheme", expected: "exact", got: payload.scheme };
  }
  const id = networkFromWire(1, payload.network)?.id;
  const requirements = offers.filter((offer) => offer.network === id);
  if (requirements.length > 0) return { ok: true, requirements };
  return mismatch("network", [...new Set(offers.map((offer) => offer.network))].join(" or "), payload.network);
}

const mismatch = (field: string, expected: string, got: string): Failure => ({
  ok: false,
  code: "offer_mismatch",
  expected: `${field} ${expected}`,
  got: `${field} ${got}`.slice(0, 300),
});

/** Binds a proof to one of its requirements and gives it its identity. */
export async function bindProof(proof: DecodedProof, requirement: Requirement): Promise<BoundProof> {
  const { version, authorization, signature, payload } = proof;
  const asset = requirement.asset.toLowerCase();
  const [id, digest] = await Promise.all([
    sha256(["id", requirement.network, asset, authorization.from, authorization.nonce].join("|")),
    sha256(["proof", requirement.network, asset, canonical(proof)].join("|")),
  ]);
  const payer = checksumAddress(authorization.from);
  return { id, digest, payer, version, requirement, authorization, signature, payload };
}
