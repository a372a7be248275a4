// A purchase in words, and as JSON.
import type { Purchase } from "../../client/purchase.js";
import { formatDecimal } from "../../money.js";
import { findNetwork } from "../../networks.js";

/** `0.01 USDC` */
export function priceOf({ amount, decimals, symbol, asset }: Purchase): string {
  if (decimals === undefined || symbol === undefined) return `${amount} atomic units of ${asset}`;
  return `${formatDecimal(amount, decimals)} ${symbol}`;
}

/** `0.01 USDC on base-sepolia` */
export const paidOf = (purchase: Purchase): string =>
  `${priceOf(purchase)} on ${findNetwork(purchase.network)?.name ?? purchase.network}`;

/** One line: what was paid to whom, and by which transaction. */
export function receiptLine(purchase: Purchase, isOld: boolean): string {
  const { status, payTo, transaction } = purchase;
  const by = transaction ? `, transaction ${transaction}` : "";
  const what = `${paidOf(purchase)} to ${payTo}${by}`;
  if (status !== "settled") return `Sent a payment of ${what}: nothing says yet that it was taken`;
  return isOld ? `Paid by an earlier run, and not again: ${what}` : `Paid ${what}`;
}

/**
 * For programs. Amounts are text, because JSON's numbers would lose digits. Invariant: without the id, which is the retry key: with
 * it, and with the proof that its settlement has made public, anybody collects the goods.
 */
export const toReceipt = (purchase: Purchase, isOld: boolean): object => {
  const { id, amount, at, decimals, served, ...facts } = purchase;
  return {
    ...facts,
    price: priceOf(purchase),
    amount: `${amount}`,
    at: new Date(at).toISOString(),
    served,
    paidEarlier: isOld,
  };
};
