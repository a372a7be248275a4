// What a transaction in a block means: did it succeed, what did it cost, how many blocks stand on it, and is that final.
import { type Receipt, readBlock, readCost, readReceipt } from "../../chains/evm/answers.js";
import { addressTopic, TRANSFER } from "../../chains/evm/evidence.js";
import { type Hex, toQuantity } from "../../chains/evm/hex.js";
import { movementOf } from "../../chains/evm/movement.js";
import { readSimulation } from "../../chains/evm/revert.js";
import type { RpcAnswer, RpcOptions } from "../../chains/evm/rpc.js";
import { blockCall, receiptCall, standingOf } from "../../chains/evm/standing.js";
import { NATIVE } from "../../requirement.js";
import type { ChainStanding } from "../chain.js";
import type { Effect } from "./evm-build.js";
import type { EvmTransferChain } from "./evm-chain.js";

/** Where a chain has no `finalized` tag, so many blocks stand for it: two epochs of Ethereum. */
const FINAL_BLOCKS = 64n;

export interface HeadAndFinality {
  readonly head: bigint;
  isFinal(height: bigint): boolean;
}

/** The head of the chain and what is final below it, from one node at one moment. */
export async function finalityOf(
  chain: EvmTransferChain,
  options: RpcOptions,
): Promise<HeadAndFinality | { readonly message: string }> {
  const reply = await chain.rpc.batch([blockCall("latest"), blockCall("finalized")], options);
  if (!reply.ok) return reply;
  return readFinality(chain, reply.answers[0], reply.answers[1]) ?? { message: "the chain gave no readable block" };
}

function readFinality(
  { finality }: EvmTransferChain,
  headAnswer: RpcAnswer | undefined,
  finalizedAnswer: RpcAnswer | undefined,
): HeadAndFinality | undefined {
  const head = readBlock(headAnswer)?.number;
  if (head === undefined) return undefined;
  const finalized = readBlock(finalizedAnswer)?.number;
  if (finalized !== undefined) finality.hasTag = true;
  // Invariant: a chain that has shown the tag once is not judged by a count of blocks when a node fails to tell it.
  if (finalized !== undefined || finality.hasTag) {
    return { head, isFinal: (height) => finalized !== undefined && height <= finalized };
  }
  return { head, isFinal: (height) => head - height + 1n >= FINAL_BLOCKS };
}

/** A transaction as far as it is known: who sends it, and what it does. */
export interface Known {
  readonly sender: string;
  readonly effect: Effect | undefined;
}

/** A transaction that a receipt has shown at this height; undefined where no block of the chain has it (any more). */
export async function standingOfMined(
  chain: EvmTransferChain,
  hash: Hex,
  height: bigint,
  known: Known,
  options: RpcOptions,
): Promise<ChainStanding | undefined> {
  const standing = await standingOf(chain.rpc, hash, height, options);
  if (standing.state === "absent") return undefined;
  if (standing.state === "unreadable") return { state: "unreadable", message: standing.message };
  const { receipt, block, blocks } = standing;
  const at = block.number;
  const calls = [blockCall("latest"), blockCall("finalized"), blockCall(at), receiptCall(hash)];
  const reply = await chain.rpc.batch(calls, options);
  if (!reply.ok) return { state: "unreadable", message: reply.message };
  const finality = readFinality(chain, reply.answers[0], reply.answers[1]);
  const again = readReceipt(reply.answers[3]);
  const fee = readCost(reply.answers[3]);
  // Invariant: final only where the same answer shows the receipt's block as the canonical one at its height.
  const same = readBlock(reply.answers[2])?.hash === block.hash && again?.blockHash === block.hash;
  if (!finality || fee === undefined || !same) {
    return { state: "unreadable", message: "the chain gave no readable receipt, or is being reorganised" };
  }
  const reason = await failureOf(chain, receipt, known, options);
  return {
    state: "mined",
    signature: hash,
    succeeded: reason === undefined,
    blockHeight: Number(at),
    fee,
    // A node whose head lags behind the receipt counts none: the block itself is one.
    confirmations: Math.max(1, blocks),
    level: finality.isFinal(at) ? "finalized" : blocks >= chain.confirmations ? "confirmed" : "included",
    ...(reason !== undefined && { reason }),
  };
}

/** Why nothing was moved; undefined = it was. */
async function failureOf(
  chain: EvmTransferChain,
  receipt: Receipt,
  { sender, effect }: Known,
  options: RpcOptions,
): Promise<string | undefined> {
  if (receipt.status === "0x1") return effect && movesNothing(receipt, effect);
  return effect ? reasonOf(chain, receipt, { ...effect, from: sender }, options) : "it was reverted";
}

/**
 * Invariant: a token's status 1 moves nothing by itself: old tokens answer `false` and go on. Every token says what it moves by a
 * Transfer (ERC-20), so without one from anybody nothing was moved.
 */
function movesNothing({ logs }: Receipt, effect: Effect): string | undefined {
  const movement = movementOf(effect);
  if (!movement || movement.asset === NATIVE) return undefined;
  const payee = addressTopic(movement.payTo);
  const moved = logs.some(
    ({ address, topics, removed }) =>
      address === effect.to && topics[0] === TRANSFER && topics[2] === payee && removed !== true,
  );
  return moved ? undefined : "the token let the call succeed without a Transfer to the recipient";
}

/** The node's own words, from the same call on the state before its block; nodes without old state have none. */
async function reasonOf(
  { rpc }: EvmTransferChain,
  { blockNumber }: Receipt,
  { from, to, value, data }: Effect & { readonly from: string },
  options: RpcOptions,
): Promise<string> {
  const call = { from, to, value: toQuantity(value), data };
  const before = toQuantity(blockNumber - 1n);
  const reply = await rpc.batch([{ method: "eth_call", params: [call, before] }], options);
  const simulation = reply.ok ? readSimulation(reply.answers[0]) : undefined;
  return simulation?.outcome === "reverts" ? `it was reverted: ${simulation.reason}` : "it was reverted";
}
