// x402 version 2 on the wire: requirements, challenge, and the comparison of what a buyer accepted with what was offered.
// Spec: protocol §2.1 and §2.4.
import * as z from "zod/mini";
import { type Requirement, wireAsset } from "../requirement.js";
import { optional, text, uint256 } from "./fields.js";

/** The network is checked against our offers, not here: a wrong one deserves an answer that names the right one. */
export const paymentRequirementsV2 = z.looseObject({
  scheme: text,
  network: text,
  amount: uint256,
  asset: text,
  payTo: text,
  maxTimeoutSeconds: z.number().check(z.positive("expected a number above 0")),
  extra: optional(z.looseObject({})),
});
export type PaymentRequirementsV2 = z.infer<typeof paymentRequirementsV2>;

export const resourceInfo = z.looseObject({
  url: z.string(),
  description: optional(z.string()),
  mimeType: optional(z.string()),
});
export type ResourceInfo = z.infer<typeof resourceInfo>;

/** The v2 challenge: the JSON in the PAYMENT-REQUIRED header. */
export const paymentRequiredV2 = z.looseObject({
  x402Version: z.literal(2),
  error: optional(z.string()),
  resource: resourceInfo,
  accepts: z.array(paymentRequirementsV2),
  extensions: optional(z.record(z.string(), z.unknown())),
});
export type PaymentRequiredV2 = z.infer<typeof paymentRequiredV2>;

/** Our requirement as an offer of a v2 challenge. Two calls with one requirement give equal offers: buyers echo them. */
export function toOfferV2(requirement: Requirement): PaymentRequirementsV2 {
  return {
    scheme: requirement.scheme,
    network: requirement.network,
    amount: requirement.amount.toString(),
    asset: wireAsset(requirement),
    payTo: requirement.payTo,
    maxTimeoutSeconds: requirement.maxTimeoutSeconds,
    extra: { ...requirement.extra },
  };
}

export type OfferMatch =
  | { readonly ok: true }
  /** The first member that differs; `got` is the buyer's text, cut short. */
  | { readonly ok: false; readonly field: string; readonly expected: string; readonly got: string };

/**
 * Compares what the buyer says it accepted with one requirement of ours. Spec: protocol §2.4.
 * EVM addresses are compared without case, amounts as numbers; the buyer may have added keys to `extra` (on Solana a
 * blockhash, for example), but every key of ours must have come back unchanged. A match permits nothing yet: what is
 * verified is always our own copy. Not compared is the fee payer: the transaction names it too, and its receiver takes any
 * key that signs for it (§9.25). Nor is the amount of a transaction of the buyer's own: it may be made already, and its bytes
 * say what it pays.
 */
export function matchesOffer(accepted: PaymentRequirementsV2, requirement: Requirement): OfferMatch {
  const spell = requirement.network.startsWith("eip155:") ? lower : same;
  const pairs: [field: string, expected: string, got: string][] = [
    ["scheme", requirement.scheme, accepted.scheme],
    ["network", requirement.network, accepted.network],
    ["asset", spell(wireAsset(requirement)), spell(accepted.asset)],
    ["payTo", spell(requirement.payTo), spell(accepted.payTo)],
  ];
  if (requirement.method !== "transaction") {
    // Both are the one spelling of their number: the schema refuses leading zeros.
    pairs.push(["amount", requirement.amount.toString(), accepted.amount]);
    pairs.push(["maxTimeoutSeconds", String(requirement.maxTimeoutSeconds), String(accepted.maxTimeoutSeconds)]);
  }
  for (const [field, expected, got] of pairs)
    if (expected !== got) return { ok: false, field, expected, got: cut(got) };

  for (const [key, expected] of Object.entries(requirement.extra)) {
    if (expected === undefined || key === "feePayer") continue;
    const got = accepted.extra?.[key];
    if (got !== expected)
      return { ok: false, field: `extra.${key}`, expected: String(expected), got: cut(describe(got)) };
  }
  return { ok: true };
}

const lower = (address: string) => address.toLowerCase();
const same = (address: string) => address;
const cut = (shown: string) => (shown.length > 100 ? `${shown.slice(0, 100)}…` : shown);

function describe(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}
