// Puts what was signed into the header of the challenge's version, as that version's sellers want it back. Spec: protocol §2.2, §8.
import { PAYMENT_IDENTIFIER, RETRY_KEY } from "../proof.js";
import { encodeHeader } from "../wire/header.js";
import { isRecord } from "../wire/json.js";
import type { PaymentPayload } from "../wire/payload.js";
import type { Challenge, Offer } from "./offer.js";

export interface Envelope {
  readonly challenge: Challenge;
  /** One of the challenge's. */
  readonly offer: Offer;
  readonly payload: PaymentPayload["payload"];
  readonly retryKey: string;
}

/** Many servers and proxies refuse a header line that is longer. */
const COMMON_LIMIT = 8 * 1024;

/** Whether the seller takes the retry key inside the payment; else it has to travel in a header of its own. */
export const takesRetryKey = ({ extensions }: Challenge): boolean => isRecord(extensions?.[PAYMENT_IDENTIFIER]);

/**
 * The header that pays. A v2 payment sends the offer, the resource and the extensions back as they came; a v1 payment names
 * scheme and network in the seller's own words.
 */
export function toPaymentHeaders({ challenge, offer, payload, retryKey }: Envelope): Readonly<Record<string, string>> {
  if (challenge.version === 1) {
    const { scheme, network } = offer.given;
    return { "X-PAYMENT": encodeHeader({ x402Version: 1, scheme, network, payload }) };
  }
  const { resource } = challenge;
  const paid = { x402Version: 2, ...(resource !== undefined && { resource }), accepted: offer.given, payload };
  const identifier = identify(challenge, retryKey);
  const extensions = { ...challenge.extensions, ...identifier };
  const whole = withExtensions(paid, extensions);
  // Sellers take a payment without their extensions, and servers none whose header is too long.
  return { "PAYMENT-SIGNATURE": whole.length > COMMON_LIMIT ? withExtensions(paid, identifier) : whole };
}

const withExtensions = (paid: object, extensions: Readonly<Record<string, unknown>>): string =>
  encodeHeader(Object.keys(extensions).length > 0 ? { ...paid, extensions } : paid);

/** The seller's own entry with the key as its id; nothing where it was not advertised. */
function identify(challenge: Challenge, retryKey: string): Readonly<Record<string, unknown>> {
  const advertised = challenge.extensions?.[PAYMENT_IDENTIFIER];
  if (!isRecord(advertised) || !RETRY_KEY.test(retryKey)) return {};
  const info = isRecord(advertised.info) ? advertised.info : {};
  return { [PAYMENT_IDENTIFIER]: { ...advertised, info: { ...info, id: retryKey } } };
}
