// What a node says of a transfer that is to be built: the sender's next nonce, what he holds, whether it would work, what gas it
// needs, and what gas costs. One batch; a field that cannot be read makes all of it unreadable.
import { NATIVE } from "../../requirement.js";
import { type Block, readBlock, readQuantity, readWord } from "./answers.js";
import { balanceOf } from "./calldata.js";
import { lower } from "./chain.js";
import { TIP_CALL } from "./fees.js";
import { toQuantity } from "./hex.js";
import type { Simulation } from "./revert.js";
import type { Rpc, RpcAnswer, RpcCall, RpcOptions } from "./rpc.js";
import { blockCall } from "./standing.js";
import type { TransactionFields } from "./transaction.js";
import type { WantedTransfer } from "./transfer.js";
import { simulate } from "./unsent.js";

export interface TransferMarket {
  /** The sender's next account nonce, after those of his that wait. */
  readonly nonce: number;
  readonly head: Block & { readonly baseFeePerGas: bigint };
  /** Wei that he can spend: what waits already is taken off. */
  readonly balance: bigint;
  /** Atomic units of the asset that he can spend. */
  readonly holding: bigint;
  readonly simulation: Exclude<Simulation, { outcome: "failed" }>;
  /** Gas that it needs. */
  readonly gas: bigint;
  /** The answer to `TIP_CALL`. */
  readonly tip: RpcAnswer | undefined;
}

type Call = Pick<TransactionFields, "to" | "value" | "data">;
const paramsOf = (from: string, { to, value, data }: Call) => ({
  from: lower(from),
  to,
  value: toQuantity(value),
  data,
});

/** `no_token`: there is no contract where the asset should be, so nothing answers. */
export interface Unasked {
  readonly problem: "no_token" | "unreachable";
  readonly message: string;
}

/** Asks a node about a transfer; the message says what could not be read. */
export async function askMarket(
  rpc: Rpc,
  { from, asset, amount }: WantedTransfer,
  call: Call,
  options: RpcOptions,
): Promise<TransferMarket | Unasked> {
  const sender = lower(from);
  const params = paramsOf(from, call);
  const holdingAt = (block: string): RpcCall =>
    asset === NATIVE
      ? { method: "eth_getBalance", params: [sender, block] }
      : { method: "eth_call", params: [{ to: lower(asset), data: balanceOf(sender) }, block] };
  const calls: RpcCall[] = [
    { method: "eth_getTransactionCount", params: [sender, "pending"] },
    blockCall("latest"),
    { method: "eth_getBalance", params: [sender, "latest"] },
    { method: "eth_getBalance", params: [sender, "pending"] },
    holdingAt("latest"),
    holdingAt("pending"),
    { method: "eth_call", params: [params, "latest"] },
    { method: "eth_estimateGas", params: [params] },
    TIP_CALL,
  ];
  const reply = await rpc.batch(calls, options);
  if (!reply.ok) return { problem: "unreachable", message: reply.message };
  if (asset !== NATIVE && isNobody(reply.answers[4]))
    return { problem: "no_token", message: `there is no token at ${asset} on this chain` };
  const market = readAll(reply.answers, asset === NATIVE, amount);
  return typeof market === "string" ? { problem: "unreachable", message: market } : market;
}

/** A call without code behind it succeeds, and gives nothing: what every token is asked, none leaves without a word. */
export const isNobody = (answer: RpcAnswer | undefined): boolean => answer?.ok === true && answer.result === "0x";

function readAll(answers: readonly RpcAnswer[], isNative: boolean, amount: bigint): TransferMarket | string {
  const count = readQuantity(answers[0]);
  const head = readBlock(answers[1]);
  const balance = spendable(answers[2], answers[3], readQuantity);
  const holding = isNative ? balance : spendable(answers[4], answers[5], readWord);
  if (count === undefined || count > BigInt(Number.MAX_SAFE_INTEGER)) return "the chain gave no readable nonce";
  if (typeof head?.baseFeePerGas !== "bigint") return "the chain names no base fee: has it EIP-1559?";
  if (balance === undefined) return "the chain gave no readable balance of the sender";
  if (holding === undefined) return "the chain gave no readable balance of the token";
  const simulated = simulate(answers[6], answers[7], !isNative);
  // Whoever has not got the amount cannot be simulated, and nodes say that in many ways.
  const isPoor = holding < amount;
  if (simulated.outcome === "failed" && !isPoor) return `the chain could not simulate it (${simulated.message})`;
  return {
    nonce: Number(count),
    head: { ...head, baseFeePerGas: head.baseFeePerGas },
    balance,
    holding,
    simulation: simulated.outcome === "failed" ? { outcome: "reverts", reason: "" } : simulated,
    gas: readQuantity(answers[7]) ?? 0n,
    tip: answers[8],
  };
}

/**
 * Invariant: money that is on its way out is not spent twice, and money that is on its way in is not there yet. Nodes that show
 * no pending state have the latest one to go by.
 */
function spendable(
  latestAnswer: RpcAnswer | undefined,
  pendingAnswer: RpcAnswer | undefined,
  read: (answer: RpcAnswer | undefined) => bigint | undefined,
): bigint | undefined {
  const [latest, pending] = [read(latestAnswer), read(pendingAnswer)];
  return latest !== undefined && pending !== undefined && pending < latest ? pending : latest;
}

/** Whether the same transfer of the sender to himself goes through: then it is the recipient whom the token refuses. */
export async function isRecipientAtFault(
  rpc: Rpc,
  { from }: WantedTransfer,
  toHimself: Call,
  options: RpcOptions,
): Promise<boolean> {
  const params = paramsOf(from, toHimself);
  const reply = await rpc.batch(
    [
      { method: "eth_call", params: [params, "latest"] },
      { method: "eth_estimateGas", params: [params] },
    ],
    options,
  );
  return reply.ok && simulate(reply.answers[0], reply.answers[1], true).outcome === "passes";
}
