// What must be paid, resolved from the seller's own configuration. Amounts are atomic units of the asset.

/** One requirement (x402 *PaymentRequirements*), independent of the protocol version. Source: protocol §2.1. */
export interface Requirement {
  readonly scheme: "exact";
  /** Canonical CAIP-2 id, for example `eip155:84532`. */
  readonly network: string;
  /** The token contract, checksummed. */
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** The seller's address, checksummed. */
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** EIP-712 domain of the token, and the payment flow where it is not the default. */
  readonly extra: RequirementExtra;
}

export interface RequirementExtra {
  readonly name: string;
  readonly version: string;
  readonly paymentFlow?: "upfront";
}

/** What the payment is for: goes into the challenge, never into a decision. */
export interface Resource {
  /** Absolute public URL of the request. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
}
