// A price in words, for people. Decimals and symbol are those of our own table: what a seller calls his token is not said.
import { formatDecimal } from "../money.js";
import { NATIVE } from "../requirement.js";
import type { Offer } from "./offer.js";

type Asset = Pick<Offer, "asset" | "token" | "network">;

/**
 * What an offer asks for.
 *
 * @example formatPrice(offer) // "0.01 USDC"
 */
export const formatPrice = (offer: Asset & Pick<Offer, "amount">): string => formatAmount(offer, offer.amount);

/** Another amount of an offer's asset. A token that our table does not know is counted in its smallest units. */
export function formatAmount({ asset, token, network }: Asset, amount: bigint): string {
  if (token) return `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
  if (asset !== NATIVE) return `${amount} atomic units of ${asset}`;
  const { symbol, decimals } = network.native;
  return `${formatDecimal(amount, decimals)} ${symbol === NATIVE ? `native currency of ${network.id}` : symbol}`;
}
