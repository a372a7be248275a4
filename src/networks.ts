// Networks by any of their names, and the tokens on them. The table itself is in network-table.ts.
import { NETWORK_TABLE } from "./network-table.js";

export { checksumAddress, isAddressOf } from "./address.js";
export { TOKEN_2022, TOKEN_PROGRAM } from "./network-table.js";

/** A token of the built-in table. */
export interface Token {
  readonly symbol: string;
  /** Checksummed on EVM; the mint on Solana. */
  readonly address: string;
  readonly decimals: number;
  /** The token contract's own EIP-712 domain strings, which are not display names; absent on Solana. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** How it can be moved by a signature; `permit2` is not offered yet. */
  readonly transferMethod: "eip3009" | "permit2" | "spl";
  /** The token program where it is not the classic one, on Solana. */
  readonly tokenProgram?: string;
  /** The spelling of x402 1.x's own table, where it differs (protocol §9.10). */
  readonly v1Address?: string;
}

export interface Network {
  /** Canonical CAIP-2 id. */
  readonly id: string;
  readonly family: "evm" | "solana";
  /** EIP-155 chain id; undefined on Solana. */
  readonly chainId: number | undefined;
  /** viem's chain key in kebab case. */
  readonly name: string;
  /** One of the 17 names that x402 1.x clients accept: only these are written into v1 bodies. */
  readonly v1Name: string | undefined;
  /** Further names and spellings that are understood, never written. */
  readonly aliases: readonly string[];
  readonly testnet: boolean;
  readonly native: { readonly symbol: string; readonly decimals: number };
  /** The first is the stablecoin that `$` means, unless it is `permit2`. */
  readonly tokens: readonly Token[];
  /** Milliseconds that one settlement may take. */
  readonly settleMs: number;
  /** Milliseconds between blocks, roughly. */
  readonly blockMs: number;
}

/** Every network with a name of its own (protocol §7), frozen. */
export const NETWORKS: readonly Network[] = NETWORK_TABLE;

const byId = new Map(NETWORKS.map((network) => [network.id, network]));
const byName = new Map<string, Network>();
for (const network of NETWORKS) {
  for (const name of [network.name, network.v1Name, ...network.aliases]) if (name) byName.set(name, network);
}

/**
 * A network by what a seller writes: CAIP-2 id, v1 name, alias or viem's key in kebab case; case-sensitive.
 * An EVM chain that is not in the table is known by its CAIP-2 id alone and has no tokens.
 *
 * @example findNetwork("base-sepolia")?.id // "eip155:84532"
 */
export function findNetwork(name: string): Network | undefined {
  return byId.get(name) ?? byName.get(name) ?? unlistedChain(name);
}

/**
 * A network by what a payment says. Spec: protocol §9.11. v1 takes names, aliases and canonical CAIP-2 ids, because
 * published clients send all three; v2 takes canonical CAIP-2 ids only, so that one chain has one spelling.
 */
export function networkFromWire(version: 1 | 2, name: string): Network | undefined {
  return version === 1 ? findNetwork(name) : (byId.get(name) ?? unlistedChain(name));
}

function unlistedChain(id: string): Network | undefined {
  const digits = /^eip155:([1-9][0-9]{0,15})$/.exec(id)?.[1];
  const chainId = Number(digits);
  if (digits === undefined || !Number.isSafeInteger(chainId)) return undefined;
  return Object.freeze({
    id,
    family: "evm",
    chainId,
    name: `eip155-${digits}`,
    v1Name: undefined,
    aliases: Object.freeze([]),
    // Nothing is known about it, so it gets the stricter rules of a main network.
    testnet: false,
    native: Object.freeze({ symbol: "native", decimals: 18 }),
    tokens: Object.freeze([]),
    settleMs: 10_000,
    blockMs: 2_000,
  });
}

/** A token of the table by its address, in any case on EVM. */
export function tokenByAddress(network: Network, address: string): Token | undefined {
  const wanted = address.toLowerCase();
  return network.tokens.find((token) =>
    network.family === "evm" ? token.address.toLowerCase() === wanted : token.address === address,
  );
}

/**
 * The suffixes under which the environment may name this network, most readable first.
 *
 * @example environmentName(baseSepolia) // ["BASE_SEPOLIA", "EIP155_84532"]
 */
export function environmentName(network: Network): string[] {
  const names = [network.name, network.id, network.v1Name ?? network.name, ...network.aliases];
  return [...new Set(names.map((name) => name.toUpperCase().replace(/[^A-Z0-9]/g, "_")))];
}
