// The price of one request: fixed at construction, or by the seller's function, which runs once. Only the exact text
// "free" opens; whatever goes wrong here refuses.
import { LRUCache } from "lru-cache";
import type { ErrorCode } from "./errors.js";
import { createOffers, type Offers } from "./offers.js";
import type { Price, PriceFunction } from "./price.js";
import type { PaywallRequest } from "./request.js";
import type { Terms } from "./settings.js";

export type Priced =
  | { readonly kind: "free" }
  | { readonly kind: "offers"; readonly offers: Offers }
  | {
      readonly kind: "refused";
      readonly code: ErrorCode;
      /** The 4xx that a price function threw. */
      readonly status?: number;
      readonly message?: string;
      /** For the log. */
      readonly problem?: string;
    };

/** Gives the price of a request, at once where it is fixed. */
export interface Pricing {
  readonly fixed: Priced | undefined;
  of(request: PaywallRequest): Promise<Priced>;
}

export const priceRequest = (pricing: Pricing, request: PaywallRequest): Priced | Promise<Priced> =>
  pricing.fixed ?? pricing.of(request);

/** Prepares the offers of a fixed price, or keeps the last ones that a function named. */
export function createPricing(price: Price | PriceFunction, terms: Terms): Pricing {
  if (typeof price !== "function") {
    const fixed = toPriced(price, terms);
    return { fixed, of: async () => fixed };
  }
  const recent = new LRUCache<string, Priced>({ max: 100 });
  return {
    fixed: undefined,
    async of(request) {
      let named: unknown;
      try {
        // Safe because each adapter's own types say what its price functions get.
        named = await price(request, request.native as never);
      } catch (error) {
        return refusedBy(error);
      }
      if (typeof named !== "string") return toPriced(named, terms);
      const known = recent.get(named) ?? toPriced(named, terms);
      recent.set(named, known);
      return known;
    },
  };
}

function toPriced(price: unknown, terms: Terms): Priced {
  const result = createOffers(price, terms);
  if (result.kind === "invalid") return { kind: "refused", code: "price_invalid", problem: result.problem };
  return result;
}

/** A thrown error that carries a 4xx is the buyer's, anything else is the seller's 500. */
function refusedBy(error: unknown): Priced {
  const status = (error as { status?: unknown } | null)?.status;
  if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 500) {
    return { kind: "refused", code: "request_malformed", status, message: String((error as Error).message) };
  }
  return { kind: "refused", code: "price_invalid", problem: `the price function threw: ${String(error)}` };
}
