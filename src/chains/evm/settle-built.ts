// What somebody else has built to collect an authorization, against what this process would have built itself. Taken from it
// is the limit of gas and nothing else: recipient, value and calldata must be the very same, and the account nonce and the
// price of gas are of the moment and of this wallet, so they are set here.

import type { Settlement } from "../../receive/receiver.js";
import type { Unbuilt } from "../builder.js";
import type { SettlementCall } from "./calldata.js";
import { type EvmChain, lower } from "./chain.js";
import { type Job, unproven, whenUsed } from "./settle-found.js";
import { readUnsigned } from "./transfer-bytes.js";

/** Source: design §6: more than any authorization of a deployed payer needs. */
const MAX_GAS = 500_000n;

/** Asks for the transaction; undefined where this process builds it. An outcome where there is none. */
export async function askBuilder(job: Job): Promise<Uint8Array | Settlement | undefined> {
  const { chain, proof, context } = job;
  const built = await chain.builder?.build(proof, context);
  if (!built) return undefined;
  return built.outcome === "transaction" ? built.bytes : whenUnbuilt(job, built);
}

/** Nothing of ours has left. That it is used is a mere word until the chain shows by whom. */
function whenUnbuilt(job: Job, built: Unbuilt): Settlement | Promise<Settlement> {
  if (built.outcome === "used") return whenUsed(job);
  return built.outcome === "refused" ? built : unproven(job, built.message);
}

export type Compared =
  | { readonly ok: true; readonly call: SettlementCall }
  /** What it has in place of the right thing. */
  | { readonly ok: false; readonly message: string };

/**
 * Compares the bytes with the call that was simulated just now.
 *
 * Invariant: what is signed moves this authorization's money and can do nothing else: the same token, no native currency, the
 * same calldata, on this chain, for no more gas than a payment may need and no less than it was simulated with.
 */
export function compareBuilt(
  bytes: Uint8Array,
  call: SettlementCall,
  { chainId, maxFeePerGas: cap }: Pick<EvmChain, "chainId" | "maxFeePerGas">,
): Compared {
  const read = readUnsigned(bytes);
  const differs = (what: string, expected: string, got: string): Compared => ({
    ok: false,
    message: `expected ${what} ${expected}, got ${got}`,
  });
  if (!read) return { ok: false, message: "expected an unsigned transaction of type 2, got other bytes" };
  if (read.chainId !== BigInt(chainId)) return differs("the chain id", `${chainId}`, `${read.chainId}`);
  if (read.to !== lower(call.to)) return differs("a call to", lower(call.to), read.to);
  if (read.value !== 0n) return differs("a value of", "0", `${read.value} wei`);
  if (read.data !== lower(call.data))
    return { ok: false, message: "expected the calldata of this payment, got another one" };
  if (read.gas < call.gas || read.gas > MAX_GAS) {
    return differs("a gas limit from", `${call.gas} to ${MAX_GAS}`, `${read.gas}`);
  }
  if (read.maxFeePerGas > cap) return differs("a maxFeePerGas up to", `${cap}`, `${read.maxFeePerGas}`);
  if (read.maxPriorityFeePerGas > read.maxFeePerGas) {
    return differs("a tip up to", `${read.maxFeePerGas}`, `${read.maxPriorityFeePerGas}`);
  }
  return { ok: true, call: { ...call, gas: read.gas } };
}
