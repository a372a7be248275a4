// What the `facilitator` receiver judges of a token payment on Solana in this process, in either mode: every rule that needs
// no chain. It costs no call, and a facilitator that looks at less cannot make us serve for a payment that is none.
// The chain code is loaded on first use only.
import type { SplProof } from "../chains/solana/judge.js";
import type { StaticTerms } from "../chains/solana/terms.js";
import { findNetwork } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { TransactionPayload } from "../wire/payload.js";
import type { FeePayers } from "./facilitator-fee-payers.js";
import { loadOnce } from "./load-once.js";
import type { Identified, Verification } from "./receiver.js";

export const isSpl = (proof: BoundProof): proof is SplProof => proof.requirement.method === "spl";

/**
 * What the fee payer may lose is the facilitator's own business and under caps of its own, so only the protocol's limits hold
 * here: its highest unit price, the chain's most units, and what the two come to.
 */
const CAPS = Object.freeze({
  maxComputeUnits: 1_400_000,
  maxUnitPrice: 5_000_000n,
  maxTotalFeeLamports: 7_010_000n,
}) satisfies Partial<StaticTerms>;

const loadSolana = loadOnce(async () => {
  const [base58, codes, identity, programs, reasons, transaction, verifyStatic] = await Promise.all([
    import("../chains/solana/base58.js"),
    import("../chains/solana/codes.js"),
    import("../chains/solana/identity.js"),
    import("../chains/solana/programs.js"),
    import("../chains/solana/reasons.js"),
    import("../chains/solana/transaction.js"),
    import("../chains/solana/verify-static.js"),
  ]);
  return { ...base58, ...codes, ...identity, ...programs, ...reasons, ...transaction, ...verifyStatic };
});

/** What a transaction is known by. Facilitators take no mere id of one, and no transaction on EVM. */
export async function identify(payload: TransactionPayload, network: string): Promise<Identified> {
  if (findNetwork(network)?.family !== "solana") {
    return { ok: false, code: "unsupported_scheme", expected: "a signed authorization", got: "a transaction" };
  }
  const { identifyTransaction } = await loadSolana();
  return identifyTransaction(payload);
}

/** Who signs slot 0 by the transaction itself, whatever was offered; undefined where it cannot be read. */
export async function namedFeePayer({ transaction }: SplProof): Promise<string | undefined> {
  const { decodeTransaction, encodeBase58 } = await loadSolana();
  const decoded = decodeTransaction(transaction);
  const [first] = decoded.ok ? decoded.transaction.keys : [];
  return first && encodeBase58(first);
}

/** The same proof for the same offer of another fee payer. */
export function withFeePayer(proof: SplProof, feePayer: string): SplProof {
  const { requirement } = proof;
  if (feePayer === requirement.extra.feePayer) return proof;
  return { ...proof, requirement: { ...requirement, extra: { ...requirement.extra, feePayer } } };
}

/** The proof with the fee payer that its own transaction names, where the facilitator lists it: any of its keys will do. */
export async function withOwnFeePayer(proof: SplProof, feePayers: FeePayers): Promise<SplProof> {
  const named = await namedFeePayer(proof);
  if (named === undefined) return proof;
  if (!feePayers.listed(proof.requirement.network).includes(named)) return proof;
  return withFeePayer(proof, named);
}

/** The static rules of protocol §4.3. `valid` says nothing about the chain: not the balance, not the blockhash. */
export async function checkStatically(proof: SplProof, feePayers: FeePayers): Promise<Verification> {
  const { programAddress, refused, toVerification, verifyStatic } = await loadSolana();
  const { network, asset: mint, payTo, amount, extra } = proof.requirement;
  const { feePayer, tokenProgram = programAddress("token") } = extra;
  const terms = { ...CAPS, network, mint, payTo, amount, feePayer, ourSigners: feePayers.listed(network) };
  const verdict = await verifyStatic(proof.transaction, terms);
  if (!verdict.ok) return toVerification(verdict, proof.version);
  if (verdict.tokenProgram === tokenProgram) return { outcome: "valid", payer: verdict.payer };
  return toVerification(refused("no_transfer", tokenProgram, verdict.tokenProgram), proof.version);
}
