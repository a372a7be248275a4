// The contract of a receiver: whoever verifies and settles proofs for the guard. Expected outcomes are values;
// a receiver that throws is treated as `unknown` once a settlement has begun and as unreachable before.
import type { ErrorCode } from "../errors.js";
import type { LowGas } from "../events.js";
import type { BoundProof } from "../proof.js";
import type { Requirement, Resource, SplRequirement, TransactionRequirement, TransferMethod } from "../requirement.js";
import type { ChainExpiry, ProofRecord, ProofTrace } from "../store/record.js";
import type { Store } from "../store/store.js";
import type { TransactionPayload } from "../wire/payload.js";

/** The three verbs. One object serves every route of a paywall. */
export interface Receiver {
  /** `local`, `facilitator`: for logs and errors. */
  readonly name: string;
  /**
   * Who it is, where another one of the same name has records of its own: kept with each settlement, so it is the same in every
   * process and holds no secret. Absent = its name says it, as where the chain alone is asked.
   */
  readonly identity?: string;
  /** CAIP-2 ids of the networks that it was set up for; absent where only the start-up checks can tell. */
  readonly networks?: readonly string[];
  /** How money may move that it takes; absent = `eip3009` only. */
  readonly methods?: readonly TransferMethod[];
  /**
   * Who pays the network fee of token payments on this Solana network: goes into every offer, so it stays the same for as
   * long as it serves. Undefined = not known (yet): nothing is offered there.
   */
  feePayer?(network: string): string | undefined;
  /** Does it complete token payments that name this fee payer, offered or not? Absent = the offered one alone. */
  takesFeePayer?(network: string, address: string): boolean;
  /** `chain`: what `lookup` and `finality` find holds whoever has settled. Absent = they tell of its own settlements only. */
  readonly evidence?: "chain";
  /**
   * What a transaction is known by, read from its bytes; for a mere id the chain is asked for the bytes. Verifies nothing.
   * Receivers that take `spl` or `transaction` have it.
   */
  identify?(payload: TransactionPayload, network: string, signal: AbortSignal): Promise<Identified>;
  /**
   * The unsigned transaction by which `payer` would pay this, for wallets that have no node of their own to ask. Reserves
   * nothing. Absent = it has no node of the chain.
   */
  draft?(requirement: SplRequirement | TransactionRequirement, payer: string, signal: AbortSignal): Promise<Drafted>;
  /** Milliseconds that one settlement on this network may take, the chain wait included. */
  settleMs(network: string): number;
  /**
   * Start-up checks against the live chain or facilitator for every requirement the routes can ask for.
   * Never throws: a mismatch is `misconfigured` and shuts, until a later look finds none; a network failure is `unreachable` and is
   * tried again.
   */
  ready(requirements: readonly Requirement[], signal: AbortSignal): Promise<Readiness>;
  /** Read-only. Nothing on the chain changes, nothing is reserved. */
  verify(proof: BoundProof, context: VerifyContext): Promise<Verification>;
  /**
   * Moves the money. Called at most once per settlement id, after the store says `settling`.
   * `settled` only on positive evidence; anything that may have left this process is `unknown`.
   */
  settle(proof: BoundProof, context: SettleContext): Promise<Settlement>;
  /**
   * Finds out what became of a settlement. "The RPC does not know it" is never evidence: that is `unknown`. `again`: the
   * buyer shows the very proof again, so a service may be asked for the same settlement once more, under the same id.
   */
  lookup(trace: Trace, signal: AbortSignal, again?: Again): Promise<Lookup>;
  /**
   * What has become of a settlement that was seen: the chain may take it back until it is final. A receiver that cannot tell has
   * no such verb; what it has settled stays as it is.
   */
  finality?(trace: SettledTrace, signal: AbortSignal): Promise<Finality>;
  /**
   * Told by a paywall whose store several processes share, before the first payment: what they must not do twice at once, such
   * as numbering the transactions of one key, can be counted in it. The first store stays.
   */
  share?(store: Store): void;
  /**
   * Told by each paywall whom to tell of a settler that runs out of gas; gives the way to be told no more. Receivers whose own
   * keys pay for gas have it. Nothing that `tell` does may change what becomes of a payment.
   */
  observe?(tell: (notice: LowGas) => void): () => void;
  close(): Promise<void>;
}

export type Readiness =
  | { readonly state: "ready" }
  | { readonly state: "misconfigured"; readonly problems: readonly ReadinessProblem[] }
  | { readonly state: "unreachable"; readonly message: string };

/** One start-up check that failed, with both values. */
export interface ReadinessProblem {
  readonly check: string;
  readonly expected: string;
  readonly got: string;
  readonly remedy: string;
  /** The remedy is done on the chain and needs no other configuration: requests wait for the check to be made again. */
  readonly passing?: boolean;
}

export interface VerifyContext {
  /** The guard has already seen this exact signed proof pass: the signature need not be checked again. */
  readonly signatureKnown: boolean;
  /** What is being sold: services of protocol v1 want it. */
  readonly resource: Resource;
  readonly signal: AbortSignal;
}

/** A transaction as a proof. Equal transactions have equal keys, whatever bytes they come in. */
export interface Identity {
  readonly ok: true;
  /** Canonical within its network: the message's hash on Solana, sender and account nonce on EVM. */
  readonly key: string;
  /** Changes with every signed byte: key and signatures, or the transaction's hash. */
  readonly canonical: string;
  /** The sender; for a token payment on Solana the second signer. Checksummed on EVM. */
  readonly payer: string;
  /** What it moves: a token's address, `native`, or undefined where that cannot be told. */
  readonly asset: string | undefined;
  /** The bytes as they came, or as the chain has them: base64. */
  readonly transaction: string;
}

export type Identified =
  | Identity
  /** `payment_malformed`: no bytes of a transaction. `payment_not_seen`: the chain knows no such id (yet). */
  | { readonly ok: false; readonly code: ErrorCode; readonly expected?: string; readonly got?: string };

/** `message`: for the person who wants to pay. */
export type Drafted =
  | { readonly ok: true; readonly transaction: string }
  | { readonly ok: false; readonly message: string };

export type Verification =
  | {
      readonly outcome: "valid";
      readonly payer: string;
      /** Atomic units of the asset that the payer holds, where the receiver knows. */
      readonly balance?: bigint;
      /** Epoch milliseconds at which a transaction that is on the chain already was mined. */
      readonly minedAt?: number;
    }
  /** The payer's fault: 402 with the protocol's `reason`, by default the table's word for the code. */
  | {
      readonly outcome: "invalid";
      readonly code: ErrorCode;
      readonly reason?: string;
      readonly expected?: string;
      readonly got?: string;
    }
  /** The chain shows the authorization as already used. */
  | { readonly outcome: "used"; readonly transaction?: string }
  /**
   * Nobody's verdict: `receiver_unreachable`, `receiver_bad_response`, `receiver_auth`. The proof stays good. `answered`: a
   * service said so itself of this proof, which says nothing about others.
   */
  | { readonly outcome: "unavailable"; readonly code: ErrorCode; readonly message: string; readonly answered?: true };

export interface SettleContext {
  /** Fixed for the life of the settlement: an idempotency key towards services. */
  readonly settlementId: string;
  readonly resource: Resource;
  /** Epoch milliseconds at which the store's memory begins: a transaction that was mined earlier may have been used before. */
  readonly since?: number;
  /** Epoch milliseconds after which nobody waits for the answer any more. */
  readonly deadlineAt: number;
  /**
   * Called with the transaction id as soon as it is known, before the bytes leave; on Solana with what bounds its life.
   * Rejects when the fence is lost: then send nothing.
   */
  sending(transaction: string, expiry?: ChainExpiry): Promise<void>;
}

export type Settlement =
  /** `word`: nothing but the receiver's word stands behind it, so its transaction may settle one proof only (faults F1). */
  | {
      readonly outcome: "settled";
      readonly transaction: string;
      readonly payer: string;
      readonly evidence?: "word";
      /** Atomic units, where more came than the price. */
      readonly received?: bigint;
      /** Block or slot in which it stands. */
      readonly height?: number;
    }
  /** Nothing was sent to the chain and the fault is the payer's. */
  | { readonly outcome: "refused"; readonly code: ErrorCode; readonly reason: string }
  /**
   * Our fault, and provably not one byte of the settlement left. `answered`: it left, and the word of a service is that nothing
   * has begun. The proof stays good, but nobody else may be asked in its place. `crowded`: this payer alone has to wait, behind
   * settlements of his own, so it is no failure of the receiver.
   */
  | { readonly outcome: "unavailable"; readonly message: string; readonly answered?: true; readonly crowded?: true }
  /**
   * Everything else. `reverted`: it was mined in vain, at the settler's cost. `unanswered`: no orderly answer came, whatever the
   * payment was like, so `failover` counts it as a failure of the receiver.
   */
  | {
      readonly outcome: "unknown";
      readonly transaction?: string;
      readonly message: string;
      readonly reverted?: boolean;
      readonly unanswered?: true;
    };

/** What a lookup needs, all of it from the record: never the signature. */
export type Trace = ProofTrace;

/** `settledAt`: store time at which it was written that the money is there. */
export type SettledTrace = Trace & Pick<ProofRecord, "settledAt">;

/** A settlement that was begun, and the proof that it was begun for. */
export interface Again extends Pick<SettleContext, "settlementId" | "resource"> {
  readonly proof: BoundProof;
}

export type Lookup =
  /** `eip3009`: a successful receipt holds `AuthorizationUsed(payer, nonce)` and its own exact `Transfer`. */
  | { readonly outcome: "settled"; readonly transaction: string; readonly received?: bigint; readonly height?: number }
  /** Finally nothing moved and nothing can: the time is over with the nonce unused, or the nonce went elsewhere. */
  | { readonly outcome: "expired" }
  /** It was paid before the store's memory begins (`trace.since`), not by us: it may have bought something then. */
  | { readonly outcome: "too_old" }
  | { readonly outcome: "unknown"; readonly message: string };

export type Finality =
  /** It stands in a block that stays. */
  | { readonly outcome: "final"; readonly transaction: string; readonly height?: number }
  /** It stands, by this transaction, and is not final. */
  | { readonly outcome: "settled"; readonly transaction: string; readonly height?: number }
  /** A chain as high as it stood does not have it, and it can still be taken: it is to be sent again. */
  | { readonly outcome: "gone" }
  /** Finally it is not there and can never be: its time is over unused, or the nonce went elsewhere. */
  | { readonly outcome: "lost" }
  /** Nobody will ever tell by this receiver. */
  | { readonly outcome: "untold" }
  | { readonly outcome: "unknown"; readonly message: string };
