// What a buyer must remember: what was spent (so that a budget holds across calls, and with a file across processes), proofs
// whose outcome is not known yet, and what was bought. One contract, one contract test, any number of implementations.
// Invariant: what is counted leaves the count only by `release`, which is called for proofs that never left, or by age.
import type { Purchase } from "./purchase.js";

/** What one payment takes from the budget. */
export interface Spend {
  /** Of the purchase; with something added where a caller gave the same retry key to two purchases. */
  readonly id: string;
  readonly host: string;
  /** What is counted together: `usd`, `native:SOL`, `eip155:8453/0x…`. */
  readonly unit: string;
  /** In the unit's own smallest part. */
  readonly amount: bigint;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** At most `amount` of `unit` within the last `windowMs`, this spend included. `host`: of that host alone. */
export interface Limit {
  /** How the option is called, for the error. */
  readonly name: string;
  readonly host?: string;
  readonly unit: string;
  readonly windowMs: number;
  readonly amount: bigint;
}

export type Reserved =
  | { readonly ok: true }
  /** Nothing was counted. */
  | { readonly ok: false; readonly limit: Limit; readonly spent: bigint };

/** A signed proof that left, or is about to, and whose outcome is not known. Secret: whoever has it can spend it. */
export interface PendingProof {
  /** Hash of method, URL and body: the request that it pays for. */
  readonly request: string;
  /** The headers that carry it, the retry key included where it is one. */
  readonly headers: Readonly<Record<string, string>>;
  /** Epoch milliseconds after which it cannot be settled any more. */
  readonly expiresAt: number;
  readonly purchase: Purchase;
}

/**
 * The contract. Any method may reject: then nothing is paid (`store_failed`). Instances of one file agree with each other.
 */
export interface BuyerStore {
  /** Counts the spend if every limit holds with it, atomically; else counts nothing. */
  reserve(spend: Spend, limits: readonly Limit[]): Promise<Reserved>;
  /** Takes a spend back whose proof never left this program. Unknown ids are ignored. */
  release(id: string): Promise<void>;
  /**
   * The oldest proof for this request, kept for `PENDING_MS`; none of the purchases in `except`, which other calls of this
   * process are sending just now.
   */
  pending(request: string, now: number, except?: ReadonlySet<string>): Promise<PendingProof | undefined>;
  /**
   * Keeps it before it is sent: beside those of other purchases for the same request, because several calls of one request are
   * several purchases; in place of the one of the same purchase.
   */
  keep(proof: PendingProof): Promise<void>;
  /** Forgets the proof of this request, if it is the one of this purchase. */
  forget(request: string, id: string): Promise<void>;
  /** Writes the purchase anew, by its id. */
  record(purchase: Purchase): Promise<void>;
  /** Newest first; at most as many as the store keeps. */
  purchases(): Promise<readonly Purchase[]>;
}

/** A paid answer can be collected for a day (design §5), so its proof is kept as long. */
export const PENDING_MS = 24 * 60 * 60 * 1000;
/** The longest window of a limit. */
export const DAY_MS = PENDING_MS;
