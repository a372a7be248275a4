// Collects an authorization on EVM: the very call that settles it, judged and simulated from the seller's own wallet, as an
// unsigned transaction of type 2 that he signs and sends. No key of this gateway's is needed.
import { readQuantity } from "../../chains/evm/answers.js";
import { lower } from "../../chains/evm/chain.js";
import { DEFAULT_MAX_FEE_PER_GAS, feesFor, TIP_CALL } from "../../chains/evm/fees.js";
import type { Rpc } from "../../chains/evm/rpc.js";
import { writeTransaction } from "../../chains/evm/transaction.js";
import { type Judgement, judge } from "../../chains/evm/verify.js";
import type { AuthorizationProof } from "../../proof.js";
import { inWords } from "../chains/words.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import { refuseVerdict } from "../receive/verify.js";
import { type Collecting, type Collection, refuse, settingsOf, VALID_MS } from "./collect.js";

/** Builds it. Faults as those of a verification, and INSUFFICIENT_BALANCE where the wallet cannot pay for the gas. */
export async function collectAuthorization(
  collecting: Collecting,
  proof: AuthorizationProof,
): Promise<Outcome<Collection>> {
  const { parts, wanted, deadlineAt, signal } = collecting;
  const { network, transfers } = wanted.network;
  const { rpc } = transfers;
  if (!isEvm(rpc)) throw new Error("an authorization was bound to another chain");
  const { options } = settingsOf(parts, network.id);
  const factories = "eip6492Factories" in options ? (options.eip6492Factories ?? []) : [];
  const chain = {
    network: network.id,
    chainId: Number(network.id.slice("eip155:".length)),
    rpc,
    factories: new Set(factories.map(lower)),
    now: parts.now,
  };
  const wallet = lower(wanted.payTo);
  const extra = [
    { method: "eth_getTransactionCount", params: [wallet, "pending"] },
    { method: "eth_getBalance", params: [wallet, "latest"] },
    TIP_CALL,
  ];
  const judgement = await judge(chain, proof, { settler: wallet, signatureKnown: false, deadlineAt, signal, extra });
  const { verdict } = judgement;
  if (verdict.outcome !== "valid") return refuseVerdict(verdict, parts.now() >= deadlineAt);
  return draft(collecting, proof, rpc, judgement);
}

const isEvm = (rpc: object): rpc is Rpc => "batch" in rpc;

async function draft(
  { parts, wanted, deadlineAt, priorityFee }: Collecting,
  { validBefore }: AuthorizationProof,
  rpc: Rpc,
  { call, head, extra = [] }: Judgement,
): Promise<Outcome<Collection>> {
  const { network } = wanted.network;
  const [count, balance] = extra.map(readQuantity);
  const { options } = settingsOf(parts, network.id);
  const cap = ("maxFeePerGas" in options ? options.maxFeePerGas : undefined) ?? DEFAULT_MAX_FEE_PER_GAS;
  const suggested = head && (await feesFor(rpc, head, extra[2], cap, deadlineAt));
  if (!call || !head || count === undefined || balance === undefined || suggested === undefined) {
    return fault("UNAVAILABLE", `${network.name} gave no readable nonce, balance or gas price of the wallet`);
  }
  if (suggested === "too_high")
    return fault("UNAVAILABLE", `gas costs more than ${cap} wei a unit on ${network.name} now`);
  if (suggested.type === "legacy")
    return fault("UNAVAILABLE", `${network.name} names no base fee, which such a transaction needs`);
  const fees = priorityFee === undefined ? suggested : withTip(suggested, priorityFee / call.gas, cap);
  if (!fees)
    return refuse(
      "priorityFee",
      `expected from ${inWords(call.gas, network.native)}, below the operator's limit for gas`,
    );
  const fee = call.gas * fees.maxFeePerGas;
  if (balance < fee) return tooPoor(inWords(fee, network.native), inWords(balance, network.native));
  const { to, data, gas } = call;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  const prices = { maxFeePerGas, maxPriorityFeePerGas };
  const chainId = BigInt(network.id.slice("eip155:".length));
  const unsigned = writeTransaction({ chainId, nonce: count, ...prices, gas, to, value: 0n, data });
  return {
    ok: true,
    value: {
      transaction: Buffer.from(unsigned).toString("base64"),
      signatureRequired: true,
      // Advisory: it is the authorization's own time that ends it.
      lastValidBlockHeight: Number(head.number) + Math.ceil(VALID_MS / network.blockMs),
      expiresAt: Math.min(parts.now() + VALID_MS, validBefore * 1000),
      fee,
      id: null,
    },
  };
}

interface Prices {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The caller's tip in place of the node's; undefined where it is none, or more than the operator lets gas cost. */
function withTip({ maxFeePerGas, maxPriorityFeePerGas }: Prices, tip: bigint, cap: bigint): Prices | undefined {
  const most = maxFeePerGas - maxPriorityFeePerGas + tip;
  return tip > 0n && most <= cap ? { maxFeePerGas: most, maxPriorityFeePerGas: tip } : undefined;
}

function tooPoor(needed: string, got: string): Fault {
  const message = `expected ${needed} for the most that its gas can cost, the wallet has ${got}`;
  return fault("INSUFFICIENT_BALANCE", message, { details: [{ path: "walletAddress", message }] });
}
