// One token payment against its offer and the chain as it is now: the static rules first, then one simulation, and where
// that fails a look at both accounts to say whose fault it is. Used for verification and again before settlement.
import type { ErrorCode } from "../../errors.js";
import type { TransactionProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import type { SplRequirement } from "../../requirement.js";
import { readAccounts, readTokenAccount, type TokenAccount } from "./accounts.js";
import { encodeBase58 } from "./base58.js";
import type { SolanaChain } from "./chain.js";
import { toVerification } from "./codes.js";
import { needsOf } from "./gas.js";
import { printError } from "./print.js";
import { programAddress } from "./programs.js";
import { refused } from "./reasons.js";
import type { RpcOptions } from "./rpc.js";
import type { SolanaAccount } from "./settlers.js";
import { readTrouble, simulate } from "./simulate.js";
import type { StaticTerms } from "./terms.js";
import { decodeTransaction } from "./transaction.js";
import { type Verified, verifyStatic } from "./verify-static.js";

/** A token payment, bound to its requirement. */
export type SplProof = TransactionProof & { readonly requirement: SplRequirement };

export type Judgement =
  | {
      readonly outcome: "good";
      readonly verified: Verified;
      /** The one of ours whose signature is missing. */
      readonly settler: SolanaAccount;
      /** What the paying account holds now. */
      readonly balance: bigint;
      /** How far the chain was: the payment is in no block up to here. */
      readonly slot: number;
    }
  /** `used`: the chain knows the message already; only a settlement with our signature can have brought it there. */
  | Exclude<Verification, { outcome: "valid" }>;

/** Words of the protocol for what a simulation finds: v2's and v1's. Source: protocol §4.7. */
const FAILED = "invalid_exact_svm_transaction_simulation_failed";
const V1 = "invalid_exact_svm_payload_transaction";
const WORDS = {
  simulation_failed: [FAILED, `${V1}_simulation_failed`],
  payment_expired: [FAILED, "settle_exact_svm_block_height_exceeded"],
  insufficient_funds: ["insufficient_funds", "insufficient_funds"],
  payment_rejected: ["invalid_exact_svm_payload_source_not_owned", V1],
} as const;

/** What judging takes of a chain: a gateway judges for fee payers whose keys it does not have. */
export type JudgingChain = Omit<SolanaChain, "statuses" | "failures">;

/** Judges a payment. Never rejects. */
export async function judge(chain: JudgingChain, proof: SplProof, options: RpcOptions): Promise<Judgement> {
  const { requirement, transaction, version } = proof;
  const { feePayer, tokenProgram = programAddress("token") } = requirement.extra;
  if (!chain.settlers.has(feePayer)) {
    return unavailable("misconfigured", `the offer's fee payer ${feePayer} is none of the settlers`);
  }
  const verified = await verifyStatic(transaction, termsOf(chain, requirement, transaction));
  if (!verified.ok) return toVerification(verified, version);
  if (verified.tokenProgram !== tokenProgram) {
    return toVerification(refused("no_transfer", tokenProgram, verified.tokenProgram), version);
  }
  const settler = chain.settlers.get(encodeBase58(verified.transaction.keys[0]!));
  if (!settler) return unavailable("internal_error", "the fee payer was verified and is not ours");

  const { source, destination } = verified;
  const simulation = await simulate(chain.rpc, transaction, {
    ...options,
    sigVerify: false,
    watch: [source, destination],
  });
  if (!simulation.ok) return unavailable(simulation.code, simulation.message);
  if (simulation.error !== null) return explain(chain, proof, verified, simulation.error, options);
  const [paying, paid] = simulation.accounts.map((account) => account && readTokenAccount(account));
  if (!paying || !paid) return unavailable("receiver_bad_response", "the simulated token accounts cannot be read");
  const lent = judgeOwner(proof, verified, paying);
  if (lent) return lent;
  if (paid.withheld > 0n && !chain.allowed.get(requirement.asset)?.includes("transfer-fee")) {
    return unavailable(
      "misconfigured",
      `${requirement.asset} keeps back a fee: the seller would get less than the price`,
    );
  }
  return { outcome: "good", verified, settler, balance: paying.amount + verified.amount, slot: simulation.slot };
}

/** The offer names one fee payer; a payment that names another one of ours is as good (protocol §9.25). */
function termsOf({ settlers, caps, network }: JudgingChain, requirement: SplRequirement, wire: string): StaticTerms {
  const decoded = decodeTransaction(wire);
  const first = decoded.ok && decoded.transaction.keys[0];
  const named = first ? encodeBase58(first) : "";
  return {
    network,
    mint: requirement.asset,
    payTo: requirement.payTo,
    amount: requirement.amount,
    feePayer: settlers.has(named) ? named : requirement.extra.feePayer,
    ourSigners: [...settlers.keys()],
    ...(requirement.extra.memo !== undefined && { memo: requirement.extra.memo }),
    ...caps,
  };
}

/** Why the chain would refuse it. Whatever only the seller can mend is no verdict on the payment. */
async function explain(
  chain: JudgingChain,
  proof: SplProof,
  { source, destination, amount, transaction }: Verified,
  error: unknown,
  options: RpcOptions,
): Promise<Judgement> {
  const trouble = readTrouble(error);
  if (trouble.kind === "used") return { outcome: "used" };
  if (trouble.kind === "blockhash") {
    return invalid(proof, "payment_expired", {
      expected: "a recent blockhash",
      got: "one that the chain does not take (any more)",
    });
  }
  if (trouble.kind === "fee" || (trouble.kind === "rent" && trouble.account === 0)) {
    const settler = encodeBase58(transaction.keys[0]!);
    await reportPoverty(chain, settler, options);
    return unavailable("settlement_unavailable", `the settler ${settler} has not enough SOL`);
  }
  const accounts = await readAccounts(chain.rpc, [source, destination], options);
  if (!accounts.ok) return unavailable(accounts.code, accounts.message);
  const [paying, paid] = accounts.accounts.map((account) => account && readTokenAccount(account));
  if (!paid || paid.frozen) {
    const message = `the seller's token account ${destination} ${paid ? "is frozen" : "does not exist"}`;
    chain.logger?.error("token payments cannot be received", { network: chain.network, message });
    return unavailable("misconfigured", message);
  }
  if (!paying) {
    const facts = { expected: `${amount} in ${source}`, got: "no such token account" };
    return invalid(proof, "insufficient_funds", facts, `${V1}_sender_ata_not_found`);
  }
  if (paying.amount < amount) {
    return invalid(proof, "insufficient_funds", { expected: `${amount}`, got: `${paying.amount}` });
  }
  return invalid(proof, "simulation_failed", { expected: "a transaction that succeeds", got: printError(error) });
}

/**
 * The money is the payer's own. Delegates of one account are as many as its owner likes and gone as soon as he likes, so no
 * limit on what a payer may cost would ever count them (faults A35).
 */
function judgeOwner(proof: SplProof, { payer, source }: Verified, { owner }: TokenAccount): Judgement | undefined {
  if (owner === payer) return undefined;
  const facts = { expected: `an account of ${payer}, who signs`, got: `${source}, which is ${owner}'s` };
  return invalid(proof, "payment_rejected", facts);
}

function invalid(
  { version }: SplProof,
  code: keyof typeof WORDS,
  facts: { readonly expected: string; readonly got: string },
  v1?: string,
): Judgement {
  const reason = (version === 1 && v1) || WORDS[code][version === 2 ? 0 : 1];
  return { outcome: "invalid", code, reason, ...facts };
}

/** A fee payer is pinned in the message: nobody else can settle in its place. */
async function reportPoverty(chain: JudgingChain, settler: string, options: RpcOptions) {
  const { rpc, logger, network, caps, gas } = chain;
  const read = await readAccounts(rpc, [settler], options);
  const lamports = read.ok ? (read.accounts[0]?.lamports ?? 0n) : undefined;
  if (lamports !== undefined) gas?.seen({ network, settler }, lamports, needsOf(caps));
  const balance = `${lamports ?? "unknown"}`;
  logger?.error("a settler has not enough SOL for the network fee (lamports): send it some", {
    network,
    settler,
    balance,
  });
}

const unavailable = (code: ErrorCode, message: string): Judgement => ({ outcome: "unavailable", code, message });
