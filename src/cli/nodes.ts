// Which nodes cannot serve their network: asked once at the start, each URL by itself, so that an operator reads of a dead or
// wrong one before a caller does. Nodes are named by their hosts, because URLs carry keys.
import type { GatewayNetwork } from "../gateway/chain.js";
import type { GatewayNetworks } from "../gateway/parts.js";
import { environmentName } from "../networks.js";

/** A node that does not answer holds up no start. */
const NODE_MS = 3_000;

/** Sentences, each with what to do; empty where every node answers for its own chain. Never rejects. */
export async function findUnfitNodes({ all }: Pick<GatewayNetworks, "all">): Promise<string[]> {
  const found = await Promise.all(all.map(problemsOf));
  return found.flat();
}

async function problemsOf({ network, transfers: { rpc } }: GatewayNetwork): Promise<string[]> {
  const until = { deadlineAt: Date.now() + NODE_MS };
  // Both clients ask for the identity of the chain by themselves, and believe no node of another one.
  const replies =
    "batch" in rpc
      ? await Promise.all(rpc.each.map((node) => node.batch([], until)))
      : await Promise.all(rpc.each.map((node) => node.call("getGenesisHash", [], until)));
  const [suffix = ""] = environmentName(network);
  const remedy = `set TOLLGATE_RPC_URL_${suffix} (or rpcUrl) to a node of ${network.name}`;
  return replies.flatMap((reply) =>
    reply.ok ? [] : [`A node of ${network.name} cannot be used: ${reply.message}; ${remedy}.`],
  );
}
