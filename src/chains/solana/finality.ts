// Whether a settlement stays: a confirmed block may still be left for another fork until it is final. A status that a node does not
// have is no evidence, or whoever has lost his history would take sales back: what is missing is searched for as by a lookup, and
// sent again only where each node is further than its slot and no further than its bytes can land.
import type { Finality, SettledTrace, Trace } from "../../receive/receiver.js";
import type { ChainReader } from "./chain.js";
import { BLOCKHASH_LIFE, MOST_SKIPPED } from "./history.js";
import { searchOnSolana } from "./lookup.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";
import { readStatuses, type Statuses } from "./statuses.js";

/** Between the clocks of a store and of the chain. */
const CLOCKS_MS = 10_000;

const unknown = (message: string): Finality => ({ outcome: "unknown", message });

/**
 * Looks at a settlement that was seen before. Never rejects.
 *
 * @example const { outcome } = await finalityOnSolana({ rpc }, trace, signal);
 */
export async function finalityOnSolana(
  { rpc }: ChainReader,
  trace: SettledTrace,
  signal: AbortSignal,
): Promise<Finality> {
  const { transaction } = trace;
  if (transaction === null) return unknown("the record names no transaction");
  const options = { signal };
  // Each node by itself: what one of them does not know another one may have.
  const looks = await Promise.all(
    rpc.each.map((node) => readStatuses(node, [transaction], { ...options, history: true })),
  );
  const seen = looks.flatMap((look) => (look.ok && look.statuses[0] ? [look.statuses[0]] : []));
  const stands = seen.find(({ error, level }) => error === null && level === "finalized");
  if (stands) return { outcome: "final", transaction, height: stands.slot };
  const landed = seen.find(({ error, level }) => error === null && level === "confirmed");
  if (landed) return { outcome: "settled", transaction, height: landed.slot };
  if (seen.some(({ error, level }) => error !== null && level === "finalized")) return { outcome: "lost" };
  if (seen.length > 0) return unknown("the transaction is in a block that is not confirmed");
  const places = await Promise.all(rpc.each.map((node, at) => placeOf(node, looks[at], trace, options)));
  if (places.includes("behind")) return unknown("no node that is as far as the settlement was asked");
  const found = await searchOnSolana({ rpc }, ageless(trace), options);
  switch (found.outcome) {
    case "settled": {
      const { height } = found;
      return { outcome: "settled", transaction: found.transaction, ...(height !== undefined && { height }) };
    }
    case "expired":
      return { outcome: "lost" };
    case "live":
      // Invariant: what can land nowhere any more is never called gone: a node that keeps the bytes out itself still knows them.
      return places.includes("far") ? unknown("its blockhash is over, and nobody knows of it") : { outcome: "gone" };
    case "too_old":
      return unknown("what paid for it is older than the store");
    case "unknown":
      return found;
  }
}

/** It was sold in this store's memory: nobody asks any more how old it is. */
const ageless = ({ since: _, ...trace }: Trace): Trace => trace;

/**
 * Where a node is on the chain: `behind` the block of the settlement, `near` it, or so `far` that a blockhash from before that block
 * is over. On a receiver's word a settlement has no slot, but a time before which it stood: a node whose final block is younger than
 * that is past it. Should the clocks be further apart, the same bytes are sent in vain.
 */
async function placeOf(
  node: SolanaRpc,
  look: Statuses | undefined,
  { expiry, height, settledAt }: SettledTrace,
  options: RpcOptions,
): Promise<"behind" | "near" | "far"> {
  if (!look?.ok) return "behind";
  if (height !== undefined) {
    if (look.slot <= height) return "behind";
    return expiry || look.slot <= height + BLOCKHASH_LIFE ? "near" : "far";
  }
  const reply = await node.call("getSlot", [{ commitment: "finalized" }], options);
  const slot = reply.ok && typeof reply.result === "number" ? reply.result : undefined;
  const time = slot === undefined ? undefined : await timeOf(node, slot, options);
  if (slot === undefined || time === undefined || settledAt === undefined) return "behind";
  if (time <= settledAt + CLOCKS_MS) return "behind";
  // Its last block is known, and the search looks at that.
  if (expiry) return "near";
  const before = await timeOf(node, slot - BLOCKHASH_LIFE, options);
  return before !== undefined && before <= settledAt ? "near" : "far";
}

/** Epoch milliseconds of the block in a slot, or of the one before where it has none. */
async function timeOf(node: SolanaRpc, slot: number, options: RpcOptions): Promise<number | undefined> {
  for (let back = 0; back < MOST_SKIPPED; back++) {
    const time = await node.call("getBlockTime", [slot - back], options);
    if (time.ok && typeof time.result === "number") return time.result * 1000;
  }
  return undefined;
}
