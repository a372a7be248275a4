// Closes the books of a shop: what its buyers were told, what its handlers ran and what the chain took, as one history.
import type { Buyer } from "./buyer.js";
import type { History, Purchase } from "./history.js";
import type { Shop } from "./shop.js";

/** $0.01. */
export const PRICE = 10_000n;
/** Atomic units that a buyer of the sandbox starts with. */
const FUNDS = 1_000_000_000n;

/** The chain answers so many questions at a time. */
const AT_ONCE = 50;

/** @param buyers all of them, each with one payment */
export async function closeBooks({ sandbox, payTo, runs }: Shop, buyers: readonly Buyer[]): Promise<History> {
  const { token } = sandbox;
  const transfers = await token.transfers({ to: payTo });
  const ran = runs();
  const known = new Set(buyers.map(({ payer }) => payer));
  const close = async ({ payer, told, keyed }: Buyer): Promise<Purchase> => ({
    payer,
    keyed,
    told,
    runs: ran.filter((one) => one.payer === payer).map(({ name }) => name),
    debits: transfers
      .filter(({ from }) => from === payer)
      .map(({ value, transaction }) => ({ amount: value, transaction })),
    spent: FUNDS - (await token.balanceOf(payer as `0x${string}`)),
  });
  const purchases: Purchase[] = [];
  for (let at = 0; at < buyers.length; at += AT_ONCE) {
    purchases.push(...(await Promise.all(buyers.slice(at, at + AT_ONCE).map(close))));
  }
  const foreign = transfers.map(({ from }) => from).filter((from) => !known.has(from));
  return { purchases, price: PRICE, received: await token.balanceOf(payTo), foreign };
}
