// One payment in SOL against its offer and the chain as it is now: the static rules, the secret of what is public, and then
// either what became of the transaction or what would become of it. Used for verification and again before settlement.
import { MAX_TRANSACTION_AGE_MS, type TransactionProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import { NATIVE, type TransactionRequirement } from "../../requirement.js";
import type { SolanaChain } from "./chain.js";
import { toVerification } from "./codes.js";
import { explainNative } from "./native-explain.js";
import { opens } from "./native-reference.js";
import { type NativeState, readNativeState } from "./native-state.js";
import { type NativeTransfer, verifyNativeStatic } from "./native-static.js";
import { invalid, unavailable } from "./native-verdicts.js";
import { printError } from "./print.js";
import { refused } from "./reasons.js";
import type { RpcOptions } from "./rpc.js";
import { readTrouble, simulate } from "./simulate.js";

/** The buyer's own transfer, bound to its requirement. */
export type NativeProof = TransactionProof & { readonly requirement: TransactionRequirement };

export type NativeJudgement =
  /** No node asked knows it, and it would succeed now. `slot`: how far the chain was. */
  | {
      readonly outcome: "new";
      readonly transfer: NativeTransfer;
      /** Lamports that the payer can spend beside the network fee. */
      readonly balance: bigint;
      readonly slot: number;
    }
  /** It is on the chain and has not failed there for good, and whoever shows it is its maker. `slot`: of its block. */
  | {
      readonly outcome: "public";
      readonly transfer: NativeTransfer;
      readonly level: "processed" | "confirmed" | "finalized";
      readonly minedAt: number;
      readonly slot: number;
    }
  | Refusal;

type Refusal = Extract<Verification, { outcome: "invalid" | "unavailable" }>;

/** A payment whose bytes keep the rules, and whether it was shown to be its maker's. */
export interface ReadNative {
  readonly ok: true;
  readonly transfer: NativeTransfer;
  readonly isMaker: boolean;
}

/** Everything that needs no call. Never rejects. */
export async function readNative(
  chain: Pick<SolanaChain, "network">,
  { requirement, transaction, secret, version }: NativeProof,
): Promise<ReadNative | { readonly ok: false; readonly verdict: Refusal }> {
  const refuse = (verdict: Refusal) => ({ ok: false, verdict }) as const;
  if (requirement.network !== chain.network || requirement.asset !== NATIVE) {
    const got = `${requirement.asset} on ${requirement.network}`;
    return refuse(unavailable("misconfigured", `expected SOL on ${chain.network}, got ${got}`));
  }
  const transfer = await verifyNativeStatic(transaction, requirement);
  if (!transfer.ok) return refuse(toVerification(transfer, version));
  const isMaker = await opens(secret, transfer.references);
  // Invariant: who made a reference keeps its secret, so what carries one is nobody else's even while our node, which may
  // lag behind a thief's, does not know it yet.
  if (transfer.references.length > 0 && !isMaker) return refuse(notItsMaker({ version, secret }, transfer));
  return { ok: true, transfer, isMaker };
}

/** Judges a payment that was read. Never rejects. */
export async function judgeNative(
  chain: SolanaChain,
  proof: NativeProof,
  { transfer, isMaker }: ReadNative,
  options: RpcOptions,
): Promise<NativeJudgement> {
  const state = await readNativeState(chain, transfer, options);
  if (state.known !== "not") return judgePublic(chain, proof, transfer, { state, isMaker });
  return judgeNew(chain, proof, transfer, { isMaker, options });
}

/** Nobody has seen it: would it succeed? */
async function judgeNew(
  chain: SolanaChain,
  proof: NativeProof,
  transfer: NativeTransfer,
  { isMaker, options }: { readonly isMaker: boolean; readonly options: RpcOptions },
): Promise<NativeJudgement> {
  const simulation = await simulate(chain.rpc, proof.transaction, {
    ...options,
    sigVerify: true,
    watch: [transfer.payer],
  });
  if (!simulation.ok) return unavailable(simulation.code, simulation.message);
  const { error, accounts, slot } = simulation;
  const trouble = error === null ? undefined : readTrouble(error);
  if (trouble?.kind !== "used" && trouble?.kind !== "blockhash") {
    const { amount } = proof.requirement;
    if (transfer.lamports !== amount) {
      // Ours to send only where it is the price: what is more, its buyer may make public himself.
      return toVerification(refused("amount_mismatch", String(amount), String(transfer.lamports)), proof.version);
    }
    if (trouble) return explainNative(chain.rpc, proof, transfer, { error, trouble, options });
    return { outcome: "new", transfer, balance: (accounts[0]?.lamports ?? 0n) + transfer.lamports, slot };
  }
  // It may have landed since, or the node that knew nothing was behind.
  const state = await readNativeState(chain, transfer, options);
  if (state.known !== "not") return judgePublic(chain, proof, transfer, { state, isMaker });
  if (trouble.kind === "blockhash") return invalid(proof, "payment_expired", EXPIRED);
  return isMaker
    ? unavailable("payment_not_seen", "the chain has run this message, and the node does not show its status")
    : notItsMaker(proof, transfer);
}

const EXPIRED = { expected: "a recent blockhash", got: "one that the chain does not take (any more)" };

type Known = { readonly state: Exclude<NativeState, { known: "not" }>; readonly isMaker: boolean };

/** Everybody can copy it, so its maker must show who he is; and it may not be older than what is remembered. */
function judgePublic(
  chain: SolanaChain,
  proof: NativeProof,
  transfer: NativeTransfer,
  { state, isMaker }: Known,
): NativeJudgement {
  if (state.known === "unreadable") return unavailable(state.code, state.message);
  if (state.known === "mined" && state.error !== null) {
    const facts = { expected: "a transaction that succeeded", got: `failed on the chain: ${printError(state.error)}` };
    return invalid(proof, "payment_rejected", facts);
  }
  if (!isMaker) return notItsMaker(proof, transfer);
  const { minedAt, slot } = state;
  const oldest = chain.now() - MAX_TRANSACTION_AGE_MS;
  if (minedAt < oldest) {
    const [expected, got] = [oldest, Math.max(0, minedAt)].map((time) => new Date(time).toISOString());
    return invalid(proof, "payment_too_old", { expected: `mined after ${expected}`, got: `mined at ${got}` });
  }
  if (!transfer.sufficient) {
    // Its money has moved: no new bill, which would charge its maker twice.
    const facts = { expected: `at least ${proof.requirement.amount}`, got: `${transfer.lamports}` };
    return invalid(proof, "payment_too_low", facts);
  }
  const level = state.known === "mined" ? state.level : "processed";
  return { outcome: "public", transfer, level, minedAt, slot };
}

function notItsMaker(proof: Pick<NativeProof, "version" | "secret">, { references }: NativeTransfer): Refusal {
  if (references.length === 0) {
    return invalid(proof, "payment_unreferenced", {
      expected: "a memo with the SHA-256 of the secret, signed with the transfer",
      got: "none",
    });
  }
  const expected = `the secret whose SHA-256 is ${references.join(" or ")}`;
  return invalid(proof, "payment_secret_required", {
    expected,
    got: proof.secret === undefined ? "none" : "another one",
  });
}
