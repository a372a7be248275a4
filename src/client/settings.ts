// The options of a paying fetch, once they are read: what the rest of this folder goes by. `options.ts` makes them.
import type { BuyerEvent } from "./events.js";
import type { Offer } from "./offer.js";
import type { Purchase } from "./purchase.js";
import type { BuyerStore, Limit } from "./store.js";
import type { Wallet } from "./wallet.js";

/** What one offer would take from the budget. */
export interface Cost {
  readonly unit: string;
  /** In the unit's own smallest part. */
  readonly amount: bigint;
  /** Largest single payment of this unit at this host; undefined = the unit has no cap, so it is not paid. */
  readonly cap: bigint | undefined;
  /** For errors: `$0.10`, `0.001 SOL`. */
  format(amount: bigint): string;
}

export interface Budget {
  /** What the offer takes at this host. */
  costOf(offer: Offer, host: string): Cost;
  /** The limits of hour and day that bind it. */
  limitsOf(cost: Cost, host: string): readonly Limit[];
}

/** An approval that a person or a program gives before anything is signed. */
export interface ApprovalRequest {
  readonly url: string;
  readonly method: string;
  readonly host: string;
  readonly offer: Offer;
  /** `0.01 USDC`. */
  readonly price: string;
  /** The seller's own words: untrusted. */
  readonly description: string | undefined;
}

export interface BuyerSettings {
  readonly wallets: readonly Wallet[];
  readonly budget: Budget;
  readonly store: BuyerStore;
  /** CAIP-2 ids in order of preference; empty = no preference. */
  readonly preferred: readonly string[];
  /** CAIP-2 ids that may be paid on; undefined = all. */
  readonly networks: ReadonlySet<string> | undefined;
  /** Hosts that may be paid; undefined = all. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Hosts that may be paid over plain http; loopback always may. */
  readonly allowHttp: ReadonlySet<string>;
  /** The addresses that a host may ask to be paid at; a host without an entry may name any. */
  readonly payTo: ReadonlyMap<string, ReadonlySet<string>>;
  /** The longest life of a proof, milliseconds, whatever the seller asks. */
  readonly maxValidityMs: number;
  readonly maxBodyBytes: number;
  /** How often the same proof goes out again within one call, and the longest single wait. */
  readonly resend: { readonly times: number; readonly maxDelayMs: number };
  /** A host whose paid requests failed `failures` times within `windowMs` is not paid until they are that old. */
  readonly breaker: { readonly failures: number; readonly windowMs: number };
  readonly fetch: typeof globalThis.fetch;
  readonly approve: ((request: ApprovalRequest) => boolean | Promise<boolean>) | undefined;
  readonly onPayment: ((purchase: Purchase) => void) | undefined;
  readonly onEvent: ((event: BuyerEvent) => void) | undefined;
  readonly now: () => number;
  /** Waits; rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}
