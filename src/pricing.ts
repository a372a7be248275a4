// The price of one request: fixed at construction, or by the seller's function, which runs once. Only the exact text
// "free" opens; whatever goes wrong here refuses.
import { LRUCache } from "lru-cache";
import type { ErrorCode } from "./errors.js";
import { createOffers, type OfferingReceiver, type Offers } from "./offers.js";
import type { Price, PriceFunction } from "./price.js";
import type { PaywallRequest } from "./request.js";
import type { Requirement } from "./requirement.js";
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
  /** What start-up checks can cover before a request comes. */
  readonly known: readonly Requirement[];
  of(request: PaywallRequest): Promise<Priced>;
}

export const priceRequest = (pricing: Pricing, request: PaywallRequest): Priced | Promise<Priced> =>
  pricing.fixed ?? pricing.of(request);

/** Prepares the offers of a fixed price, or keeps the last ones that a function named. */
export function createPricing(price: Price | PriceFunction, terms: Terms, receiver: OfferingReceiver): Pricing {
  if (typeof price !== "function") return createFixed(price, terms, receiver);
  const recent = new LRUCache<string, Priced>({ max: 100 });
  return {
    fixed: undefined,
    known: [],
    async of(request) {
      let named: unknown;
      try {
        // Safe because each adapter's own types say what its price functions get.
        named = await price(request, request.native as never);
      } catch (error) {
        return refusedBy(error);
      }
      const known = typeof named === "string" ? recent.get(named) : undefined;
      if (known && !isOutdated(known, receiver)) return known;
      const { priced, pending } = toPriced(named, terms, receiver);
      if (typeof named === "string" && pending.length === 0) recent.set(named, priced);
      return priced;
    },
  };
}

/** Made once; made again on request for as long as a fee payer is not known, and when another one has taken its place. */
function createFixed(price: Price, terms: Terms, receiver: OfferingReceiver): Pricing {
  let made = toPriced(price, terms, receiver);
  const { priced, pending } = made;
  const latest = (): Priced => {
    if (made.pending.length > 0 || isOutdated(made.priced, receiver)) made = toPriced(price, terms, receiver);
    return made.priced;
  };
  return {
    get fixed() {
      return latest();
    },
    known: [...pending, ...(priced.kind === "offers" ? priced.offers.requirements : [])],
    of: async () => latest(),
  };
}

/** A fee payer that serves no more can take no payment: an offer that names it would only be refused later. */
function isOutdated(priced: Priced, receiver: OfferingReceiver): boolean {
  if (priced.kind !== "offers") return false;
  return priced.offers.requirements.some(
    ({ method, network, extra }) => method === "spl" && extra.feePayer !== receiver.feePayer?.(network),
  );
}

interface Made {
  readonly priced: Priced;
  readonly pending: readonly Requirement[];
}

function toPriced(price: unknown, terms: Terms, receiver: OfferingReceiver): Made {
  const result = createOffers(price, terms, receiver);
  if (result.kind === "invalid") return made({ kind: "refused", code: "price_invalid", problem: result.problem });
  if (result.kind === "free") return made(result);
  const { offers, pending } = result;
  if (offers.requirements.length > 0) return { priced: { kind: "offers", offers }, pending };
  return { priced: { kind: "refused", code: "not_ready" }, pending };
}

const made = (priced: Priced): Made => ({ priced, pending: [] });

/** A thrown error that carries a 4xx is the buyer's, anything else is the seller's 500. */
function refusedBy(error: unknown): Priced {
  const status = (error as { status?: unknown } | null)?.status;
  if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status < 500) {
    return { kind: "refused", code: "request_malformed", status, message: String((error as Error).message) };
  }
  return { kind: "refused", code: "price_invalid", problem: `the price function threw: ${String(error)}` };
}
