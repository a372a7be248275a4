// Names of the chains a test may meet, in v1 and in v2, from the protocol's own table (§7) and not from the paywall's.
const CAIP2: Readonly<Record<string, string>> = {
  base: "eip155:8453",
  "base-sepolia": "eip155:84532",
  polygon: "eip155:137",
  "polygon-amoy": "eip155:80002",
  avalanche: "eip155:43114",
  "avalanche-fuji": "eip155:43113",
  solana: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "solana-devnet": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
};

/** The chain as v2 writes it. Throws for a name that no test buyer knows. */
export function caip2Of(network: string): string {
  const id = network.includes(":") ? network : CAIP2[network];
  if (id === undefined) throw new Error(`The test buyer does not know the network ${network}`);
  return id;
}

/** The chain as v1 writes it. */
export function v1NameOf(network: string): string {
  const id = caip2Of(network);
  const name = Object.keys(CAIP2).find((key) => CAIP2[key] === id);
  if (name === undefined) throw new Error(`The test buyer knows no v1 name of ${network}`);
  return name;
}

/** The EIP-155 number of an EVM chain; undefined for any other. */
export function chainIdOf(network: string): number | undefined {
  const id = caip2Of(network);
  return id.startsWith("eip155:") ? Number(id.slice("eip155:".length)) : undefined;
}

export const isSolana = (network: string): boolean => caip2Of(network).startsWith("solana:");

/** The chain's own currency, as an offer spells it. Source: design §6. */
const NATIVE = { evm: `0x${"0".repeat(40)}`, solana: "1".repeat(32) } as const;

/** A requirement of the paywall itself says `native`; on the wire stands an address. */
export function wireAssetOf({ asset, network }: { readonly asset: string; readonly network: string }): string {
  return asset === "native" ? NATIVE[isSolana(network) ? "solana" : "evm"] : asset;
}

export const isNativeAsset = (offer: { readonly asset: string; readonly network: string }): boolean =>
  wireAssetOf(offer) === NATIVE[isSolana(offer.network) ? "solana" : "evm"];
