// Whether a settlement stays: a confirmed block may still be left for another fork until it is final. What is missing is sent
// again only where a node that is further than its slot does not know it; over is what `exclude` proves, as for a lookup.
import type { Finality, Trace } from "../../receive/receiver.js";
import type { ChainReader } from "./chain.js";
import { exclude } from "./history.js";
import { readStatuses } from "./statuses.js";

const unknown = (message: string): Finality => ({ outcome: "unknown", message });

/**
 * Looks at a settlement that was seen before. Never rejects.
 *
 * @example const { outcome } = await finalityOnSolana({ rpc }, trace, signal);
 */
export async function finalityOnSolana({ rpc }: ChainReader, trace: Trace, signal: AbortSignal): Promise<Finality> {
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
  const isPast = height !== undefined && looks.every((look) => look.ok && look.slot > height);
  if (!isPast) return unknown("no node that is as far as the settlement was asked");
  const exclusions = await Promise.all(rpc.each.map((node) => exclude(node, trace, options)));
  return { outcome: exclusions.some(({ ok }) => ok) ? "lost" : "gone" };
}
