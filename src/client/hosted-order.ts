// A seller's offer as the gateway is asked to pay it. The request names network, recipient and amount by what was read of the
// offer; the offer goes along as `requirements`, of its members those that decide anything.
import { formatDecimal, parseDecimal } from "../money.js";
import { NATIVE } from "../requirement.js";
import { isRecord } from "../wire/json.js";
import type { SendRequest } from "./gateway-client-shapes.js";
import type { Offer } from "./offer.js";
import type { SignRequest } from "./wallet.js";

/** What the endpoint takes at once, in whole units of whatever asset. Source: gateway-spec. */
const [LEAST, MOST] = ["0.001", "100"];
/** What the gateway keeps as the resource. */
const MAX_RESOURCE = 2048;
/** What the gateway signs at most. */
const MAX_SECONDS = 600;
/** The gateway's clock may be ahead of ours, and the request takes a moment: the proof must still end in time. */
const MARGIN_SECONDS = 10;

export interface HostedOrder {
  /** Whole units. */
  readonly amount: string;
}

/** What is to be asked for, or why the gateway cannot be asked for it. */
export function readOrder({ amount, asset, token, network }: Offer): HostedOrder | string {
  const unit = asset === NATIVE ? network.native : token;
  if (!unit) return `${asset} is not in the built-in table, so its amount cannot be told in whole units`;
  const [least, most] = [LEAST, MOST].map((text) => parseDecimal(text, Math.max(unit.decimals, 3)));
  const scale = 10n ** BigInt(Math.max(0, 3 - unit.decimals));
  if (!least?.ok || !most?.ok) throw new TypeError("the bounds are decimal text");
  const text = formatDecimal(amount, unit.decimals);
  if (amount * scale < least.amount || amount * scale > most.amount) {
    return `a hosted wallet pays from ${LEAST} to ${MOST} ${unit.symbol} at once, and this is ${text}`;
  }
  return { amount: text };
}

/** @param now epoch milliseconds */
export function toSendRequest(
  offer: Offer,
  { amount }: HostedOrder,
  walletAddress: string,
  { resource, validUntil }: SignRequest,
  now: number,
): SendRequest {
  const { network, payTo: recipientAddress } = offer;
  const requirements = toRequirements(offer, validUntil, now);
  return {
    ...{ walletAddress, recipientAddress, amount, network: network.id, requirements },
    ...(resource.length <= MAX_RESOURCE && { resource }),
  };
}

/**
 * The members by which an offer is held against the request. What else the seller wrote stays out: the payment's envelope is made
 * elsewhere, and the gateway takes no long ones.
 */
function toRequirements(
  { given, amount, version, method, maxTimeoutSeconds }: Offer,
  validUntil: number,
  now: number,
): NonNullable<SendRequest["requirements"]> {
  const { scheme, network, asset, payTo, extra } = given;
  const price = amount.toString();
  // Invariant: the proof ends when it is asked to, however long the seller would take it. A transfer has no such end, and the
  // same key must ask for the same thing whenever it is used.
  const left = method === "transaction" ? MAX_SECONDS : Math.floor((validUntil - now) / 1000) - MARGIN_SECONDS;
  const seconds = Math.max(1, Math.min(Math.floor(maxTimeoutSeconds), left, MAX_SECONDS));
  return {
    ...{ scheme: String(scheme), network: String(network), asset: String(asset), payTo: String(payTo) },
    maxTimeoutSeconds: seconds,
    ...(version === 2 ? { amount: price } : { maxAmountRequired: price }),
    ...(isRecord(extra) && { extra }),
  };
}
