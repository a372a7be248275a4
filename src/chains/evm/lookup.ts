// Finds out what became of a settlement, from the chain alone and from nothing but the record: by the known transaction, by
// the asset's logs, and by finalized time. "The node does not know it" decides nothing.
import type { Lookup, Trace } from "../../receive/receiver.js";
import { readBlock, readBool, readReceipt } from "./answers.js";
import { authorizationState } from "./calldata.js";
import { type ChainReader, lower } from "./chain.js";
import { type Payment, provesPayment } from "./evidence.js";
import { isHex, toQuantity } from "./hex.js";
import { isBefore } from "./mined.js";
import type { RpcCall, RpcOptions } from "./rpc.js";
import { type Found, findPayment } from "./search.js";
import { standingOf } from "./standing.js";

const unknown = (message: string): Lookup => ({ outcome: "unknown", message });

/**
 * Looks a settlement up. Never rejects.
 *
 * @example
 * const rpc = createRpc({ urls: [rpcUrl], chainId: 84532 });
 * await lookupOnChain({ rpc, blockMs: 2000 }, trace, signal);
 */
export async function lookupOnChain(chain: ChainReader, trace: Trace, signal: AbortSignal): Promise<Lookup> {
  const options: RpcOptions = { signal };
  const payment = toPayment(trace);
  const hash = isHex(trace.transaction, 32) ? trace.transaction : undefined;
  const calls: RpcCall[] = [
    stateAt(payment, "latest"),
    { method: "eth_getBlockByNumber", params: ["finalized", false] },
    ...(hash ? [{ method: "eth_getTransactionReceipt", params: [hash] }] : []),
  ];
  const reply = await chain.rpc.batch(calls, options);
  if (!reply.ok) return unknown(reply.message);

  const receipt = hash ? readReceipt(reply.answers[2]) : undefined;
  if (receipt && receipt.transactionHash === lower(hash ?? "") && provesPayment(receipt, payment)) {
    return { outcome: "settled", transaction: receipt.transactionHash, height: Number(receipt.blockNumber) };
  }
  const used = readBool(reply.answers[0]);
  if (used === undefined) return unknown("the state of the authorization cannot be read");
  const finalized = readBlock(reply.answers[1]);
  const over = finalized !== undefined && finalized.timestamp > BigInt(trace.validBefore);
  if (used) return byLogs(chain, payment, trace, over, options);
  if (!finalized) return unknown("the chain names no finalized block");
  if (!over) return unknown("the authorization has not been used so far");
  return whenFinal(chain, payment, finalized.number, options);
}

/** What a record looks for. */
export const toPayment = (trace: Trace): Payment => ({
  asset: lower(trace.asset),
  payer: lower(trace.payer),
  payTo: lower(trace.payTo),
  amount: BigInt(trace.amount),
  nonce: lower(trace.nonce),
});

async function byLogs(
  chain: ChainReader,
  payment: Payment,
  trace: Trace,
  over: boolean,
  options: RpcOptions,
): Promise<Lookup> {
  const search = await findPayment(chain, payment, BigInt(trace.validBefore), options);
  switch (search.found) {
    case "paid":
      return whenPaid(chain, trace, search, options);
    case "failed":
      return unknown(search.message);
    case "canceled":
      // Withdrawn is as final as unused once its time is over: no money moved and none can.
      return over ? { outcome: "expired" } : unknown("the payer has canceled the authorization");
    case "unpaid":
      return unknown(`the authorization was used by ${search.transaction}, which does not move the exact amount`);
    case "nothing":
      return unknown("the authorization is used, but the transaction that used it was not found");
  }
}

/**
 * Invariant: what was mined before the store's memory begins, and was not announced, may have been used before it began. A service
 * may have sent it for us, so it has to be surely older.
 */
async function whenPaid(
  chain: ChainReader,
  { since, transaction: sent }: Trace,
  { transaction, block }: Extract<Found, { found: "paid" }>,
  options: RpcOptions,
): Promise<Lookup> {
  const settled: Lookup = { outcome: "settled", transaction, height: Number(block) };
  if (since === undefined || transaction === sent) return settled;
  const standing = await standingOf(chain.rpc, transaction, block, options);
  if (standing.state !== "mined") return unknown("the age of the transaction that used it cannot be told");
  return isBefore(standing.block, since) ? { outcome: "too_old" } : settled;
}

/** Invariant: time and state are read at one and the same finalized block. */
async function whenFinal(chain: ChainReader, payment: Payment, block: bigint, options: RpcOptions): Promise<Lookup> {
  const reply = await chain.rpc.batch([stateAt(payment, toQuantity(block))], options);
  if (!reply.ok) return unknown(reply.message);
  const used = readBool(reply.answers[0]);
  return used === false ? { outcome: "expired" } : unknown("the finalized state of the authorization is not readable");
}

/** Asks whether the authorization is used, as of one block. */
export const stateAt = ({ asset, payer, nonce }: Payment, block: string): RpcCall => ({
  method: "eth_call",
  params: [{ to: asset, data: authorizationState(payer, nonce) }, block],
});
