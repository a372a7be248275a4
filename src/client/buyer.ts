// What the calls of one paying fetch share.
import type { Breaker } from "./breaker.js";
import type { CallRequest } from "./call-request.js";
import { BuyerError } from "./errors.js";
import type { Observer } from "./observe.js";
import type { PendingProofs } from "./pending-proofs.js";
import type { BuyerSettings } from "./settings.js";

export interface Buyer {
  readonly settings: BuyerSettings;
  readonly observer: Observer;
  readonly breaker: Breaker;
  readonly proofs: PendingProofs;
}

/** A call whose request asks for money, or has been paid for already. */
export interface PaidCall extends CallRequest {
  /** What a proof may be pending for, without the body. */
  readonly target: string;
  /** Hash of the whole request. */
  readonly key: string;
}

/**
 * A step of the store before anything has left.
 *
 * Invariant: without a store that answers nothing is paid, because what was spent would not be known.
 */
export async function stored<T>(url: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw new BuyerError("store_failed", { url }, { cause });
  }
}
