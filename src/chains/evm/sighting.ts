// What the chain knows of a transaction: it is in a block, it waits in the pool, or it is unknown and has its market. One batch
// of ten calls at most; a second one only where the node contradicts itself, because what would be a loss for the buyer, or
// goods for a stranger, is asked twice.

import { NATIVE } from "../../requirement.js";
import { readKnown, readQuantity, readReceipt } from "./answers.js";
import { balanceOf } from "./calldata.js";
import type { EvmChain } from "./chain.js";
import { suggestedTip, TIP_CALL } from "./fees.js";
import { transactionCall } from "./fetch.js";
import { type Hex, toQuantity } from "./hex.js";
import type { RpcAnswer, RpcCall, RpcOptions } from "./rpc.js";
import { blockCall, receiptCall } from "./standing.js";
import { type Market, readMarket } from "./unsent.js";
import { type Unavailable, unavailable } from "./verdicts.js";
import type { ReadProof } from "./verify-transaction.js";

export type Sighting =
  | { readonly state: "mined"; readonly height: bigint }
  | { readonly state: "waiting" }
  | { readonly state: "unknown"; readonly market: Market }
  | { readonly state: "unreadable"; readonly verdict: Unavailable };

/** The other URLs are asked for so long: a slow one must not hold up the sale. */
const OTHERS_MS = 1_000;

/** Looks for a read proof's transaction. */
export async function sightingOf(chain: EvmChain, read: ReadProof, options: RpcOptions): Promise<Sighting> {
  // Invariant: anyone may show what carries no reference, so it is unknown only where no node of ours knows it.
  const elsewhere = read.owned ? false : isKnownElsewhere(chain, read.transaction.hash, options);
  const sighting = await ask(chain, read, options);
  return sighting.state === "unknown" && (await elsewhere) ? { state: "waiting" } : sighting;
}

async function ask(chain: EvmChain, read: ReadProof, options: RpcOptions): Promise<Sighting> {
  const { hash, nonce } = read.transaction;
  const reply = await chain.rpc.batch(callsFor(read), options);
  if (!reply.ok) return { state: "unreadable", verdict: unavailable(reply.code, reply.message) };
  const { answers } = reply;
  const known = readKnown(answers[0]);
  const latest = readQuantity(answers[1]);
  if (known === undefined || latest === undefined) return unreadable("transaction, or count of its sender's");
  if (known && known.hash !== hash) return unreadable("transaction: it named another one");
  if (known?.blockNumber != null) return { state: "mined", height: known.blockNumber };
  if (latest > nonce) {
    // A node that is catching up may count a nonce before it finds what has used it.
    const again = await askAgain(chain, hash, options);
    if (again !== "unknown") return again;
  } else if (known) {
    return { state: "waiting" };
  }
  const market = readMarket(answers, read);
  if (typeof market === "string") return unreadable(market);
  const tip = await suggestedTip(chain.rpc, market.head.baseFeePerGas, answers[7], options);
  return tip === undefined ? unreadable("tip") : { state: "unknown", market: { ...market, tip } };
}

/** One whose nonce is counted as used is in a block, or another one is: it waits no more. */
async function askAgain(chain: EvmChain, hash: Hex, options: RpcOptions): Promise<Sighting | "unknown"> {
  const reply = await chain.rpc.batch([transactionCall(hash), receiptCall(hash)], options);
  if (!reply.ok) return { state: "unreadable", verdict: unavailable(reply.code, reply.message) };
  const [known, receipt] = [readKnown(reply.answers[0]), readReceipt(reply.answers[1])];
  if (known === undefined || receipt === undefined) return unreadable("transaction, or receipt");
  if ([known?.hash, receipt?.transactionHash].some((named) => named !== undefined && named !== hash)) {
    return unreadable("transaction: it named another one");
  }
  const height = receipt?.blockNumber ?? known?.blockNumber;
  if (height != null) return { state: "mined", height };
  return known ? unreadable("receipt: the nonce counts as used, and the transaction as waiting") : "unknown";
}

/** Where there are several URLs: whether the node behind any of them knows it. One that cannot be asked knows nothing. */
async function isKnownElsewhere({ rpc, now }: EvmChain, hash: Hex, options: RpcOptions): Promise<boolean> {
  const { each } = rpc;
  if (each.length < 2) return false;
  const deadlineAt = Math.min(options.deadlineAt ?? Number.POSITIVE_INFINITY, now() + OTHERS_MS);
  const calls = [transactionCall(hash), receiptCall(hash)];
  const replies = await Promise.all(each.map((one) => one.batch(calls, { ...options, deadlineAt })));
  const names = (answer: RpcAnswer) => readKnown(answer)?.hash ?? readReceipt(answer)?.transactionHash;
  return replies.some((reply) => reply.ok && reply.answers.some((answer) => names(answer) === hash));
}

function callsFor({ transaction, movement }: ReadProof): RpcCall[] {
  const { hash, sender, to, value, data, gas } = transaction;
  const call = { from: sender, to, value: toQuantity(value), data };
  return [
    transactionCall(hash),
    { method: "eth_getTransactionCount", params: [sender, "latest"] },
    { method: "eth_getTransactionCount", params: [sender, "pending"] },
    blockCall("latest"),
    { method: "eth_getBalance", params: [sender, "latest"] },
    { method: "eth_call", params: [{ ...call, gas: toQuantity(gas) }, "latest"] },
    { method: "eth_estimateGas", params: [call] },
    TIP_CALL,
    ...(movement.asset === NATIVE ? [] : [{ method: "eth_call", params: [{ to, data: balanceOf(sender) }, "latest"] }]),
  ];
}

const unreadable = (what: string): Sighting => ({
  state: "unreadable",
  verdict: unavailable("receiver_bad_response", `the chain gave no readable ${what}`),
});
