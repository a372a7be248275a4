// Judges one proof against the seller's requirement and the chain. The single entry of verification: fields and signature
// in this process, then one JSON-RPC batch with the exact settlement simulated. It changes nothing anywhere.
// Source: protocol §3.2. The fields come before the signature, because they cost no call (faults F27).
import type { AuthorizationProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import type { Block } from "./answers.js";
import { loadBackend } from "./backend.js";
import type { PayerKind, SettlementCall } from "./calldata.js";
import { domainOf, type EvmChain, lower } from "./chain.js";
import type { Hex } from "./hex.js";
import { probe, type Seen } from "./probe.js";
import type { RpcAnswer, RpcCall } from "./rpc.js";
import { isSignedBy, readSignature, type SignatureForm } from "./signature.js";
import { type Invalid, invalid, unavailable } from "./verdicts.js";

export interface JudgeOptions {
  /** Who will send the settlement: it is simulated from this address. */
  readonly settler: Hex;
  /** Skips the ECDSA, and nothing else. */
  readonly signatureKnown: boolean;
  readonly signal?: AbortSignal;
  readonly deadlineAt?: number;
  /** Asked in the same batch. */
  readonly extra?: readonly RpcCall[];
}

/** A verdict whose reason is always worded. */
export type JudgedProof = Exclude<Verification, { outcome: "invalid" }> | Invalid;

/** A verdict, and what the settlement needs where it is good. */
export interface Judgement {
  readonly verdict: JudgedProof;
  readonly call?: SettlementCall;
  readonly head?: Block;
  /** Answers to `extra`, in order. */
  readonly extra?: readonly RpcAnswer[];
}

/** What judging takes of a chain: a gateway judges for settlers whose keys it does not have. */
export type JudgingChain = Pick<EvmChain, "network" | "chainId" | "rpc" | "factories" | "now">;

/** Judges a proof with one batch; a second one only where the first guess about the payer's account was wrong. */
export async function judge(chain: JudgingChain, proof: AuthorizationProof, options: JudgeOptions): Promise<Judgement> {
  const refused = judgeFields(chain, proof);
  if (refused) return { verdict: refused };
  const form = readSignature(proof.signature);
  const signed = options.signatureKnown ? form.form === "ecdsa" : await isSignedByKey(chain, proof, form);

  // A 65-byte signature by the payer's own key is most likely a plain account's, any other a contract's.
  const deployable = form.form === "wrapped" && chain.factories.has(lower(form.factory));
  let kind: PayerKind = signed ? "eoa" : deployable ? "counterfactual" : "contract";
  let tag: "latest" | "pending" = "latest";
  for (let round = 1; ; round++) {
    const seen = await probe(chain.rpc, { proof, form, kind, tag, chainId: chain.chainId, ...options });
    if (!seen.ok) return { verdict: seen.verdict };
    const actual = kindOf(seen.code, form, signed, deployable);
    if (typeof actual !== "string") return { verdict: invalid(proof, actual.code, actual.facts) };
    if (actual !== kind) {
      if (round === 3)
        return { verdict: unavailable("receiver_bad_response", "the payer's code changes between calls") };
      kind = actual;
      continue;
    }
    const verdict = judgeState(chain, proof, actual, seen);
    // The latest block of a chain that mines on demand may be old: "not yet" is then asked again of the pending block.
    const early = verdict.outcome === "invalid" && verdict.code === "payment_not_yet_valid";
    if (early && tag === "latest" && proof.authorization.validAfter < seconds(chain) && round < 3) {
      tag = "pending";
      continue;
    }
    return { verdict, call: seen.call, head: seen.head, extra: seen.extra };
  }
}

const seconds = (chain: JudgingChain): bigint => BigInt(Math.floor(chain.now() / 1000));

/** Everything that needs no call. The guard has asked most of it; it is asked again where the money is. */
function judgeFields(chain: JudgingChain, proof: AuthorizationProof): JudgedProof | undefined {
  const { requirement, authorization } = proof;
  if (requirement.scheme !== "exact") return invalid(proof, "unsupported_scheme", { expected: "exact" });
  if (requirement.network !== chain.network) {
    return unavailable("misconfigured", `expected network ${chain.network}, got ${requirement.network}`);
  }
  if (!requirement.extra.name || !requirement.extra.version) {
    return unavailable("misconfigured", "the offer names no EIP-712 domain for its token");
  }
  if (authorization.to !== lower(requirement.payTo)) {
    return invalid(proof, "recipient_mismatch", { expected: requirement.payTo, got: authorization.to });
  }
  if (authorization.value !== requirement.amount) {
    const [expected, got] = [requirement.amount.toString(), authorization.value.toString()];
    return invalid(proof, "amount_mismatch", { expected, got });
  }
  return undefined;
}

/** Refuses an authorization that ends within `margin` seconds: the latest block may be older than it is. */
export function judgeExpiry(chain: JudgingChain, proof: AuthorizationProof, margin: bigint): Invalid | undefined {
  const now = seconds(chain);
  if (proof.authorization.validBefore > now + margin) return undefined;
  const facts = { expected: `validBefore after ${now + margin}`, got: proof.authorization.validBefore.toString() };
  return invalid(proof, "payment_expired", facts);
}

async function isSignedByKey(chain: JudgingChain, proof: AuthorizationProof, form: SignatureForm): Promise<boolean> {
  if (form.form !== "ecdsa") return false;
  return isSignedBy(await loadBackend(), domainOf(proof.requirement, chain.chainId), proof.authorization, form);
}

type KindFault = {
  readonly code: Invalid["code"];
  readonly facts: { readonly expected?: string; readonly got?: string };
};

/** The payer's kind as the chain has it. Where `from` has code, a delegation too, it answers for itself (EIP-1271). */
function kindOf(code: Hex, form: SignatureForm, signed: boolean, deployable: boolean): PayerKind | KindFault {
  if (code !== "0x") return "contract";
  if (form.form === "ecdsa") {
    if (signed) return "eoa";
    return { code: "signature_invalid", facts: { got: "a signature by another key (the payer is a plain account)" } };
  }
  if (form.form === "other") return { code: "wallet_not_deployed", facts: {} };
  return deployable ? "counterfactual" : { code: "wallet_factory_not_allowed", facts: { got: form.factory } };
}

/** The verdict from what the chain showed. A bad signature learns nothing of the nonce. */
function judgeState(chain: JudgingChain, proof: AuthorizationProof, kind: PayerKind, seen: Seen): JudgedProof {
  const { authorization, requirement } = proof;
  if (!seen.accepted) {
    const got = seen.code.startsWith("0xef0100") ? "the delegated account (EIP-7702)" : "the wallet contract";
    return invalid(proof, "signature_invalid", { got: `a refusal by ${got}, asked as EIP-1271` });
  }
  if (seen.used) return { outcome: "used" };
  const expired = judgeExpiry(chain, proof, 0n);
  if (expired) return expired;
  if (seen.balance < requirement.amount) {
    const [expected, got] = [requirement.amount.toString(), seen.balance.toString()];
    return invalid(proof, "insufficient_funds", { expected, got });
  }
  if (seen.simulation.outcome !== "reverts") {
    return { outcome: "valid", payer: authorization.from, balance: seen.balance };
  }
  return diagnose(proof, kind, seen.simulation.reason, seen.head.timestamp);
}

/** Names the reason of a refusal in the token's own words. */
function diagnose(proof: AuthorizationProof, kind: PayerKind, reason: string, time: bigint): JudgedProof {
  const { validAfter, validBefore } = proof.authorization;
  if (/not yet valid/i.test(reason)) {
    const facts = { expected: `validAfter before the chain's time ${time}`, got: validAfter.toString() };
    return invalid(proof, "payment_not_yet_valid", facts);
  }
  if (/expired/i.test(reason)) {
    const facts = { expected: `validBefore after the chain's time ${time}`, got: validBefore.toString() };
    return invalid(proof, "payment_expired", facts);
  }
  if (/used or cancell?ed|already used/i.test(reason)) return { outcome: "used" };
  if (/exceeds balance|insufficient balance/i.test(reason))
    return invalid(proof, "insufficient_funds", { got: reason });
  if (/invalid signature|signature length/i.test(reason)) {
    return invalid(proof, "signature_invalid", { got: `${reason} (${kind} payer)` });
  }
  // Multicall3 hides the token's words, so the chain's time speaks for them.
  if (kind === "counterfactual" && validAfter >= time) return invalid(proof, "payment_not_yet_valid");
  return invalid(proof, "simulation_failed", { got: reason });
}

/** Verifies for the guard. */
export async function verifyOnChain(
  chain: EvmChain,
  proof: AuthorizationProof,
  context: { readonly signatureKnown: boolean; readonly signal: AbortSignal },
): Promise<Verification> {
  const settler = chain.settlers.first.address;
  return (await judge(chain, proof, { ...context, settler: lower(settler) })).verdict;
}
