// Values as people read them: exact amounts with their asset, instants with their machine's form, networks by name.
import { html } from "hono/html";
import { formatDecimal } from "../../money.js";
import { checksumAddress, findNetwork, tokenByAddress } from "../../networks.js";
import { NATIVE } from "../../requirement.js";
import type { GatewayNetworks } from "../parts.js";
import type { Html } from "./layout.js";

interface AssetFacts {
  readonly symbol: string;
  readonly decimals: number;
}

/** What this gateway serves, else what the table knows; an asset of which nothing is known is shown in its smallest units. */
export function assetOf(networks: GatewayNetworks, network: string, asset: string): AssetFacts {
  const served = networks.find(network)?.assets.find(({ address }) => address === asset);
  if (served) return served;
  const known = findNetwork(network);
  const token = asset === NATIVE ? known?.native : known && tokenByAddress(known, asset);
  return token ?? { symbol: `units of ${asset}`, decimals: 0 };
}

interface Amount {
  readonly network: string;
  readonly asset: string;
  readonly amount: bigint;
}

export function amountText(networks: GatewayNetworks, { network, asset, amount }: Amount): string {
  const { symbol, decimals } = assetOf(networks, network, asset);
  return `${formatDecimal(amount, decimals)} ${symbol}`;
}

/** Money of a test network is said to be that, wherever it stands. */
export const networkText = (id: string): string => {
  const network = findNetwork(id);
  return network === undefined ? id : `${network.name}${network.testnet ? " (test)" : ""}`;
};

/** Addresses are kept in one spelling; people compare them in the one that wallets show. */
export const spellWallet = (address: string): string => (address.startsWith("0x") ? checksumAddress(address) : address);

export function instant(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")}</time>`;
}

/** @example dayText(20000) // "2024-10-04" */
export const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
