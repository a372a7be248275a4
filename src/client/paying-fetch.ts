// The public entry: a `fetch` that pays what its options allow, and leaves everything else untouched.
import { createBreaker } from "./breaker.js";
import type { Buyer } from "./buyer.js";
import { call } from "./call.js";
import type { FetchInit } from "./call-request.js";
import { createObserver } from "./observe.js";
import { type PayingFetchOptions, readOptions } from "./options.js";
import { createPendingProofs } from "./pending-proofs.js";
import type { Purchase } from "./purchase.js";
import { type Quote, quote } from "./quote.js";
import type { BuyerSettings } from "./settings.js";

export type PayingFetch = typeof globalThis.fetch & {
  /** What the request would cost: asked once, unpaid; nothing is signed and nothing is counted. */
  quote(url: string | URL, init?: FetchInit): Promise<Quote>;
  /** What was bought or tried, newest first, as far as the store remembers. */
  receipts(): Promise<readonly Purchase[]>;
};

/**
 * A `fetch` that pays 402s within a budget. Per call it signs one payment at most; a payment whose answer was lost is sent again by
 * the next equal request, and nothing is paid anew. Answers other than a 402 are the inner fetch's own.
 *
 * Throws BuyerError where a payment was not made or not answered; its `money` says whether any moved.
 *
 * @example
 * const pay = payingFetch({ wallets: [evmWallet(account)], budget: { perRequest: "$0.10", perDay: "$5" } });
 * const response = await pay("https://api.example/report");
 */
export const payingFetch = (options: PayingFetchOptions): PayingFetch => createPayingFetch(readOptions(options));

/** The same of settings that are read already. */
export function createPayingFetch(settings: BuyerSettings): PayingFetch {
  const { store, now } = settings;
  const buyer: Buyer = {
    settings,
    observer: createObserver(settings),
    breaker: createBreaker(settings.breaker, now),
    proofs: createPendingProofs(store, now),
  };
  const paying: typeof globalThis.fetch = async (input, init) => call(buyer, input, init);
  return Object.assign(paying, {
    quote: (url: string | URL, init?: FetchInit) => quote(buyer, url, init),
    receipts: () => store.purchases(),
  });
}
