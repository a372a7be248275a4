// The nodes that a wallet may ask: their URLs by network as its owner wrote them, opened when a network is first needed.
import * as z from "zod/mini";
import { optionPath, type Problems, show } from "../config-problems.js";
import { reportIssues } from "../config-schema.js";
import type { NetworkName } from "../network-names.js";
import { suggestNetwork } from "../network-suggestion.js";
import { findNetwork, type Network } from "../networks.js";
import { listOf, url } from "../receive/local-schema.js";

/** For one question to a node: a buyer has more time than a seller, and mostly one node. */
export const NODE_TIMEOUT_MS = 10_000;

const urls = listOf(url, "RPC URL");

/** Members of every wallet's options. */
export const nodeMembers = {
  rpcUrl: z.optional(urls),
  rpcUrls: z.optional(z.record(z.string(), urls, "expected a map of networks to RPC URLs")),
};

/** Nodes as they are written: one URL, or several of which one may fail. */
export interface NodeOptions {
  /** A node for whichever network it is of. It is asked for its chain, and not asked about others after that. */
  readonly rpcUrl?: string | string[] | undefined;
  /** Nodes by any name of a network. One map can serve wallets of both families. */
  readonly rpcUrls?: Readonly<Partial<Record<NetworkName, string | string[]>>> | undefined;
}

/** Opens a network. `wrong` is called when its node turns out to be of another chain. */
export type OpenNode<Node> = (network: Network, urls: readonly string[], wrong: (message: string) => void) => Node;

export interface WalletNodes<Node> {
  /** The node of a network, or the sentence that says what to add. */
  of(network: Network): Node | string;
}

/** `wallet`: how the function is called whose options they are. */
export function createWalletNodes<Node extends object>(
  wallet: string,
  { rpcUrl, rpcUrls = {} }: NodeOptions,
  open: OpenNode<Node>,
): WalletNodes<Node> {
  const named = new Map(Object.entries(rpcUrls).map(([name, one]) => [findNetwork(name)?.id, one]));
  const opened = new Map<string, Node>();
  /** By network, why the one URL for all does not serve it. */
  const foreign = new Map<string, string>();
  return {
    of(network) {
      const { id, name } = network;
      const known = opened.get(id);
      if (known) return known;
      const own = named.get(id);
      const given = [own ?? (foreign.has(id) ? [] : (rpcUrl ?? []))].flat();
      if (given.length === 0) {
        const why = foreign.get(id);
        const remedy = `add a node of ${name}: ${wallet}(…, { rpcUrls: { "${name}": "https://…" } })`;
        return why === undefined ? remedy : `${why}; ${remedy}`;
      }
      const node = open(network, given, (message) => {
        // A name that was written stays: its node may be mended. The one URL for all is of another network for good.
        if (own !== undefined) return;
        foreign.set(id, message);
        opened.delete(id);
      });
      opened.set(id, node);
      return node;
    },
  };
}

/** The options as the schema reads them; undefined where it refused them. No problem holds a URL or a key. */
export function readWalletOptions<Schema extends z.ZodMiniObject>(
  wallet: string,
  schema: Schema,
  input: unknown,
  problems: Problems,
): z.output<Schema> | undefined {
  const { success, data, error } = schema.safeParse(input);
  const places = {
    pathOf: (path: readonly PropertyKey[]) => optionPath(wallet, path),
    known: () => Object.keys(schema.shape),
  };
  if (!success) reportIssues(error.issues, input, places, problems);
  checkNames(wallet, input, problems);
  return data;
}

/** Every name must be a network's, and one network has one entry. */
function checkNames(wallet: string, input: unknown, problems: Problems): void {
  const map: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "rpcUrls") : undefined;
  if (typeof map !== "object" || map === null || Array.isArray(map)) return;
  const names = new Map<string, string>();
  for (const name of Object.keys(map)) {
    const path = optionPath(wallet, ["rpcUrls", name]);
    const network = findNetwork(name);
    const twin = network && names.get(network.id);
    if (!network) problems.add(path, "unknown_network", `${show(name)} is no known network: ${suggestNetwork(name)}`);
    else if (twin) problems.add(path, "contradiction", `"${twin}" is the same network: keep one of the two`);
    else names.set(network.id, name);
  }
}
