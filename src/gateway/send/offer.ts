// One offer of a seller's 402, held against what the caller asked for. The offer decides nothing: whatever it says of network,
// asset, payee and amount must be what the request says, and the token's domain is our own. Source: protocol §2.1, design §7.
import { formatDecimal, parseInteger } from "../../money.js";
import { networkFromWire } from "../../networks.js";
import { NATIVE, type TransferMethod, wireAsset } from "../../requirement.js";
import type { Asset, GatewayNetwork } from "../chain.js";
import { invalidField, type Outcome } from "../errors.js";
import type { SendRequest } from "../schemas/index.js";
import { findAsset, type Terms } from "../terms.js";
import { sameAddress } from "./field.js";
import type { Wanted } from "./order.js";

type GivenOffer = NonNullable<SendRequest["requirements"]>;

/** An offer that asks for exactly what is to be paid. */
export interface ReadOffer {
  readonly version: 1 | 2;
  /** As it came: v2 sellers want it back unchanged. */
  readonly given: GivenOffer;
  /** How the money moves. */
  readonly method: TransferMethod;
  /** Whole seconds that a signed proof is good for. */
  readonly seconds: number;
}

/** A proof lives no longer than this, however long the seller would take it. */
const LONGEST_SECONDS = 600;
/** A payment header repeats the offer and may have 16 KiB; most servers take 8 KiB. */
const MOST_BYTES = 6 * 1024;

/** The asset of the offer, which must be the one of the request where that names one. */
export function assetOfOffer({ network, asset }: Terms, request: SendRequest): Outcome<Asset> {
  const { requirements, asset: named } = request;
  const offered = requirements && findOffered(network, requirements.asset);
  if (!offered) {
    const known = network.assets.map(({ symbol }) => symbol).join(", ");
    return invalidField("requirements.asset", `expected one of ${known} on ${network.network.name}, by its address`);
  }
  if (named !== undefined && findAsset(network, named) !== offered) {
    return invalidField(
      "requirements.asset",
      `expected ${asset.symbol}, the asset of the request; got ${offered.symbol}`,
    );
  }
  return { ok: true, value: offered };
}

/** By address alone; the chain's own currency has one on the wire. */
const findOffered = ({ network, assets }: GatewayNetwork, text: string): Asset | undefined =>
  assets.find(({ address }) => sameAddress(wireAsset({ asset: address, network: network.id }), text));

/** What an offer is held against. */
type OfferTerms = Pick<Wanted, "network" | "asset" | "recipient" | "amount" | "priorityFee">;

/** Holds an offer against the order that it is to be paid with; an error names the field, what was expected and what came. */
export function readOffer(order: OfferTerms, given: GivenOffer): Outcome<ReadOffer> {
  const { network, asset, recipient, amount } = order;
  const refuse = (field: string, expected: string, got: string) =>
    invalidField(`requirements.${field}`, `expected ${expected}, got ${got}`);
  if (new TextEncoder().encode(JSON.stringify(given)).length > MOST_BYTES) {
    return invalidField("requirements", `expected at most ${MOST_BYTES} bytes of JSON, because a payment repeats it`);
  }
  if (given.scheme !== "exact") return refuse("scheme", "exact", JSON.stringify(given.scheme));
  const price = readPrice(given);
  if (!price.ok) return price;
  const { version, digits } = price.value;
  if (networkFromWire(version, given.network)?.id !== network.network.id) {
    return refuse("network", `${network.network.id}, the network of the request`, JSON.stringify(given.network));
  }
  if (!sameAddress(given.payTo, recipient)) return refuse("payTo", `${recipient}, the recipientAddress`, given.payTo);
  const parsed = parseInteger(digits);
  if (!parsed.ok || parsed.amount !== amount) {
    const [wanted, asked] = [amount, parsed.ok ? parsed.amount : undefined].map((units) =>
      units === undefined
        ? JSON.stringify(digits)
        : `${units} (${formatDecimal(units, asset.decimals)} ${asset.symbol})`,
    );
    return refuse(version === 2 ? "amount" : "maxAmountRequired", `${wanted}, the amount of the request`, `${asked}`);
  }
  const method = readMethod(order, given);
  if (!method.ok) return method;
  const seconds = Math.min(Math.floor(given.maxTimeoutSeconds), LONGEST_SECONDS);
  if (seconds < 1) return refuse("maxTimeoutSeconds", "at least 1", String(given.maxTimeoutSeconds));
  return { ok: true, value: { version, given, method: method.value, seconds } };
}

/** `amount` makes it an offer of v2, `maxAmountRequired` one of v1. */
function readPrice({ amount, maxAmountRequired }: GivenOffer): Outcome<{ version: 1 | 2; digits: string }> {
  if ((amount === undefined) === (maxAmountRequired === undefined)) {
    return invalidField("requirements", "expected either amount (x402 v2) or maxAmountRequired (x402 v1)");
  }
  const value = amount === undefined ? ({ version: 1, digits: maxAmountRequired ?? "" } as const) : undefined;
  return { ok: true, value: value ?? { version: 2, digits: amount ?? "" } };
}

/** How the offered asset moves; what this gateway cannot sign is refused by its name. */
function readMethod({ network, asset, priorityFee }: OfferTerms, { extra }: GivenOffer): Outcome<TransferMethod> {
  const { family } = network.network;
  const named = extra?.assetTransferMethod;
  const refuse = (field: string, message: string) => invalidField(`requirements.extra.${field}`, message);
  if (named === "transaction") {
    if (family === "evm" || asset.address === NATIVE) return { ok: true, value: "transaction" };
    return refuse(
      "assetTransferMethod",
      "expected none, because tokens on Solana are paid through the seller's fee payer",
    );
  }
  if (named !== undefined && named !== null && named !== "eip3009") {
    return refuse("assetTransferMethod", `expected eip3009 or transaction, got ${JSON.stringify(named)}`);
  }
  if (asset.address === NATIVE || (family === "evm" && asset.domain === undefined)) {
    return refuse("assetTransferMethod", `expected transaction, the only way in which ${asset.symbol} can be paid`);
  }
  if (priorityFee !== undefined) {
    return invalidField(
      "priorityFee",
      "expected none, because the seller sends this payment to the chain and pays for it",
    );
  }
  if (family === "solana") return { ok: true, value: "spl" };
  // Invariant: what is signed is signed for the token as we know it. Another domain is another contract's, or a trap.
  for (const field of ["name", "version"] as const) {
    const got = extra?.[field];
    const expected = asset.domain?.[field];
    if (got !== undefined && got !== null && got !== expected) {
      return refuse(field, `expected ${JSON.stringify(expected)}, the token's own; got ${JSON.stringify(got)}`);
    }
  }
  return { ok: true, value: "eip3009" };
}
