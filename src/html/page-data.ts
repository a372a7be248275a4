// What the page knows: the offers in words and as they are signed, and what became of a payment. One shape, written by the
// server and read by the page's script.
import type { Money, Retry } from "../error-table.js";
import type { ErrorCode } from "../errors.js";
import type { PaymentRequirementsV2 } from "../wire/v2.js";

export interface PageOffer {
  /** As it stands in the 402: the payment sends it back unchanged. */
  readonly given: PaymentRequirementsV2;
  readonly method: "eip3009" | "spl" | "transaction";
  /** The chain's own currency. */
  readonly native: boolean;
  /** `0.01 USDC` */
  readonly price: string;
  readonly symbol: string;
  readonly decimals: number;
  /** `$0.01` where the asset is a dollar. */
  readonly dollars?: string;
  /** `Base Sepolia` */
  readonly network: string;
  /** EIP-155; absent on Solana. */
  readonly chainId?: number;
}

/** What has become of the request or of its payment, where it is more than "there is a price". */
export interface PageProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: Retry;
  readonly payment: Money;
  readonly expected?: string;
  readonly got?: string;
  /** Seconds. */
  readonly retryAfter?: number;
  /** The receipt's. */
  readonly transaction?: string;
}

export interface PageData {
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly offers: readonly PageOffer[];
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The names of the two cookies. */
  readonly cookie: string;
  readonly paid: string;
  /** Unix seconds at the server: the reader's clock may be wrong. */
  readonly now: number;
  /** A payment came with this request. */
  readonly answered: boolean;
  readonly problem?: PageProblem;
  /** The transaction that was asked for, unsigned, base64; or why there is none. */
  readonly draft?: { readonly transaction: string } | { readonly problem: string };
}

/** What a seller's own page is made of. */
export interface PageFacts extends PageData {
  readonly status: number;
  /** For inline scripts and styles of the page, which the policy of the answer lets run by it. */
  readonly nonce: string;
  /** The ready-made payment card, HTML: brings its style and script, and stands wherever the page puts it. */
  readonly card: string;
}
