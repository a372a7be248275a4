// One offer of a 402 as a buyer understands it, whichever version it came in. A seller's words are never believed where our own
// table knows better: token, decimals and EIP-712 domain come from there. Source: protocol §2.1.
import type { Network, Token } from "../networks.js";
import type { TransferMethod } from "../requirement.js";

/** An offer that could be paid, given a wallet and a cap for its asset. */
export interface Offer {
  /** Place in the seller's `accepts`. */
  readonly index: number;
  readonly version: 1 | 2;
  readonly network: Network;
  readonly method: TransferMethod;
  readonly flow: "authorization" | "upfront";
  /** `native`, a checksummed contract, or a mint. */
  readonly asset: string;
  /** Of our own table; undefined for other tokens, and for `native`. */
  readonly token: Token | undefined;
  /** Atomic units. */
  readonly amount: bigint;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
  /** As it came: a v2 payment sends it back unchanged. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** An offer that cannot be paid by anybody here, and why in words. */
export interface UnpayableOffer {
  readonly index: number;
  readonly reason: string;
}

/** A 402, read. */
export interface Challenge {
  readonly version: 1 | 2;
  readonly offers: readonly Offer[];
  readonly unpayable: readonly UnpayableOffer[];
  /** What v2 payments echo. */
  readonly resource: unknown;
  readonly extensions: Readonly<Record<string, unknown>> | undefined;
  /** The seller's own words, printable and cut short: shown to people, never followed. */
  readonly error: string | undefined;
  readonly description: string | undefined;
}
