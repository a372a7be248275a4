// Real Solana proofs for tests of receivers: built by web3.js, signed by the test buyer, decoded, matched, identified and
// bound by the paywall's own code.
import { createHash } from "node:crypto";
import { PublicKey, type TransactionInstruction } from "@solana/web3.js";
import { isTransaction } from "../../src/identify.js";
import { bindTransaction, decodeProof, matchOffers, type TransactionProof } from "../../src/proof.js";
import type { Receiver } from "../../src/receive/receiver.js";
import type { SplRequirement } from "../../src/requirement.js";
import { encodeHeader } from "../../src/wire/header.js";
import { toOfferV2 } from "../../src/wire/v2.js";
import { CLIENTS, compile, encode, FEE_PAYER, limit, memo, price, TERMS, transfer } from "../chains/solana/payment.js";

export const DEVNET = TERMS.network;

export const SPL_REQUIREMENT: SplRequirement = {
  scheme: "exact",
  method: "spl",
  network: DEVNET,
  asset: TERMS.mint,
  amount: TERMS.amount,
  payTo: TERMS.payTo,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER.key.toBase58(), decimals: 6 },
};

/** An address that nobody holds, always the same one for a label. */
export const addressOf = (label: string): string =>
  new PublicKey(createHash("sha256").update(`address ${label}`).digest()).toBase58();

let payments = 0;

export interface SplOptions {
  readonly version?: 1 | 2;
  readonly requirement?: SplRequirement;
  /** Who is to pay the network fee; absent = the requirement's. */
  readonly feePayer?: string;
  /** In place of limit, price, transfer and a memo that no other proof has. */
  readonly instructions?: TransactionInstruction[];
  /** The payload's transaction as it stands, in place of all of that. */
  readonly transaction?: string;
}

/** What its buyer sends, base64. */
export function splTransaction({ version = 2, requirement = SPL_REQUIREMENT, ...given }: SplOptions = {}): string {
  const { feePayer = requirement.extra.feePayer } = given;
  payments += 1;
  // A v1 buyer writes no memo, so its limit makes the payment its own.
  const unlike = version === 1 ? CLIENTS.ts1!().slice(1) : [price(1n), transfer(), memo(`payment ${payments}`)];
  const instructions = given.instructions ?? [limit(20_000 + payments), ...unlike];
  return encode(compile(instructions, { feePayer: new PublicKey(feePayer) }));
}

/** A proof for the requirement, another one each time. */
export async function makeSplProof(receiver: Receiver, options: SplOptions = {}): Promise<TransactionProof> {
  const { version = 2, requirement = SPL_REQUIREMENT } = options;
  const payload = { transaction: options.transaction ?? splTransaction(options) };
  const v1 = { x402Version: 1, scheme: "exact", network: "solana-devnet", payload };
  const v2 = { x402Version: 2, accepted: toOfferV2(requirement), payload };
  const header = encodeHeader(version === 1 ? v1 : v2);
  const decoded = decodeProof({
    v1: version === 1 ? header : undefined,
    v2: version === 2 ? header : undefined,
    idempotencyKey: undefined,
  });
  if (!decoded.ok || !isTransaction(decoded.proof)) throw new Error("the proof of the test cannot be read");
  const matched = matchOffers(decoded.proof, [requirement]);
  if (!matched.ok) throw new Error(`the proof of the test has no offer: ${matched.got}`);
  const identity = await receiver.identify?.(payload, requirement.network, AbortSignal.timeout(5_000));
  if (!identity?.ok) throw new Error(`the proof of the test has no identity: ${identity?.code}`);
  return bindTransaction(decoded.proof, requirement, identity, Math.ceil(Date.now() / 1000) + 900);
}

/** What a facilitator lists that serves the requirement, in both versions. */
export const SOLANA_KINDS = [
  { x402Version: 2, scheme: "exact", network: DEVNET, extra: { feePayer: SPL_REQUIREMENT.extra.feePayer } },
  { x402Version: 1, scheme: "exact", network: "solana-devnet", extra: { feePayer: SPL_REQUIREMENT.extra.feePayer } },
] as const;
