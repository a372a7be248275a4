// Whether a settlement stays: the chain may take it back until its block is final. From the chain and the record alone. A node that
// is not as far as the block in which the settlement stood proves nothing by not knowing it.
import type { Finality, SettledTrace, Trace } from "../../receive/receiver.js";
import { type Block, readBlock, readBool } from "./answers.js";
import { type ChainReader, lower } from "./chain.js";
import { provesPayment } from "./evidence.js";
import { isHex, toQuantity } from "./hex.js";
import { lookupOnChain, stateAt, toPayment } from "./lookup.js";
import { lookupTransaction } from "./lookup-transaction.js";
import type { RpcOptions } from "./rpc.js";
import { blockCall, type Standing, standingOf } from "./standing.js";

/** Between the store's clock and the chain's. */
const CLOCKS_MS = 10_000;

const unknown = (message: string): Finality => ({ outcome: "unknown", message });

/**
 * Looks at a settlement that was seen before. Never rejects.
 *
 * @example const { outcome } = await finalityOnChain({ rpc, blockMs: 2000 }, trace, signal);
 */
export async function finalityOnChain(chain: ChainReader, trace: SettledTrace, signal: AbortSignal): Promise<Finality> {
  if (!isHex(trace.transaction, 32)) return unknown("the record names no transaction of this chain");
  const options = { signal };
  const standing = await standingOf(chain.rpc, lower(trace.transaction), BigInt(trace.height ?? 0), options);
  if (standing.state === "unreadable") return unknown(standing.message);
  if (standing.state === "mined" && isPaid(standing, trace)) return whenMined(chain, standing, options);
  return trace.method === "transaction"
    ? whenOwnAbsent(chain, trace, standing, signal)
    : whenAbsent(chain, trace, signal);
}

/** What the bytes of a buyer's own transaction move was seen when it was settled: success is all that can change. */
const isPaid = ({ receipt }: Extract<Standing, { state: "mined" }>, trace: Trace): boolean =>
  trace.method === "transaction" ? receipt.status === "0x1" : provesPayment(receipt, toPayment(trace));

async function whenMined(
  { rpc }: ChainReader,
  { receipt, block }: Extract<Standing, { state: "mined" }>,
  options: RpcOptions,
): Promise<Finality> {
  const height = receipt.blockNumber;
  const about = { transaction: receipt.transactionHash, height: Number(height) };
  // Invariant: the block is read again with the finalized one, from one node: the first look may have been at another fork.
  const reply = await rpc.batch([blockCall("finalized"), blockCall(height)], options);
  const [finalized, again] = reply.ok ? reply.answers.map(readBlock) : [];
  const isFinal = finalized && finalized.number >= height && again?.hash !== undefined && again.hash === block.hash;
  return { outcome: isFinal ? "final" : "settled", ...about };
}

/** The authorization alone decides: whoever sends it again, it moves the money once. */
async function whenAbsent(chain: ChainReader, trace: SettledTrace, signal: AbortSignal): Promise<Finality> {
  const payment = toPayment(trace);
  const calls = [stateAt(payment, "latest"), blockCall("latest")];
  const reply = await chain.rpc.batch(calls, { signal });
  if (!reply.ok) return unknown(reply.message);
  const used = readBool(reply.answers[0]);
  const head = readBlock(reply.answers[1]);
  if (used === undefined || !head) return unknown("the chain gave no readable state of the authorization, or no block");
  const canCome = !used && head.timestamp <= BigInt(trace.validBefore);
  if (canCome) return isPast(trace, head) ? { outcome: "gone" } : unknown("the node is behind the settlement");
  // By another transaction, or never any more: as for one that was never seen, without a word of the lost one.
  const lookup = await lookupOnChain(chain, { ...ageless(trace), transaction: null }, signal);
  return fromLookup(lookup);
}

/**
 * Does this node know the chain as far as the settlement? On a receiver's word it has no block, but a time before which it stood:
 * should the clocks be further apart than that, the same authorization is sent in vain.
 */
function isPast({ height, settledAt }: SettledTrace, head: Block): boolean {
  if (height !== undefined) return head.number >= BigInt(height);
  return settledAt !== undefined && Number(head.timestamp) * 1000 > settledAt + CLOCKS_MS;
}

/** It was sold in this store's memory: nobody asks any more how old it is. */
const ageless = ({ since: _, ...trace }: Trace): Trace => trace;

function fromLookup(lookup: Awaited<ReturnType<typeof lookupOnChain>>): Finality {
  switch (lookup.outcome) {
    case "settled": {
      const { transaction, height } = lookup;
      return { outcome: "settled", transaction, ...(height !== undefined && { height }) };
    }
    case "expired":
      return { outcome: "lost" };
    case "too_old":
      return unknown("what paid for it is older than the store");
    case "unknown":
      return lookup;
  }
}

/** The buyer's own bytes are good until their account nonce is used. */
async function whenOwnAbsent(
  chain: ChainReader,
  trace: Trace,
  { state }: Standing,
  signal: AbortSignal,
): Promise<Finality> {
  if (state === "absent") {
    const gone = await isStillUnused(chain, trace, { signal });
    if (gone) return { outcome: "gone" };
  }
  return fromLookup(await lookupTransaction(chain, ageless(trace), signal));
}

async function isStillUnused({ rpc }: ChainReader, trace: Trace, options: RpcOptions): Promise<boolean> {
  const [sender = "", nonce = ""] = trace.nonce.split("/");
  const count = (block: string) => ({ method: "eth_getTransactionCount", params: [sender, block] });
  const reply = await rpc.batch([count("latest"), blockCall("latest")], options);
  if (!reply.ok || trace.height === undefined) return false;
  const [used, head] = [reply.answers[0], readBlock(reply.answers[1])];
  const isUnused = used?.ok === true && used.result === toQuantity(BigInt(nonce));
  return isUnused && head !== undefined && head.number >= BigInt(trace.height);
}
