// The facilitator API on the wire: /verify, /settle and /supported, in both versions. Spec: protocol §2.3 and §6.
import * as z from "zod/mini";
import type { Network } from "../networks.js";
import type { Requirement, Resource } from "../requirement.js";
import { type PaymentPayload, paymentPayloadV1, paymentPayloadV2 } from "./payload.js";
import { paymentRequirementsV1, toRequirementsV1 } from "./v1.js";
import { paymentRequirementsV2, toOfferV2 } from "./v2.js";

/** The body of /verify and of /settle. */
export const facilitatorRequestBody = z.union([
  z.object({
    x402Version: z.literal(1),
    paymentPayload: paymentPayloadV1,
    paymentRequirements: paymentRequirementsV1,
  }),
  z.object({
    x402Version: z.literal(2),
    paymentPayload: paymentPayloadV2,
    paymentRequirements: paymentRequirementsV2,
  }),
]);
export type FacilitatorRequest = z.infer<typeof facilitatorRequestBody>;

const record = z.record(z.string(), z.unknown());

/** Members that are not named here are dropped: they are the facilitator's own business. */
export const verifyResponse = z.object({
  isValid: z.boolean(),
  invalidReason: z.optional(z.string()),
  invalidMessage: z.optional(z.string()),
  payer: z.optional(z.string()),
  extensions: z.optional(record),
  extra: z.optional(record),
});
export type VerifyResponse = z.infer<typeof verifyResponse>;

/** Also the receipt: the JSON in X-PAYMENT-RESPONSE and PAYMENT-RESPONSE. */
export const settleResponse = z.object({
  success: z.boolean(),
  errorReason: z.optional(z.string()),
  errorMessage: z.optional(z.string()),
  payer: z.optional(z.string()),
  /** Transaction hash; empty where there is none. */
  transaction: z.string(),
  network: z.string(),
  /** Atomic units, where the charge differs from the price. */
  amount: z.optional(z.string()),
  extensions: z.optional(record),
  extra: z.optional(record),
});
export type SettleResponse = z.infer<typeof settleResponse>;

export const supportedResponse = z.object({
  kinds: z.array(
    z.object({ x402Version: z.number(), scheme: z.string(), network: z.string(), extra: z.optional(record) }),
  ),
  extensions: z._default(z.array(z.string()), []),
  /** Signer addresses by CAIP-2 family or id. */
  signers: z._default(z.record(z.string(), z.array(z.string())), {}),
});
export type SupportedResponse = z.infer<typeof supportedResponse>;

/** Reads the answer of /verify, whatever its HTTP status; undefined where it is none. */
export function readVerifyResponse(value: unknown): VerifyResponse | undefined {
  return verifyResponse.safeParse(normalise(value)).data;
}

/** Reads the answer of /settle, whatever its HTTP status; undefined where it is none: then nothing is known of the outcome. */
export function readSettleResponse(value: unknown): SettleResponse | undefined {
  return settleResponse.safeParse(normalise(value)).data;
}

/** Reads the answer of /supported; v1 facilitators send `kinds` alone. */
export function readSupportedResponse(value: unknown): SupportedResponse | undefined {
  return supportedResponse.safeParse(normalise(value)).data;
}

/** x402-rs writes some reasons in snake case. */
const SPELLINGS: Readonly<Record<string, string>> = Object.freeze({
  error_reason: "errorReason",
  invalid_reason: "invalidReason",
});

/** Most answers need nothing done. */
const isNormal = (value: object): boolean =>
  Object.entries(value).every(([key, member]) => member !== null && key !== "kinds" && !Object.hasOwn(SPELLINGS, key));

/** The list, an entry of it, and nothing below: what is nested on and on is a stranger's, and no depth of the stack. */
const DEEPEST = 3;

/** Drops null members, which mean absent, and settles spellings; a member in the protocol's own spelling wins. */
function normalise(value: unknown, depth = 1): unknown {
  if (typeof value !== "object" || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) return value.map((member) => normalise(member, depth + 1));
  if (isNormal(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  const respelled = members.filter(([key]) => Object.hasOwn(SPELLINGS, key)).map(([key, m]) => [SPELLINGS[key], m]);
  const kept = members.map(([key, member]) => [key, key === "kinds" ? normalise(member, depth + 1) : member]);
  return Object.fromEntries([...respelled, ...kept]);
}

/**
 * The body for /verify and /settle in the shape of the payment's version. The requirements, and the `accepted` of a v2
 * payload, are our own copy: a facilitator must never judge a payment by the buyer's echo of the price. A v1 payload
 * and its requirements name the network alike, because facilitators compare the two letter by letter.
 */
export function facilitatorRequest(
  version: 1 | 2,
  payload: PaymentPayload,
  requirement: Requirement,
  network: Network,
  resource: Resource,
): FacilitatorRequest {
  if (version === 2 && payload.x402Version === 2) {
    const offer = toOfferV2(requirement);
    return { x402Version: 2, paymentPayload: { ...payload, accepted: offer }, paymentRequirements: offer };
  }
  if (version === 1 && payload.x402Version === 1) {
    const name = network.v1Name ?? payload.network;
    return {
      x402Version: 1,
      paymentPayload: { ...payload, network: name },
      paymentRequirements: toRequirementsV1(requirement, resource, network, name),
    };
  }
  throw new TypeError(`a payload of version ${payload.x402Version} cannot be sent as version ${version}`);
}
