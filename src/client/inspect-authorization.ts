// An EIP-3009 authorization, member by member, against the offer. Source: protocol §3.1.
import { type Backend, loadBackend } from "../chains/evm/backend.js";
import type { Hex } from "../chains/evm/hex.js";
import { isSignedBy, readSignature } from "../chains/evm/signature.js";
import { describeIssue } from "../wire/issue.js";
import { type ExactEvmPayload, exactEvmPayload } from "../wire/payload.js";
import type { SignedFacts } from "./inspect.js";
import type { Offer } from "./offer.js";

const MEMBERS = ["from", "to", "value", "validAfter", "validBefore", "nonce"];

export async function findAuthorizationMismatch(
  offer: Offer,
  payload: object,
  { payer, expiresAt, validUntil, now }: Required<SignedFacts>,
): Promise<string | undefined> {
  const parsed = exactEvmPayload.safeParse(payload);
  if (!parsed.success) return describeIssue(parsed.error);
  const { authorization } = parsed.data;
  const { from, to, value, validAfter, validBefore } = authorization;
  const more = Object.keys(authorization).find((name) => !MEMBERS.includes(name));
  if (more !== undefined) return `the authorization has a member ${more.slice(0, 40)} that nobody signs`;
  if (!isSame(from, payer)) return differs("from", payer, from);
  if (!isSame(to, offer.payTo)) return differs("to", offer.payTo, to);
  // Invariant: exactly the price. More is not owed, and less is refused by the seller.
  if (value !== offer.amount.toString()) return differs("value", offer.amount.toString(), value);
  const ends = BigInt(validBefore) * 1000n;
  // Invariant: the proof dies no later than it was asked to, and no later than the budget will believe.
  if (ends > BigInt(Math.floor(validUntil)))
    return differs("validBefore", `at most ${inSeconds(validUntil)}`, validBefore);
  if (ends > BigInt(Math.floor(expiresAt)))
    return differs("validBefore", `at most ${inSeconds(expiresAt)}, as the wallet says`, validBefore);
  if (BigInt(validAfter) > inSeconds(now)) return differs("validAfter", `at most ${inSeconds(now)}`, validAfter);
  return findForeignSignature(offer, parsed.data);
}

/**
 * Whether the payer's own key signed it, for this token on this chain. That is known of plain signatures only: a contract wallet
 * answers for its own on the chain. Without an implementation of secp256k1 nothing is known, and nothing is refused.
 */
async function findForeignSignature(
  { network, asset, token, extra }: Offer,
  { signature, authorization }: ExactEvmPayload,
): Promise<string | undefined> {
  const form = readSignature(signature as Hex);
  const backend = form.form === "ecdsa" ? await loadBackend().catch((): Backend | undefined => undefined) : undefined;
  if (!backend) return undefined;
  const { name, version } = token?.domain ?? extra;
  if (typeof name !== "string" || typeof version !== "string" || network.chainId === undefined) {
    return "the token has no domain";
  }
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const fields = {
    from: from.toLowerCase() as Hex,
    to: to.toLowerCase() as Hex,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: nonce.toLowerCase() as Hex,
  };
  const signed = await isSignedBy(backend, { name, version, chainId: network.chainId, asset }, fields, form);
  return signed ? undefined : `the signature is not ${from}'s over this authorization of ${asset} on ${network.name}`;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const inSeconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));
const differs = (member: string, expected: string, got: string) => `${member}: expected ${expected}, got ${got}`;
