// The names of the built-in networks as a type, so that an editor completes them. test/networks.test.ts holds them equal to
// the table; any other text is still taken, because a chain is also known by its CAIP-2 id and by further names.

/** The Solana clusters. */
export type KnownCluster = "solana" | "solana-devnet" | "solana-testnet";

/** The networks of the built-in table by their usual key. */
export type KnownNetwork =
  | KnownCluster
  | "abstract"
  | "abstract-testnet"
  | "adi"
  | "arbitrum"
  | "arbitrum-sepolia"
  | "avalanche"
  | "avalanche-fuji"
  | "base"
  | "base-sepolia"
  | "celo"
  | "celo-sepolia"
  | "edu-chain"
  | "flare"
  | "hpp"
  | "hpp-sepolia"
  | "igra"
  | "iotex"
  | "mainnet"
  | "megaeth"
  | "mezo"
  | "mezo-testnet"
  | "monad"
  | "monad-testnet"
  | "optimism"
  | "optimism-sepolia"
  | "peaq"
  | "polygon"
  | "polygon-amoy"
  | "radius"
  | "radius-testnet"
  | "sei"
  | "sei-testnet"
  | "sepolia"
  | "skale-base"
  | "skale-base-sepolia-testnet"
  | "stable"
  | "stable-testnet"
  | "story"
  | "xdc"
  | "xdc-testnet"
  | "xrplevm";

/** What `network` and `networks` take: a name that is completed, a CAIP-2 id such as `eip155:8453`, or an x402 v1 name. */
export type NetworkName = KnownNetwork | (string & {});
