// Finds out what became of a buyer's own transaction, from the chain and the record alone: its receipt, the blocks on it, and
// whether its account nonce went elsewhere. Only what is final ends it; "the node does not know it" decides nothing.
import type { Lookup, Trace } from "../../receive/receiver.js";
import { readBlock, readQuantity, readReceipt } from "./answers.js";
import { type ChainReader, lower } from "./chain.js";
import { amountPaid } from "./evidence.js";
import { readFetched, transactionCall } from "./fetch.js";
import { type Hex, isHex, toQuantity } from "./hex.js";
import { isBefore } from "./mined.js";
import { keyOf } from "./movement.js";
import type { RpcAnswer, RpcOptions } from "./rpc.js";
import { blockCall, receiptCall, type Standing, standingOf } from "./standing.js";

const unknown = (message: string): Lookup => ({ outcome: "unknown", message });

/** Looks a settlement of the method `transaction` up. Never rejects. */
export async function lookupTransaction(chain: ChainReader, trace: Trace, signal: AbortSignal): Promise<Lookup> {
  const options: RpcOptions = { signal };
  if (trace.transaction === null) return whenUnsent(chain, trace, options);
  if (!isHex(trace.transaction, 32)) return unknown("the record names no transaction of this chain");
  const hash = lower(trace.transaction);
  const calls = [receiptCall(hash), blockCall("finalized"), transactionCall(hash)];
  const reply = await chain.rpc.batch(calls, options);
  if (!reply.ok) return unknown(reply.message);
  const [receiptAnswer, finalizedAnswer, fetched] = reply.answers;
  const receipt = readReceipt(receiptAnswer);
  const finalized = readBlock(finalizedAnswer)?.number;
  if (receipt === undefined) return unknown("the chain gave no readable receipt");
  if (receipt === null) return whenAbsent(chain, trace, hash, finalized, options);
  const standing = await standingOf(chain.rpc, hash, receipt.blockNumber, options);
  if (standing.state !== "mined") return unknown("the transaction stands in no block of the chain right now");
  return whenMined(trace, standing, finalized, fetched);
}

/** Nothing was announced, so not one byte of it left: once its time is over it can be forgotten. */
async function whenUnsent(chain: ChainReader, trace: Trace, options: RpcOptions): Promise<Lookup> {
  const reply = await chain.rpc.batch([blockCall("finalized")], options);
  const finalized = reply.ok ? readBlock(reply.answers[0]) : undefined;
  const over = finalized !== undefined && finalized.timestamp > BigInt(trace.validBefore);
  return over ? { outcome: "expired" } : unknown("nothing of the transaction was sent");
}

async function whenMined(
  trace: Trace,
  { receipt, block, blocks }: Extract<Standing, { state: "mined" }>,
  finalized: bigint | undefined,
  fetched: RpcAnswer | undefined,
): Promise<Lookup> {
  const final = finalized !== undefined && finalized >= receipt.blockNumber;
  if (receipt.status !== "0x1") return final ? { outcome: "expired" } : unknown("the transaction was reverted");
  // Invariant: a lookup asks for as many blocks as the sale did, or who waits for it would get the goods for fewer.
  const enough = final || (trace.confirmations !== undefined && blocks >= trace.confirmations);
  if (!enough) return unknown(`the transaction has ${blocks} blocks on it so far`);
  // Invariant: what was mined before the store's memory begins may have been used before it began.
  if (isBefore(block, trace.since)) return { outcome: "too_old" };
  const read = await readFetched(fetched, receipt.transactionHash);
  if (!read.ok) return unknown("the chain gave no readable transaction");
  if (keyOf(read.transaction) !== trace.nonce) return unknown("the transaction is another one than the record's");
  const amount = BigInt(trace.amount);
  const received = amountPaid(read.transaction, receipt, { asset: trace.asset, payTo: trace.payTo, amount });
  if (received === undefined) return unknown("the transaction does not move the price to the payee");
  const more = received > amount ? { received } : {};
  const height = Number(receipt.blockNumber);
  return { outcome: "settled", transaction: receipt.transactionHash, height, ...more };
}

/** Cancelled where a finalized block counts its nonce as used and there still is no receipt of it. */
async function whenAbsent(
  chain: ChainReader,
  { nonce: key }: Trace,
  hash: Hex,
  finalized: bigint | undefined,
  options: RpcOptions,
): Promise<Lookup> {
  if (finalized === undefined) return unknown("the chain names no finalized block");
  const [sender, nonce] = key.split("/");
  // The count before the receipt: one that comes between them then cannot look like another transaction's.
  const count = { method: "eth_getTransactionCount", params: [sender, toQuantity(finalized)] };
  const reply = await chain.rpc.batch([count, receiptCall(hash), transactionCall(hash)], options);
  if (!reply.ok) return unknown(reply.message);
  const used = readQuantity(reply.answers[0]);
  const absent = reply.answers.slice(1).every((answer) => answer.ok && answer.result === null);
  if (used === undefined || !absent) return unknown("the chain gave no readable nonce, or knows the transaction");
  return used > BigInt(nonce ?? "") ? { outcome: "expired" } : unknown("the transaction was not mined so far");
}
