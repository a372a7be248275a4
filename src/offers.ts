// A price and a route's terms become the list of offers, stable between the 402 and the paid retry: tokens first, what only
// a complete transaction can pay last.
import { type Challenge, prepareChallenge } from "./challenge.js";
import type { Network } from "./networks.js";
import { type Cost, resolvePrice } from "./price.js";
import type { Receiver } from "./receive/receiver.js";
import type { Requirement, TransferMethod } from "./requirement.js";
import type { Terms } from "./settings.js";

/** What a buyer may choose from on one route, with the 402 that says so. */
export interface Offers {
  readonly requirements: readonly Requirement[];
  readonly networks: readonly Network[];
  readonly challenge: Challenge;
  /** How the amounts of `requirements` are shown, in their order. */
  readonly units?: readonly Unit[];
}

/** An asset in a person's eyes. */
export type Unit = Pick<Cost, "symbol" | "decimals">;

export type OffersResult =
  | { readonly kind: "free" }
  | {
      readonly kind: "offers";
      readonly offers: Offers;
      /** Offers that cannot be made yet, because their fee payer is not known: for start-up checks only. */
      readonly pending: readonly Requirement[];
    }
  | { readonly kind: "invalid"; readonly problem: string };

/** What offers need to know of their receiver. */
export type OfferingReceiver = Pick<Receiver, "name" | "methods" | "feePayer">;

/** Only the exact text `"free"` is free; whatever cannot be priced exactly is invalid. */
export function createOffers(price: unknown, terms: Terms, receiver: OfferingReceiver): OffersResult {
  const result = resolvePrice(price, terms.networks);
  if (!result.ok) return { kind: "invalid", problem: result.problem };
  if (result.free) return { kind: "free" };
  const foreign = result.costs.find((cost) => !takes(receiver, cost));
  if (foreign) return { kind: "invalid", problem: notTaken(receiver, foreign) };

  const made = inOrder(result.costs).map((cost) => ({
    network: cost.network,
    unit: { symbol: cost.symbol, decimals: cost.decimals },
    requirement: Object.freeze(toRequirement(cost, terms, receiver)),
  }));
  const [offers, pending] = [made.filter(isComplete), made.filter((offer) => !isComplete(offer))];
  return {
    kind: "offers",
    offers: {
      requirements: offers.map(({ requirement }) => requirement),
      networks: offers.map(({ network }) => network),
      units: offers.map(({ unit }) => unit),
      challenge: prepareChallenge(offers, { description: terms.description, mimeType: terms.mimeType }),
    },
    pending: pending.map(({ requirement }) => requirement),
  };
}

const DEFAULT_METHODS: readonly TransferMethod[] = ["eip3009"];

/** Does the receiver take money that moves like this? */
export const takes = ({ methods = DEFAULT_METHODS }: OfferingReceiver, { transfer }: Cost): boolean =>
  methods.includes(transfer.method);

/** Why a price cannot be received. */
export function notTaken({ name }: OfferingReceiver, { symbol, network, transfer }: Cost): string {
  const what = `${name}() cannot receive ${symbol} on ${network.name}`;
  return transfer.method === "transaction"
    ? `${what}, which the buyer pays by a transaction of his own: receive with local(), or choose a stablecoin`
    : `${what}: receive with local() or facilitator(), or choose another network`;
}

/** As the seller wrote them, but transactions last: few buyers can pay them. */
function inOrder(costs: readonly Cost[]): readonly Cost[] {
  const isLast = ({ transfer }: Cost) => transfer.method === "transaction";
  return [...costs.filter((cost) => !isLast(cost)), ...costs.filter(isLast)];
}

const isComplete = ({ requirement }: { readonly requirement: Requirement }): boolean =>
  requirement.method !== "spl" || requirement.extra.feePayer !== "";

function toRequirement(cost: Cost, terms: Terms, receiver: OfferingReceiver): Requirement {
  const { network, asset, amount, transfer } = cost;
  const payTo = terms.payTo[network.id];
  if (payTo === undefined) throw new Error(`no payTo for ${network.id}: the options were not checked`);
  const { maxTimeoutSeconds } = terms;
  const common = { scheme: "exact", network: network.id, asset, amount, payTo, maxTimeoutSeconds } as const;
  const flow = terms.flow === "upfront" ? ({ paymentFlow: "upfront" } as const) : {};
  switch (transfer.method) {
    case "eip3009":
      return { ...common, method: "eip3009", extra: { ...transfer.domain, ...flow } };
    case "spl": {
      const feePayer = receiver.feePayer?.(network.id) ?? "";
      const { decimals } = cost;
      const { tokenProgram } = transfer;
      const program = tokenProgram === undefined ? {} : { tokenProgram };
      return { ...common, method: "spl", extra: { feePayer, decimals, ...program, ...flow } };
    }
    case "transaction": {
      const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
      const confirmations = transfer.confirmations ?? terms.confirmations;
      return { ...common, method: "transaction", extra, confirmations };
    }
  }
}
