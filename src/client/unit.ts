// What is counted together. Dollars: the stablecoins of our own table, on every network, for a seller's word is no proof that a
// token is one. Native currency: by its symbol, on every network. Any other asset: alone.
// Invariant: amounts are brought to a unit's smallest part by an exact multiplication; nothing is divided or rounded.

import { formatDecimal } from "../money.js";
import { checksumAddress, NETWORKS, type Network, tokenByAddress } from "../networks.js";
import { NATIVE } from "../requirement.js";

export interface Unit {
  /** `usd`, `native:SOL`, `eip155:8453/0x…`. */
  readonly id: string;
  /** The unit's smallest parts in one atomic unit of the asset. */
  readonly factor: bigint;
  /** `$0.10`, `0.001 SOL`. */
  format(amount: bigint): string;
}

/** Tokens of the table that are worth a dollar, by symbol. A token of another symbol is never counted as one. */
export const DOLLARS: ReadonlySet<string> = new Set(
  "USDC USDC.e USDT USDT0 USAT USDG PYUSD CASH MegaUSD mUSD SBC".split(" "),
);

/** Decimals of dollars and of native currencies as they are counted: as many as the finest of their assets has. */
export const SCALE = 18;

export const formatDollars = (amount: bigint): string =>
  `$${formatDecimal(amount, SCALE).replace(/(\.\d)$/, (cents) => `${cents}0`)}`;

/** Dollars, of a token with so many decimals. */
export const dollars = (decimals: number): Unit => ({ id: "usd", factor: factorOf(decimals), format: formatDollars });

/** A native currency under its symbol. */
export const native = (symbol: string, decimals: number): Unit => ({
  id: `native:${symbol}`,
  factor: factorOf(decimals),
  format: (amount) => `${formatDecimal(amount, SCALE)} ${symbol}`,
});

/** The unit of an asset: `native`, or the address of a token in any case. */
export function unitOf(network: Network, asset: string): Unit {
  const token = asset === NATIVE ? undefined : tokenByAddress(network, asset);
  if (token && DOLLARS.has(token.symbol)) return dollars(token.decimals);
  if (asset === NATIVE && hasSharedSymbol(network)) return native(network.native.symbol, network.native.decimals);
  const place = asset === NATIVE || network.family !== "evm" ? asset : checksumAddress(asset);
  const known = asset === NATIVE ? network.native : token;
  return {
    id: `${network.id}/${place}`,
    factor: 1n,
    format: (amount) =>
      known
        ? `${formatDecimal(amount, known.decimals)} ${known.symbol} on ${network.name}`
        : `${amount} atomic units of ${place} on ${network.name}`,
  };
}

/**
 * Whether the symbol of a network's own currency says enough: not that of a chain which is known by its id alone, and not one
 * that is also a dollar.
 */
export const hasSharedSymbol = ({ id, native }: Network): boolean =>
  NETWORKS.some((network) => network.id === id) && !DOLLARS.has(native.symbol);

const factorOf = (decimals: number): bigint => 10n ** BigInt(SCALE - decimals);
