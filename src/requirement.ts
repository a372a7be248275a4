// What must be paid, resolved from the seller's own configuration. Amounts are atomic units of the asset.

/**
 * How the money moves: an EIP-3009 authorization, a token transfer on Solana that waits for our fee payer's signature, or
 * the buyer's own complete transaction (native currency, and tokens that know no authorization).
 */
export type TransferMethod = "eip3009" | "spl" | "transaction";

/** The chain's own currency as an asset, on our side of the wire. Spelled for the wire by `wireAsset`. */
export const NATIVE = "native";

interface Common {
  readonly scheme: "exact";
  /** Canonical CAIP-2 id, for example `eip155:84532`. */
  readonly network: string;
  /** The token contract (checksummed), the mint, or `native`. */
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** The seller's address, checksummed on EVM; on Solana the owner of the token account. */
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
}

export interface Eip3009Requirement extends Common {
  readonly method: "eip3009";
  /** EIP-712 domain of the token, and the payment flow where it is not the default. */
  readonly extra: { readonly name: string; readonly version: string; readonly paymentFlow?: "upfront" };
}

/** `exact` on Solana. Source: protocol §4.1. */
export interface SplRequirement extends Common {
  readonly method: "spl";
  readonly extra: {
    /** Who signs slot 0 and pays the network fee, base58; pinned for as long as it serves. */
    readonly feePayer: string;
    readonly decimals: number;
    /** Address of the program, where it is Token-2022. */
    readonly tokenProgram?: string;
    /** Where the offer names one, the payment carries exactly this memo. No paywall of ours asks for one (protocol §9.20). */
    readonly memo?: string;
    readonly paymentFlow?: "upfront";
  };
}

/** The buyer's own fully signed transfer: always settled before the handler runs. Source: design §6. */
export interface TransactionRequirement extends Common {
  readonly method: "transaction";
  readonly extra: { readonly assetTransferMethod: "transaction"; readonly paymentFlow: "upfront" };
  /** Blocks that must stand on it, its own included; on Solana from 32 on: finalized. Never on the wire. */
  readonly confirmations: number;
}

/** One requirement (x402 *PaymentRequirements*), independent of the protocol version. Source: protocol §2.1. */
export type Requirement = Eip3009Requirement | SplRequirement | TransactionRequirement;

/** The money moves before the handler runs. */
export const isUpfront = ({ extra }: Requirement): boolean => extra.paymentFlow === "upfront";

/** What start-up checks depend on. Not the fee payer: it may become known by the very checks. */
export function checkKeyOf(requirement: Requirement): string {
  const { network, asset, payTo, method } = requirement;
  const domain = requirement.method === "eip3009" ? requirement.extra : { name: "", version: "" };
  return [network, asset, payTo, method, domain.name, domain.version].join("|");
}

/** What stands for the chain's own currency on the wire: the zero address, the system program. Source: design §6. */
const NATIVE_ON_WIRE = { eip155: `0x${"0".repeat(40)}`, solana: "1".repeat(32) } as const;

/** The asset as an offer spells it. */
export function wireAsset({ asset, network }: Pick<Requirement, "asset" | "network">): string {
  if (asset !== NATIVE) return asset;
  return network.startsWith("solana:") ? NATIVE_ON_WIRE.solana : NATIVE_ON_WIRE.eip155;
}

/** What the payment is for: goes into the challenge, never into a decision. */
export interface Resource {
  /** Absolute public URL of the request. */
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
}
