// `tollgate/solana`: Solana clusters, and the forms of what pays the network fee on them.
import type { KnownCluster } from "./network-names.js";
import type { LocalSolanaOptions } from "./receive/local-options.js";

export type { SolanaAccount } from "./chains/solana/settlers.js";
export type { LocalSolanaOptions } from "./receive/local-options.js";

/** A cluster of the built-in table, under a name of your own where you like. */
export interface SolanaOptions extends Omit<LocalSolanaOptions, "id"> {
  /** Its name, or CAIP-2: `solana:` and the first 32 characters of its genesis hash. */
  readonly id: KnownCluster | `solana:${string}`;
}

/**
 * An entry for the networks of `local()`. The settler signs as fee payer and pays the network fee of token payments; the
 * money never passes through it.
 *
 * @example
 * local({ networks: { shop: solana({ id: "solana-devnet", rpcUrl, settler, maxTotalFeeLamports: 15_000n }) } });
 */
export function solana(options: SolanaOptions): LocalSolanaOptions {
  return Object.freeze({ ...options });
}
