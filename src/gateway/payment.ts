// A payment as the gateway remembers it: the record, its states, and what is needed to find out later what became of it.
import type { ProofTrace } from "../store/record.js";
import type { PaymentPayload } from "../wire/payload.js";
import type { GatewayErrorCode } from "./errors.js";

/** Live keys reach main networks only, test keys test networks only. */
export type Mode = "live" | "test";

/** `created → submitted → confirmed → finalized`; `failed` and `expired` are ends without money moved by this payment. */
export const PAYMENT_STATUSES = ["created", "submitted", "confirmed", "finalized", "failed", "expired"] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Where each may go. A reorganised payment goes back; an EVM transaction may still arrive after its time (`late`). */
export const NEXT_STATUSES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = Object.freeze({
  created: ["submitted", "confirmed", "finalized", "failed", "expired"],
  submitted: ["confirmed", "finalized", "failed", "expired"],
  confirmed: ["finalized", "submitted", "failed"],
  finalized: [],
  failed: [],
  expired: ["submitted", "confirmed", "finalized"],
});

/** Which endpoint made it. */
export type Flow = "send" | "receive" | "build_send" | "build_receive" | "settle";

export interface Payment {
  /** `pay_` and 22 characters of base58. */
  readonly id: string;
  readonly account: string;
  readonly mode: Mode;
  readonly type: "sent" | "received";
  readonly flow: Flow;
  readonly status: PaymentStatus;
  /** CAIP-2. */
  readonly network: string;
  /** Token address (checksummed), mint, or `native`. */
  readonly asset: string;
  /** Atomic units; what the payment is for. */
  readonly amount: bigint;
  /** Checksummed on EVM; null until it is known. */
  readonly sender: string | null;
  readonly recipient: string;
  /** The transaction's id on its chain. */
  readonly signature: string | null;
  /** Atomic units of the native currency: what it cost, as far as known. */
  readonly fee: bigint | null;
  readonly blockHeight: number | null;
  readonly confirmations: number | null;
  readonly resource: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Epoch milliseconds, by the database's clock. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number | null;
  readonly error: { readonly code: GatewayErrorCode; readonly message: string } | null;
  /** It arrived after it had been given up. */
  readonly late: boolean;
  /** The proof that it grants, as `proof.ts` names it: at most one record holds a proof. */
  readonly proofId: string | null;
  /** The hosted wallet that it is sent from. */
  readonly wallet: string | null;
  /** The idempotent request that made it: at most one record each. */
  readonly idempotency: string | null;
  /** What only the creating answer and its idempotent repeat may show, sealed under the caller's Idempotency-Key. */
  readonly sealed: string | null;
  readonly pursuit: Pursuit;
  /** Grows with every write: what compare-and-set compares. */
  readonly version: number;
  /** Epoch milliseconds from which the watcher looks at it; null = final. */
  readonly dueAt: number | null;
}

/** How its outcome is found out. JSON, kept beside the record, never shown. */
export type Pursuit = EvmPursuit | SolanaPursuit | ProofPursuit | SettlementPursuit;

/** A transaction of an account and nonce that are known: sent from a hosted wallet, or built for a caller. */
export interface EvmPursuit {
  readonly kind: "evm";
  readonly sender: string;
  readonly nonce: number;
  /** 32 bytes in the calldata, `0x` and hex. */
  readonly reference: string | null;
  /** The unsigned bytes, hex: whatever else has this sender and nonce is this payment only if it moves the same. */
  readonly unsigned?: string;
  /** The signed bytes, hex; null where the caller signs. */
  readonly raw: string | null;
  readonly hash: string | null;
  /** Height when it was made: nothing older is searched. */
  readonly block: number;
  /** Advisory. */
  readonly lastValidBlockHeight: number;
  /** Every hash under which these bytes or their replacements were sent. */
  readonly earlier?: readonly string[];
}

/** A transaction whose memo or signature is known. */
export interface SolanaPursuit {
  readonly kind: "solana";
  readonly sender: string;
  /** Hex in a memo, without `0x`. */
  readonly reference: string | null;
  /** What it has to move: whatever else bears the memo is another payment. `asset` as in the record, `amount` decimal. */
  readonly moves?: { readonly to: string; readonly asset: string; readonly amount: string };
  /** The signed transaction, base64; null where the caller signs. */
  readonly wire: string | null;
  readonly slot: number;
  readonly lastValidBlockHeight: number;
  /** Signatures of versions that were sent before and can never land. */
  readonly earlier?: readonly string[];
}

/** A proof that was signed for a seller's offer and handed to the caller: the seller settles it, the chain shows it. */
export interface ProofPursuit {
  readonly kind: "proof";
  readonly trace: ProofTrace;
}

/** A proof that was presented here: settled by this gateway, or by a foreign facilitator. */
export interface SettlementPursuit {
  readonly kind: "settlement";
  readonly version: 1 | 2;
  /** As presented, so that a crash can be repaired: it pays nobody but the recipient. */
  readonly payload: PaymentPayload;
  /** The requirement it was bound to, amounts as text. */
  readonly requirement: Readonly<Record<string, unknown>>;
  /** Fixed for the life of the settlement. */
  readonly settlementId: string;
  readonly trace: ProofTrace;
  /** The foreign facilitator that was asked to settle. */
  readonly facilitatorUrl?: string;
  /** Epoch milliseconds at which it was last given to the receiver again, after a crash or because it got lost. */
  readonly resumedAt?: number;
  /** Transactions of this gateway's that were mined in vain: what is new here counts in the day's budget with its write. */
  readonly reverted?: readonly string[];
  /** A foreign facilitator has said that it is settled; the chain may not have shown it yet. */
  readonly word?: true;
  /** `POST /settle` has told its success: once, because every such answer may serve goods. */
  readonly answered?: true;
}

/** One row of a record's history. */
export interface StatusChange {
  readonly status: PaymentStatus;
  readonly at: number;
}
