// What a request would cost: asked once, unpaid. Nothing is signed, reserved or remembered.
import { drainBody } from "./bounded-body.js";
import type { Buyer } from "./buyer.js";
import { bareUrl, type FetchInit, readCall } from "./call-request.js";
import { readChallenge } from "./challenge.js";
import { chooseOffer } from "./choose.js";
import { BUYER_ERRORS, BuyerError } from "./errors.js";
import { hostOf } from "./host-name.js";
import type { Challenge, Offer } from "./offer.js";
import { findPlaceFault, placeOf } from "./place.js";
import { formatPrice } from "./price-text.js";

/** One offer of a 402, and whether it could be paid. */
export interface QuotedOffer {
  /** Place in the seller's list. */
  readonly index: number;
  /** True, or why it is not paid, in words. */
  readonly payable: true | string;
  /** `0.01 USDC`; this and the others are undefined where the offer cannot be read. */
  readonly price?: string;
  /** As our own table calls it: `base`. */
  readonly network?: string;
  /** `native`, or the token's address. */
  readonly asset?: string;
  /** Atomic units. */
  readonly amount?: bigint;
  readonly payTo?: string;
}

/** What a request would cost. */
export interface Quote {
  readonly url: string;
  readonly status: number;
  /** It is not a 402. */
  readonly free: boolean;
  readonly offers: readonly QuotedOffer[];
  /** Index of the offer that would be paid. */
  readonly chosen?: number;
  /** The seller's own words: untrusted. */
  readonly description?: string;
  /** What a payment would end in. */
  readonly error?: BuyerError;
}

export async function quote(buyer: Buyer, input: string | URL, init: FetchInit | undefined): Promise<Quote> {
  const { settings } = buyer;
  const response = await settings.fetch(input, init);
  const call = readCall(input, init);
  const { status } = response;
  if (!call || status !== 402) {
    void drainBody(response);
    return { url: call ? bareUrl(call.url) : String(input), status, free: status !== 402, offers: [] };
  }
  const read = await readChallenge(response, { signal: call.signal });
  const place = placeOf(call, response, (init?.body ?? undefined) !== undefined);
  const fault = place instanceof BuyerError ? place : findPlaceFault(place, settings);
  const url = bareUrl(place instanceof BuyerError ? call.url : place);
  const asked = { url, status, free: false } as const;
  if (!read.ok) {
    const error = fault ?? new BuyerError(read.code, { url, reason: read.reason, status });
    return { ...asked, offers: [], error };
  }
  const { challenge } = read;
  const { description } = challenge;
  const request = { url, host: hostOf(new URL(url)), signal: call.signal };
  const choice = await chooseOffer(settings, challenge, request);
  const error = fault ?? (choice.ok ? undefined : new BuyerError(choice.code, { url, ...choice.facts }));
  return {
    ...asked,
    offers: await quoteOffers(buyer, challenge, request),
    ...(choice.ok && { chosen: choice.offer.index }),
    ...(description !== undefined && { description }),
    ...(error && { error }),
  };
}

/** Each offer as if it were the only one, in the seller's order. */
async function quoteOffers(
  { settings }: Buyer,
  challenge: Challenge,
  request: Parameters<typeof chooseOffer>[2],
): Promise<readonly QuotedOffer[]> {
  const judge = async (offer: Offer): Promise<QuotedOffer> => {
    const choice = await chooseOffer(settings, { ...challenge, offers: [offer], unpayable: [] }, request);
    const { index, network, asset, amount, payTo } = offer;
    const price = formatPrice(offer);
    const sentence = choice.ok || (choice.facts.offers?.[0] ?? BUYER_ERRORS[choice.code].title);
    // Which offer it is stands beside it here.
    const name = `offer ${index + 1}, ${price} on ${network.name}: `;
    const payable = sentence !== true && sentence.startsWith(name) ? sentence.slice(name.length) : sentence;
    return { index, payable, price, network: network.name, asset, amount, payTo };
  };
  const offers = await Promise.all(challenge.offers.map(judge));
  const others = challenge.unpayable.map(({ index, reason }): QuotedOffer => ({ index, payable: reason }));
  return [...offers, ...others].sort((a, b) => a.index - b.index);
}
