// x402 version 1 on the wire: requirements and challenge. Clients of x402 1.x check a body against a closed schema and
// throw at the first entry that does not fit, so what cannot be said in v1 is left out. Spec: protocol §2.1.
import * as z from "zod/mini";
import { type Network, tokenByAddress } from "../networks.js";
import { type Requirement, type Resource, wireAsset } from "../requirement.js";
import { text, uint256 } from "./fields.js";

export const paymentRequirementsV1 = z.looseObject({
  scheme: text,
  network: text,
  maxAmountRequired: uint256,
  resource: z.string(),
  description: z.string(),
  mimeType: z.string(),
  payTo: text,
  maxTimeoutSeconds: z.number().check(z.positive("expected a number above 0")),
  asset: text,
  extra: z.optional(z.looseObject({})),
});
export type PaymentRequirementsV1 = z.infer<typeof paymentRequirementsV1>;

/** The v1 challenge: the JSON body of the 402. */
export const paymentRequiredV1 = z.looseObject({
  x402Version: z.literal(1),
  error: z.optional(z.string()),
  accepts: z.array(paymentRequirementsV1),
});
export type PaymentRequiredV1 = z.infer<typeof paymentRequiredV1>;

/**
 * Our requirement as an entry of a v1 body, or undefined where v1 cannot say it: x402 1.x has no name for the network.
 *
 * @param network the requirement's own network
 */
export function toOfferV1(
  requirement: Requirement,
  resource: Resource,
  network: Network,
): PaymentRequirementsV1 | undefined {
  return network.v1Name === undefined ? undefined : toRequirementsV1(requirement, resource, network, network.v1Name);
}

/** The requirement in the shape of v1 under a given network name: facilitators know more names than x402 1.x clients. */
export function toRequirementsV1(
  requirement: Requirement,
  resource: Resource,
  network: Network,
  networkName: string,
): PaymentRequirementsV1 {
  return {
    scheme: requirement.scheme,
    network: networkName,
    maxAmountRequired: requirement.amount.toString(),
    resource: resource.url,
    description: resource.description,
    mimeType: resource.mimeType,
    payTo: requirement.payTo,
    maxTimeoutSeconds: requirement.maxTimeoutSeconds,
    // Old clients look the asset up in their own table, letter by letter.
    asset: tokenByAddress(network, requirement.asset)?.v1Address ?? wireAsset(requirement),
    extra: { ...requirement.extra },
  };
}
