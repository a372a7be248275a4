// Finds out what became of a settlement, from the chain alone and from nothing but the record. Settled is a transaction of
// that very message in a confirmed block (for SOL, one that was announced); over is what finality and a complete search of one node's history exclude.
// "The node does not know it" decides nothing.
import type { Lookup, Trace } from "../../receive/receiver.js";
import { encodeBase58 } from "./base58.js";
import type { ChainReader } from "./chain.js";
import { type FetchedTransaction, fetchTransaction } from "./fetch.js";
import { exclude, findByMessage } from "./history.js";
import { readNativeLayout } from "./native-layout.js";
import { levelFor } from "./native-level.js";
import { isBefore } from "./native-time.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";

const unknown = (message: string): Lookup => ({ outcome: "unknown", message });

/**
 * Looks a settlement up. Never rejects.
 *
 * @example
 * const rpc = createSolanaRpc({ urls: [rpcUrl], network });
 * await lookupOnSolana({ rpc }, trace, signal);
 */
export async function lookupOnSolana(chain: ChainReader, trace: Trace, signal: AbortSignal): Promise<Lookup> {
  const searched = await searchOnSolana(chain, trace, { signal });
  return searched.outcome === "live" ? unknown(searched.message) : searched;
}

/**
 * A lookup that tells what can still land from what nobody knows. `live`: each node has answered that it has none, and that its
 * last block is yet to come.
 */
export async function searchOnSolana(
  { rpc }: ChainReader,
  trace: Trace,
  options: RpcOptions,
): Promise<Lookup | { readonly outcome: "live"; readonly message: string }> {
  // Each node by itself: what one of them knows says nothing about how far another one is. Whoever has it decides.
  const searches = await Promise.all(rpc.each.map(async (node) => ({ node, found: await find(node, trace, options) })));
  for (const { node, found } of searches) if (found.ok) return judge(node, trace, found, options);
  const exclusions = await Promise.all(rpc.each.map((node) => exclude(node, trace, options)));
  if (exclusions.some(({ ok }) => ok)) return { outcome: "expired" };
  const failures = exclusions.flatMap((one) => (one.ok ? [] : [one]));
  const message = failures.map((one) => one.message).join("; ");
  const isLive =
    failures.every(({ why }) => why === "live") && searches.every(({ found }) => found.ok || found.searched);
  return { outcome: isLive ? "live" : "unknown", message };
}

/** `searched`: the node has answered all that was asked, and has none. */
type Found = FetchedTransaction | { readonly ok: false; readonly searched: boolean };

/**
 * By its id where one is known; else, and where that is another's, among the payer's transactions. Invariant: a buyer's own
 * transfer is found by its announced id alone. Anybody can show the bytes of one before it lands, so what was not announced
 * as ours or as its maker's has paid for nobody here, wherever it stands.
 */
async function find(rpc: SolanaRpc, trace: Trace, options: RpcOptions): Promise<Found> {
  let searched = true;
  if (trace.transaction !== null) {
    const fetched = await fetchTransaction(rpc, trace.transaction, options);
    if (fetched.ok && fetched.messageHash === trace.nonce) return fetched;
    searched = fetched.ok || fetched.seen === false;
    // The id that we have signed ourselves is the only one there can be.
    if (!fetched.ok && trace.expiry !== null) return { ok: false, searched };
  }
  return trace.method === "transaction" ? { ok: false, searched } : findByMessage(rpc, trace, options);
}

/**
 * A failure is final only with its block: a fork could still take the transaction anew. Invariant: what landed before the store's memory
 * begins may have been used before it began.
 */
async function judge(rpc: SolanaRpc, trace: Trace, found: FetchedTransaction, options: RpcOptions): Promise<Lookup> {
  const { id: transaction, minedAt } = found;
  if (trace.since !== undefined && minedAt !== undefined && isBefore(minedAt, trace.since))
    return { outcome: "too_old" };
  const isEnough = trace.method === "spl" || levelFor(trace.confirmations) === "confirmed";
  if (found.error === null && isEnough) return settled(trace, found);
  const final = await fetchTransaction(rpc, transaction, { ...options, commitment: "finalized" });
  if (!final.ok || final.messageHash !== trace.nonce)
    return unknown(`the transaction ${found.error === null ? "is" : "failed"} in a block that is not final`);
  return final.error === null ? settled(trace, final) : { outcome: "expired" };
}

/** A token payment is exact; a SOL transfer may have moved more than the price, and then it is told. */
function settled({ method, amount, payTo }: Trace, { id, decoded, slot: height }: FetchedTransaction): Lookup {
  if (method === "spl") return { outcome: "settled", transaction: id, height };
  const layout = decoded.lookups.length === 0 ? readNativeLayout(decoded) : undefined;
  // Safe because without lookups every index of an instruction is one of a key (the decoder's rule).
  const isOurs = layout?.ok && encodeBase58(decoded.keys[layout.recipient]!) === payTo;
  if (!isOurs || layout.lamports < BigInt(amount)) {
    return unknown("the transaction does not move the price to the payee");
  }
  const more = layout.lamports > BigInt(amount) ? { received: layout.lamports } : {};
  return { outcome: "settled", transaction: id, height, ...more };
}
