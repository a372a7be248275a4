// `tollgate/evm`: EVM chains beyond the built-in table, and the forms of what settles on them.
import type { LocalNetworkOptions } from "./receive/local-options.js";

export type { GasTransaction, SettlerAccount } from "./chains/evm/settlers.js";
export type { LocalNetworkOptions } from "./receive/local-options.js";

/** An EVM chain that the built-in table does not know, or one of it under a name of your own. */
export interface EvmOptions extends Omit<LocalNetworkOptions, "id"> {
  /** CAIP-2, `eip155:` and the chain id. */
  readonly id: `eip155:${number}`;
}

/**
 * An entry for the networks of `local()`. Prices on such a chain name their asset in full
 * (`{ amount, asset, network, decimals, domain }`, or `asset: "native"`), because the built-in table has no stablecoin for it.
 *
 * @example
 * local({ networks: { "my-chain": evm({ id: "eip155:31337", rpcUrl, settler, tokens: [{ address, decimals: 6 }] }) } });
 */
export function evm(options: EvmOptions): LocalNetworkOptions {
  return Object.freeze({ ...options });
}
