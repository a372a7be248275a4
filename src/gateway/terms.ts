// What a request asks to move: network, asset and atomic amount, from the request and the configuration alone, never from a
// proof. Numbers are read as the decimal text that they print as. Source: design §7.

import { expandNumber, formatDecimal, parseDecimal } from "../money.js";
import { checksumAddress, isAddressOf } from "../networks.js";
import { NATIVE } from "../requirement.js";
import type { Asset, GatewayNetwork } from "./chain.js";
import { fault, invalidField, type Outcome } from "./errors.js";
import type { GatewayNetworks } from "./parts.js";
import type { Mode } from "./payment.js";
import type { Decimal } from "./schemas/index.js";

export interface Terms {
  readonly network: GatewayNetwork;
  readonly asset: Asset;
  /** Checksummed on EVM. */
  readonly address: string;
}

/** The network and asset of a request, by the address that it is about. `place` names its field in details. */
export function readTerms(
  networks: GatewayNetworks,
  mode: Mode,
  request: {
    readonly walletAddress: string;
    readonly network?: string | undefined;
    readonly asset?: string | undefined;
  },
): Outcome<Terms> {
  const { walletAddress } = request;
  const family = walletAddress.startsWith("0x") ? "evm" : "solana";
  const address = readAddress(family, walletAddress);
  if (address === undefined)
    return invalidField("walletAddress", `expected a valid ${FAMILY[family]} address (check the mixed-case checksum)`);
  const network = request.network === undefined ? networks.defaultFor(family, mode) : networks.find(request.network);
  if (!network) {
    if (request.network === undefined)
      return invalidField("network", `this gateway serves no ${mode} network of ${FAMILY[family]}`);
    const served = networks.all.map((one) => one.network.name).join(", ");
    return invalidField("network", `expected one of ${served}; got ${JSON.stringify(request.network)}`);
  }
  if (network.network.family !== family) {
    return invalidField(
      "walletAddress",
      `expected a ${FAMILY[network.network.family]} address for ${network.network.name}`,
    );
  }
  if (network.network.testnet !== (mode === "test")) {
    const message = `a ${mode} key reaches ${mode === "test" ? "test" : "main"} networks only, and ${network.network.name} is none`;
    return fault("FORBIDDEN", message);
  }
  const asset = findAsset(network, request.asset);
  if (!asset) {
    const known = network.assets.map(({ symbol }) => symbol).join(", ");
    return invalidField(
      "asset",
      `expected one of ${known} on ${network.network.name}; got ${JSON.stringify(request.asset)}`,
    );
  }
  return { ok: true, value: { network, asset, address } };
}

const FAMILY = { evm: "EVM", solana: "Solana" } as const;

/** In its one spelling; undefined where it is none. */
export function readAddress(family: "evm" | "solana", text: string): string | undefined {
  if (!isAddressOf(family, text)) return undefined;
  return family === "evm" ? checksumAddress(text) : text;
}

/** By symbol or address; absent = the chain's own currency. */
export function findAsset({ assets }: GatewayNetwork, name: string | undefined): Asset | undefined {
  if (name === undefined) return assets[0];
  return assets.find(
    ({ symbol, address }) =>
      symbol.toLowerCase() === name.toLowerCase() ||
      (address.startsWith("0x") ? address.toLowerCase() === name.toLowerCase() : address === name),
  );
}

/** Whole units as a request has them, in atomic units. More decimals than the asset has are refused. */
export function readAmount(
  path: string,
  given: Decimal,
  { decimals, symbol }: Pick<Asset, "decimals" | "symbol">,
): Outcome<bigint> {
  const text = typeof given === "number" ? expandNumber(given) : given;
  const parsed = parseDecimal(text, decimals);
  if (!parsed.ok) return invalidField(path, `${text} ${parsed.problem} (${symbol})`);
  if (parsed.amount === 0n) return invalidField(path, "expected more than 0");
  return { ok: true, value: parsed.amount };
}

/** An atomic amount as the answers' number; exact is `amountAtomic`. */
export const toNumber = (amount: bigint, decimals: number): number => Number(formatDecimal(amount, decimals));

/** An asset as answers name it: its address, or the symbol of the native currency. */
export const assetName = ({ network }: GatewayNetwork, address: string): string =>
  address === NATIVE ? network.native.symbol : address;
