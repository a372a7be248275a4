// Where a transfer stands on Solana, by its signatures or by its memo. That it can never land is said only where finality
// and a complete search of one node's history exclude it; that no node knows it says nothing.
import { decodeBase58 } from "../../chains/solana/base58.js";
import { exclude } from "../../chains/solana/history.js";
import { idOf } from "../../chains/solana/identity.js";
import type { RpcOptions, SolanaRpc } from "../../chains/solana/rpc.js";
import type { Trace } from "../../receive/receiver.js";
import { NATIVE } from "../../requirement.js";
import type { ChainStanding } from "../chain.js";
import type { SolanaPursuit } from "../payment.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import { findByMemo } from "./solana-search.js";
import { best, type Sighting, sight } from "./solana-sighting.js";

/** Where a pursued transfer stands. Never rejects. */
export async function standingOnSolana(
  { rpc, network }: SolanaTransferChain,
  pursuit: SolanaPursuit,
  signal: AbortSignal,
): Promise<ChainStanding> {
  const options = { signal };
  const known = pursuit.wire === null ? undefined : idOf(pursuit.wire);
  const ids = [...(known === undefined ? [] : [known]), ...(pursuit.earlier ?? [])];
  const trace = toTrace(pursuit, network.id, known ?? null);
  // Each node by itself: what one of them knows says nothing about how far another one is.
  const look = (node: SolanaRpc) =>
    known === undefined ? lookForMemo(node, pursuit, trace, options) : sight(node, ids, pursuit.wire, options);
  const sighting = best(await Promise.all(rpc.each.map(look)));
  if (sighting.state !== "unseen") return sighting;
  const exclusions = await Promise.all(rpc.each.map((node) => exclude(node, trace, options, findByMemo(pursuit))));
  if (!exclusions.some(({ ok }) => ok)) return sighting;
  const reason = `its blockhash is over: no block after height ${pursuit.lastValidBlockHeight} takes it`;
  return { state: "impossible", reason };
}

/** Where a transaction stands by its id alone. Never rejects. */
export async function standingOfId(
  { rpc }: SolanaTransferChain,
  signature: string,
  signal: AbortSignal,
): Promise<Sighting> {
  if (decodeBase58(signature)?.length !== 64) {
    return { state: "unreadable", message: "expected the id of a Solana transaction" };
  }
  return best(await Promise.all(rpc.each.map((node) => sight(node, [signature], null, { signal }))));
}

async function lookForMemo(
  node: SolanaRpc,
  pursuit: SolanaPursuit,
  trace: Trace,
  options: RpcOptions,
): Promise<Sighting> {
  const found = await findByMemo(pursuit)(node, trace, options, { commitment: "confirmed" });
  if (found.ok) return sight(node, [found.id, ...(pursuit.earlier ?? [])], null, options);
  return found.searched ? { state: "unseen" } : { state: "unreadable", message: found.message };
}

/** A transfer in the words of the chain's history. What it moves is judged by the search. */
const toTrace = (
  { sender, moves, slot, lastValidBlockHeight }: SolanaPursuit,
  network: string,
  transaction: string | null,
): Trace => ({
  proofId: "",
  network,
  asset: moves?.asset ?? NATIVE,
  payer: sender,
  payTo: moves?.to ?? "",
  amount: moves?.amount ?? "0",
  method: "spl",
  nonce: "",
  validBefore: 0,
  transaction,
  expiry: { slot, lastValidBlockHeight },
  received: null,
});
