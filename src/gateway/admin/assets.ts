// The assets that a limit or a key may name, by network: those of the running networks, or those of the settings and the
// built-in table where no network is open (the command line).
import { findNetwork } from "../../networks.js";
import { NATIVE } from "../../requirement.js";
import type { GatewayNetworks } from "../parts.js";
import type { GatewaySettings } from "../settings.js";

export interface NamedAsset {
  /** `native`, a token's checksummed address, or a mint. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

export interface KnownNetwork {
  readonly id: string;
  readonly name: string;
  readonly family: "evm" | "solana";
  readonly testnet: boolean;
  /** The native currency first. */
  readonly assets: readonly NamedAsset[];
}

/** A network by any of its names; undefined where it is not known here. */
export type FindNetwork = (name: string) => KnownNetwork | undefined;

/** What a running gateway may move. */
export function assetsOfNetworks(networks: GatewayNetworks): FindNetwork {
  return (name) => {
    const found = networks.find(name);
    return found && { ...found.network, assets: found.assets };
  };
}

/** What the settings name; of other networks what the built-in table has. */
export function assetsOfSettings({ networks }: Pick<GatewaySettings, "networks">): FindNetwork {
  return (name) => {
    const network = findNetwork(name);
    if (!network) return undefined;
    const own = networks.find((one) => one.network.id === network.id);
    const native = { address: NATIVE, ...network.native };
    return { ...network, assets: [native, ...(own?.assets ?? network.tokens)] };
  };
}
