// A price and a route's terms become the list of offers, stable between the 402 and the paid retry.
import { type Challenge, prepareChallenge } from "./challenge.js";
import type { Network } from "./networks.js";
import { resolvePrice } from "./price.js";
import type { Requirement } from "./requirement.js";
import type { Terms } from "./settings.js";

/** What a buyer may choose from on one route, with the 402 that says so. */
export interface Offers {
  readonly requirements: readonly Requirement[];
  readonly networks: readonly Network[];
  readonly challenge: Challenge;
}

export type OffersResult =
  | { readonly kind: "free" }
  | { readonly kind: "offers"; readonly offers: Offers }
  | { readonly kind: "invalid"; readonly problem: string };

/** Only the exact text `"free"` is free; whatever cannot be priced exactly is invalid. */
export function createOffers(price: unknown, terms: Terms): OffersResult {
  const result = resolvePrice(price, terms.networks);
  if (!result.ok) return { kind: "invalid", problem: result.problem };
  if (result.free) return { kind: "free" };
  const offers = result.costs.map(({ network, asset, amount, domain }) => {
    const payTo = terms.payTo[network.id];
    if (payTo === undefined) throw new Error(`no payTo for ${network.id}: the options were not checked`);
    const requirement: Requirement = Object.freeze({
      scheme: "exact",
      network: network.id,
      asset,
      amount,
      payTo,
      maxTimeoutSeconds: terms.maxTimeoutSeconds,
      extra: { ...domain, ...(terms.flow === "upfront" && { paymentFlow: "upfront" as const }) },
    });
    return { requirement, network };
  });
  return {
    kind: "offers",
    offers: {
      requirements: offers.map(({ requirement }) => requirement),
      networks: offers.map(({ network }) => network),
      challenge: prepareChallenge(offers, { description: terms.description, mimeType: terms.mimeType }),
    },
  };
}
