// What happens while a call is paid for, for progress and logs. An observer that throws or is slow changes nothing.
import type { BuyerErrorCode } from "./errors.js";
import type { Purchase } from "./purchase.js";

export type BuyerEvent =
  /** An offer was chosen; nothing is signed. */
  | { readonly type: "chosen"; readonly purchase: Purchase }
  | { readonly type: "signed"; readonly purchase: Purchase }
  /** `again`: the same proof, because an earlier outcome is not known. */
  | { readonly type: "sent"; readonly purchase: Purchase; readonly again: boolean }
  /** The seller does not know the outcome yet, or did not answer; the same proof goes out again after `delayMs`. */
  | {
      readonly type: "waiting";
      readonly purchase: Purchase;
      readonly delayMs: number;
      readonly status: number | undefined;
    }
  | { readonly type: "paid"; readonly purchase: Purchase }
  | { readonly type: "failed"; readonly code: BuyerErrorCode; readonly purchase: Purchase }
  /** A limit stopped a payment, or the host's failures did: nothing was signed. */
  | {
      readonly type: "stopped";
      readonly code: "over_cap" | "over_budget" | "host_stopped";
      readonly host: string;
      readonly message: string;
    };
