// What a Solana payment must be, and the same read into bytes. Terms come from the seller's side; where a member is missing
// or no address, nothing is verified and nobody is served (faults A24).
import { findNetwork } from "../../networks.js";
import { decodeAddress } from "./base58.js";
import { type Refused, refused } from "./reasons.js";

export interface StaticTerms {
  /** Canonical CAIP-2 id of a known cluster. */
  readonly network: string;
  /** The offer's `asset`. */
  readonly mint: string;
  /** The owner of the account that must receive the money; not that account. */
  readonly payTo: string;
  readonly amount: bigint;
  /** The offer's `extra.feePayer`. */
  readonly feePayer: string;
  /** Every key that signs for the seller: none of them may lose tokens. */
  readonly ourSigners: readonly string[];
  /** The offer's `extra.memo`: with it, exactly one Memo with these bytes. */
  readonly memo?: string;
  readonly maxComputeUnits: number;
  /** Micro-lamports a unit. */
  readonly maxUnitPrice: bigint;
  /** Signatures and priority together. */
  readonly maxTotalFeeLamports: bigint;
}

/** The caps of protocol §4.3, to be spread into terms. */
export const DEFAULT_CAPS = Object.freeze({
  maxComputeUnits: 200_000,
  maxUnitPrice: 5_000_000n,
  maxTotalFeeLamports: 20_000n,
}) satisfies Partial<StaticTerms>;

/** The keys of ours that are compared with a transaction's. */
export interface TermKeys {
  readonly feePayer: Uint8Array;
  readonly signers: readonly Uint8Array[];
}

/** The keys in the terms, or the first thing that makes them unusable. Steps 1 and 2 of protocol §4.3. */
export function readTerms(terms: StaticTerms): Refused | (TermKeys & { readonly ok: true }) {
  const network = findNetwork(terms.network);
  if (network?.family !== "solana" || network.id !== terms.network) {
    return refused("network_mismatch", "the id of a known Solana cluster", String(terms.network));
  }
  if (!terms.feePayer) return refused("missing_fee_payer");
  const feePayer = decodeAddress(terms.feePayer);
  if (!feePayer) return refused("invalid_fee_payer", "a base58 key", String(terms.feePayer));
  const signers = (terms.ourSigners ?? []).map(decodeAddress);
  if (!terms.ourSigners?.includes(terms.feePayer)) return refused("fee_payer_not_ours", undefined, terms.feePayer);

  const known = signers.filter((signer) => signer !== undefined);
  const problem = findProblem(terms, known.length === signers.length);
  if (problem !== undefined) return refused("verification_failed", "complete terms", problem);
  return { ok: true, feePayer, signers: known };
}

/** What the type promises and a caller without types may break: each would turn a comparison into a constant. */
function findProblem(terms: StaticTerms, signersRead: boolean): string | undefined {
  if (!signersRead || !decodeAddress(terms.payTo) || !decodeAddress(terms.mint))
    return "mint, payTo and ourSigners must be base58 keys";
  if (typeof terms.amount !== "bigint" || terms.amount <= 0n) return "amount must be a bigint above 0";
  if (!Number.isSafeInteger(terms.maxComputeUnits)) return "maxComputeUnits must be an integer";
  if (typeof terms.maxUnitPrice !== "bigint") return "maxUnitPrice must be a bigint";
  if (typeof terms.maxTotalFeeLamports !== "bigint") return "maxTotalFeeLamports must be a bigint";
  if (terms.memo !== undefined && typeof terms.memo !== "string") return "memo must be text";
  return undefined;
}
