// What the `facilitator` receiver finds out without its facilitator: the fate of a lost settlement, over the seller's own RPC.
// The chain code is loaded on first use only.
import { findNetwork, type Network } from "../networks.js";
import type { Requirement } from "../requirement.js";
import type { HttpClient } from "./http.js";
import type { ReadinessProblem, Receiver } from "./receiver.js";

export interface ChainLookups {
  /** Mismatches between the RPC URLs and the networks asked for. A node that is down is none: it is needed for lookups only. */
  findProblems(requirements: readonly Requirement[], signal: AbortSignal): Promise<ReadinessProblem[]>;
  /** Without an RPC URL for the network the outcome stays `unknown`. */
  readonly lookup: Receiver["lookup"];
  /** Absent where no RPC URL is configured at all. */
  readonly finality?: NonNullable<Receiver["finality"]>;
}

/** One network over its URL. */
interface Reader {
  /** What the node's chain says of itself, where that is not the network: both values. */
  findMismatch(signal: AbortSignal): Promise<Mismatch | undefined>;
  readonly lookup: Receiver["lookup"];
  readonly finality: NonNullable<Receiver["finality"]>;
}

type Mismatch = Pick<ReadinessProblem, "expected" | "got">;

/** @param rpcUrl one URL for the one network in use, or one by network name */
export function createChainLookups(
  rpcUrl: string | Readonly<Record<string, string>> | undefined,
  http: HttpClient,
): ChainLookups {
  const urls = new Map<string, string>();
  if (typeof rpcUrl === "object") {
    for (const [name, url] of Object.entries(rpcUrl)) {
      const network = findNetwork(name);
      if (network) urls.set(network.id, url);
    }
  }
  const readers = new Map<string, Reader>();

  async function readerOf(id: string): Promise<Reader | undefined> {
    const network = findNetwork(id);
    const url = typeof rpcUrl === "string" ? rpcUrl : urls.get(id);
    if (url === undefined || !network) return undefined;
    const opened = readers.get(id) ?? (await open(network, url, http));
    if (opened) readers.set(id, opened);
    return opened;
  }

  return {
    async findProblems(requirements, signal) {
      const networks = [...new Set(requirements.map(({ network }) => network))];
      if (typeof rpcUrl === "string" && networks.length > 1) return [oneUrlForMany(networks)];
      const problems = await Promise.all(
        networks.map(async (network) => {
          const mismatch = await (await readerOf(network))?.findMismatch(signal);
          return mismatch && wrongChain(mismatch);
        }),
      );
      return problems.filter((problem) => problem !== undefined);
    },
    async lookup(trace, signal) {
      const reader = await readerOf(trace.network);
      if (!reader)
        return { outcome: "unknown", message: "only the chain could tell, and no rpcUrl is configured for it" };
      return reader.lookup(trace, signal);
    },
    ...(rpcUrl !== undefined && {
      finality: async (trace, signal) =>
        (await readerOf(trace.network))?.finality(trace, signal) ?? { outcome: "untold" },
    }),
  };
}

function open(network: Network, url: string, http: HttpClient): Promise<Reader | undefined> {
  return network.family === "solana" ? openSolana(network, url, http) : openEvm(network, url, http);
}

async function openEvm({ chainId, blockMs, id }: Network, url: string, http: HttpClient): Promise<Reader | undefined> {
  if (chainId === undefined) return undefined;
  const [{ createRpc }, { lookupOnChain }, { finalityOnChain }] = await Promise.all([
    import("../chains/evm/rpc.js"),
    import("../chains/evm/lookup.js"),
    import("../chains/evm/finality.js"),
  ]);
  const rpc = createRpc({ urls: [url], chainId }, http);
  return {
    async findMismatch(signal) {
      const reply = await rpc.batch([], { signal });
      if (reply.ok || !reply.chainId) return undefined;
      const { expected, got } = reply.chainId;
      return { expected: `chain id ${expected} for ${id}`, got: `chain id ${got}` };
    },
    lookup: (trace, signal) => lookupOnChain({ rpc, blockMs }, trace, signal),
    finality: (trace, signal) => finalityOnChain({ rpc, blockMs }, trace, signal),
  };
}

async function openSolana({ id }: Network, url: string, http: HttpClient): Promise<Reader> {
  const [{ createSolanaRpc }, { lookupOnSolana }, { finalityOnSolana }] = await Promise.all([
    import("../chains/solana/rpc.js"),
    import("../chains/solana/lookup.js"),
    import("../chains/solana/finality.js"),
  ]);
  const rpc = createSolanaRpc({ urls: [url], network: id }, http);
  return {
    async findMismatch(signal) {
      const reply = await rpc.call("getGenesisHash", [], { signal });
      if (reply.ok || reply.kind !== "fault" || !reply.genesis) return undefined;
      const { expected, got } = reply.genesis;
      return { expected: `genesis hash ${expected}… for ${id}`, got: `genesis hash ${got}` };
    },
    lookup: (trace, signal) => lookupOnSolana({ rpc }, trace, signal),
    finality: (trace, signal) => finalityOnSolana({ rpc }, trace, signal),
  };
}

const oneUrlForMany = (networks: readonly string[]): ReadinessProblem => ({
  check: "rpcUrl",
  expected: `one URL for each of ${networks.join(", ")}`,
  got: "one URL for all of them",
  remedy: 'Write "rpcUrl" of facilitator() as a map from network to URL.',
});

const wrongChain = (mismatch: Mismatch): ReadinessProblem => ({
  check: "rpcUrl",
  ...mismatch,
  remedy: 'Give "rpcUrl" of facilitator() the URL of a node of that network.',
});
