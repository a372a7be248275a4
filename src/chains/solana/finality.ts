// Whether a settlement stays: a confirmed block may still be left for another fork until it is final. What is missing is sent
// again only where a node that is further than its slot does not know it; over is what `exclude` proves, as for a lookup.
import type { Finality, SettledTrace } from "../../receive/receiver.js";
import type { ChainReader } from "./chain.js";
import { exclude } from "./history.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";
import { readStatuses } from "./statuses.js";

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
  const { transaction, height } = trace;
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
  const isPast = await Promise.all(
    looks.map(async (look, at) => {
      if (!look.ok) return false;
      return height === undefined ? isFinallyPast(rpc.each[at], trace, options) : look.slot > height;
    }),
  );
  if (!isPast.every(Boolean)) return unknown("no node that is as far as the settlement was asked");
  const exclusions = await Promise.all(rpc.each.map((node) => exclude(node, trace, options)));
  return { outcome: exclusions.some(({ ok }) => ok) ? "lost" : "gone" };
}

/**
 * On a receiver's word a settlement has no slot, but a time before which it stood: a node whose final block is younger than that
 * is past it. Should the clocks be further apart, the same bytes are sent in vain.
 */
async function isFinallyPast(
  node: SolanaRpc | undefined,
  { settledAt }: SettledTrace,
  options: RpcOptions,
): Promise<boolean> {
  if (!node || settledAt === undefined) return false;
  const slot = await node.call("getSlot", [{ commitment: "finalized" }], options);
  const time = slot.ok ? await node.call("getBlockTime", [slot.result], options) : slot;
  return time.ok && typeof time.result === "number" && time.result * 1000 > settledAt + CLOCKS_MS;
}
