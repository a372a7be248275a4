// The caller's own node, and which chain it is of: what a gateway builds is for that chain and no other.
import { readQuantity } from "../chains/evm/answers.js";
import { createRpc, type Rpc } from "../chains/evm/rpc.js";
import { createSolanaRpc, type SolanaRpc } from "../chains/solana/rpc.js";
import { findNetwork, type Network } from "../networks.js";
import { LocalTransactionError } from "./local-error.js";

export type EvmNode = {
  readonly family: "evm";
  readonly network: Network & { readonly chainId: number };
  readonly rpc: Rpc;
};
export type SolanaNode = { readonly family: "solana"; readonly network: Network; readonly rpc: SolanaRpc };

/** The node of an account of this family. */
export const openNode = (
  family: "evm" | "solana",
  { urls, signal }: { readonly urls: readonly string[]; readonly signal?: AbortSignal | undefined },
  name: string | undefined,
): Promise<EvmNode | SolanaNode> =>
  family === "evm" ? openEvmNode(urls, name, signal) : openSolanaNode(urls, name, signal);

/** By the name of a network, where the order has one: then the node must be of that, which each call to it checks. */
async function openEvmNode(
  urls: readonly string[],
  name: string | undefined,
  signal: AbortSignal | undefined,
): Promise<EvmNode> {
  const id = name === undefined ? await chainOf(urls, signal) : undefined;
  const network = findNetwork(name ?? `eip155:${id}`);
  if (network?.family !== "evm" || network.chainId === undefined) throw otherNetwork(name, "an EVM network");
  const { chainId } = network;
  return { family: "evm", network: { ...network, chainId }, rpc: createRpc({ urls, chainId }) };
}

async function chainOf(urls: readonly string[], signal: AbortSignal | undefined): Promise<bigint> {
  const rpc = createRpc({ urls, chainId: 0 });
  try {
    const call = { method: "eth_chainId", params: [] };
    const reply = await rpc.batch([call], { checkChain: false, ...(signal && { signal }) });
    signal?.throwIfAborted();
    const id = reply.ok ? readQuantity(reply.answers[0]) : undefined;
    if (id !== undefined) return id;
    throw new LocalTransactionError("node_failed", reply.ok ? "it tells no chain id" : reply.message);
  } finally {
    rpc.close();
  }
}

/** As `openEvmNode`, for a cluster of Solana. */
async function openSolanaNode(
  urls: readonly string[],
  name: string | undefined,
  signal: AbortSignal | undefined,
): Promise<SolanaNode> {
  const network = findNetwork(name ?? (await clusterOf(urls, signal)));
  if (network?.family !== "solana") throw otherNetwork(name, "a cluster of Solana");
  return { family: "solana", network, rpc: createSolanaRpc({ urls, network: network.id }) };
}

async function clusterOf(urls: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  // Of no cluster at all: the refusal names the one that it is of.
  const rpc = createSolanaRpc({ urls, network: "solana:" });
  try {
    const reply = await rpc.call("getGenesisHash", [], signal ? { signal } : {});
    signal?.throwIfAborted();
    const got = reply.ok || reply.kind !== "fault" ? undefined : reply.genesis?.got;
    if (got !== undefined) return `solana:${got.slice(0, 32)}`;
    throw new LocalTransactionError("node_failed", reply.ok ? "it tells no genesis hash" : reply.message);
  } finally {
    rpc.close();
  }
}

const otherNetwork = (name: string | undefined, expected: string): LocalTransactionError =>
  name === undefined
    ? new LocalTransactionError("node_failed", `expected a node of ${expected} that is known here: name the network`)
    : new LocalTransactionError("order_invalid", `network: expected ${expected}, to go with the account`);
