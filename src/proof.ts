// Decodes, identifies and binds a proof. Equivalent encodings are one proof: everything is compared by decoded value,
// never by the header's bytes, and nothing a client echoes becomes a term of the sale.
import { checksumAddress } from "./address.js";
import type { ErrorCode, ErrorFacts } from "./errors.js";
import { sha256 } from "./hash.js";
import { networkFromWire } from "./networks.js";
import type { Identity } from "./receive/receiver.js";
import type { Eip3009Requirement, Requirement, SplRequirement, TransactionRequirement } from "./requirement.js";
import { decodeHeader } from "./wire/header.js";
import {
  type ExactEvmPayload,
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

interface Bound {
  /** Canonical identity: network, asset, payer, nonce; or network and transaction; hashed, so that it can be logged. */
  readonly id: string;
  /** Digest of the whole canonical signed proof, signature included. */
  readonly digest: string;
  /** Who pays, checksummed on EVM. */
  readonly payer: string;
  readonly version: 1 | 2;
  /** What its chain knows it by: the authorization's nonce, or the transaction's key. */
  readonly nonce: string;
  /** Unix seconds after which it can no longer be taken; for a transaction an upper bound. */
  readonly validBefore: number;
  /** The payload as the client sent it, for services that want it whole. */
  readonly payload: PaymentPayload;
}

/** A proof by a signed EIP-3009 authorization. */
export interface AuthorizationProof extends Bound {
  readonly kind: "authorization";
  /** Our own copy, never the client's echo. */
  readonly requirement: Eip3009Requirement;
  readonly authorization: Authorization;
  /** `0x` and lower-case hex, as long as it came. */
  readonly signature: `0x${string}`;
}

/** A proof by a transaction: one that waits for our fee payer's signature, or the buyer's own complete one. */
export interface TransactionProof extends Bound {
  readonly kind: "transaction";
  readonly requirement: SplRequirement | TransactionRequirement;
  /** The bytes, standard base64. */
  readonly transaction: string;
  /** `0x` and 64 lower-case hex digits; its SHA-256 is the reference in a transaction that is public already. */
  readonly secret: string | undefined;
}

/** A decoded proof that has been matched to one of our own offers. Nothing in it has been verified yet. */
export type BoundProof = AuthorizationProof | TransactionProof;

/** What was signed, normalised. */
export type Inner =
  | Pick<AuthorizationProof, "kind" | "authorization" | "signature">
  | {
      readonly kind: "transaction";
      /** Base64 of the bytes, or the id of a transaction that is on the chain. */
      readonly transaction: string;
      readonly secret: string | undefined;
    };

/** A proof as it came, read but not matched. */
export interface DecodedProof {
  readonly version: 1 | 2;
  /** The versions whose receipt the buyer expects: both when both headers came. */
  readonly versions: readonly (1 | 2)[];
  readonly payload: PaymentPayload;
  readonly inner: Inner;
  /** What lets the same buyer ask again. */
  readonly retryKey: string | undefined;
}

export interface Failure extends ErrorFacts {
  readonly ok: false;
  readonly code: ErrorCode;
}

/** A transaction that is on the chain already may be shown as a payment for so long. Source: design §6. */
export const MAX_TRANSACTION_AGE_MS = 15 * 60_000;

/** The key under which a v2 payload carries its retry key (protocol §8). */
export const PAYMENT_IDENTIFIER = "payment-identifier";
/** What a retry key is made of. */
export const RETRY_KEY = /^[a-zA-Z0-9_-]{16,128}$/;

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
      inner,
      retryKey: retryKey.key,
    },
  };
}

function readInner({ payload }: PaymentPayload): Inner {
  if (isAuthorization(payload)) {
    const { authorization, signature } = payload;
    return {
      kind: "authorization",
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
  const { transaction, secret } = payload;
  // Hex has two spellings, base64 and base58 have one.
  const spelled = transaction.startsWith("0x") ? hex(transaction) : transaction;
  return { kind: "transaction", transaction: spelled, secret: secret ? hex(secret) : undefined };
}

type SchemePayload = PaymentPayload["payload"];
const isAuthorization = (payload: SchemePayload): payload is ExactEvmPayload => "authorization" in payload;

const hex = (text: string) => text.toLowerCase() as `0x${string}`;

function canonical(inner: Inner): string {
  if (inner.kind === "transaction") return [inner.transaction, inner.secret ?? ""].join("|");
  const { authorization: a, signature } = inner;
  return [a.from, a.to, a.value, a.validAfter, a.validBefore, a.nonce, signature].join("|");
}

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
  { payload, inner }: DecodedProof,
  offers: readonly Requirement[],
): { readonly ok: true; readonly requirements: readonly [Requirement, ...Requirement[]] } | Failure {
  const named = payload.x402Version === 2 ? byAccepted(payload, offers) : byNetwork(payload, offers);
  if (!named.ok) return named;
  const [first, ...others] = named.requirements.filter(({ method }) => (method === "eip3009") === isSigned(inner));
  if (!first) {
    const wanted = isSigned(inner) ? "transaction" : "authorization";
    return mismatch("payload", wanted, inner.kind);
  }
  // What a transaction moves is read by whoever knows its chain.
  if (inner.kind === "transaction") return { ok: true, requirements: [first, ...others] };
  const { to, value } = inner.authorization;
  const [paid, ...more] = [first, ...others].filter(
    (offer) => offer.payTo.toLowerCase() === to && offer.amount === value,
  );
  if (paid) return { ok: true, requirements: [paid, ...more] };
  if (first.payTo.toLowerCase() !== to) {
    return { ok: false, code: "recipient_mismatch", expected: first.payTo, got: to };
  }
  return { ok: false, code: "amount_mismatch", expected: first.amount.toString(), got: value.toString() };
}

const isSigned = ({ kind }: Inner): boolean => kind === "authorization";

type Named = { readonly ok: true; readonly requirements: readonly Requirement[] } | Failure;

function byAccepted({ accepted }: PaymentPayloadV2, offers: readonly Requirement[]): Named {
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

function byNetwork(payload: PaymentPayloadV1, offers: readonly Requirement[]): Named {
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

/** Binds a signed authorization to one of its requirements and gives it its identity. */
export async function bindAuthorization(
  { version, payload, inner }: DecodedProof & { readonly inner: Inner & { readonly kind: "authorization" } },
  requirement: Eip3009Requirement,
): Promise<AuthorizationProof> {
  const { authorization, signature } = inner;
  const { from, nonce, validBefore } = authorization;
  const asset = requirement.asset.toLowerCase();
  const [id, digest] = await Promise.all([
    sha256(["id", requirement.network, asset, from, nonce].join("|")),
    sha256(["proof", requirement.network, asset, canonical(inner)].join("|")),
  ]);
  return {
    kind: "authorization",
    id,
    digest,
    payer: checksumAddress(from),
    version,
    nonce,
    validBefore: Number(validBefore),
    payload,
    requirement,
    authorization,
    signature,
  };
}

/** Binds a transaction whose receiver has read it. Neither asset nor requirement make its identity: it pays once. */
export async function bindTransaction(
  { version, payload, inner }: DecodedProof & { readonly inner: Inner & { readonly kind: "transaction" } },
  requirement: SplRequirement | TransactionRequirement,
  { key, canonical: signed, payer, transaction }: Identity,
  /** Unix seconds. */
  validBefore: number,
): Promise<TransactionProof> {
  const { network } = requirement;
  const [id, digest] = await Promise.all([
    sha256(["transaction", network, key].join("|")),
    // The secret is part of what was shown: who copies the public bytes has another digest.
    sha256(["transaction proof", network, signed, inner.secret ?? ""].join("|")),
  ]);
  const { secret } = inner;
  return {
    kind: "transaction",
    id,
    digest,
    payer,
    version,
    nonce: key,
    validBefore,
    payload,
    requirement,
    transaction,
    secret,
  };
}
