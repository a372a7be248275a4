// What the gateway asks of a chain beside the three verbs of a receiver: building, sending and following transfers of accounts,
// whoever signs them. One object a network; implementations in chains/.
import type { Rpc } from "../chains/evm/rpc.js";
import type { SolanaRpc } from "../chains/solana/rpc.js";
import type { Network } from "../networks.js";
import type { Receiver } from "../receive/receiver.js";
import type { Outcome } from "./errors.js";
import type { EvmPursuit, SolanaPursuit } from "./payment.js";

/** One network that this gateway serves. */
export interface GatewayNetwork {
  readonly network: Network;
  /** Blocks that make a payment `confirmed` on EVM, its own included. */
  readonly confirmations: number;
  /** Has it a key of its own that pays for settlements? Without one only transaction proofs are settled. */
  readonly sponsors: boolean;
  /** The native currency first. */
  readonly assets: readonly [Asset, ...Asset[]];
  /** Verifies, settles and looks proofs up: one for all networks. */
  readonly receiver: Receiver;
  readonly transfers: TransferChain;
}

/** Everything that this gateway may move on a network: an allow-list. */
export interface Asset {
  /** `native`, a token's checksummed address, or a mint. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** EIP-712 domain, where it can be paid by an EIP-3009 authorization. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** Where it is not the classic program of Solana. */
  readonly tokenProgram?: string;
  /** Atomic units: what sponsored settlements move at least. */
  readonly minimum: bigint;
}

export interface Transfer {
  /** Checksummed on EVM. */
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  /** Atomic units. */
  readonly amount: bigint;
  /** 32 bytes, `0x` and hex: the calldata's end, or a memo. */
  readonly reference?: `0x${string}`;
  /** Total extra fee in atomic units of the native currency; absent = automatic. */
  readonly priorityFee?: bigint;
}

export interface BuiltTransfer {
  /** EVM: the serialized unsigned type 2 transaction. Solana: the transaction with zeroes in place of its signature. */
  readonly unsigned: Uint8Array;
  /** Atomic units of the native currency: EVM what it may cost at most, Solana what it costs. */
  readonly fee: bigint;
  readonly lastValidBlockHeight: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly pursuit: EvmPursuit | SolanaPursuit;
}

/** Whoever holds a wallet's key: signs what it is given, shows nothing. */
export interface TransferSigner {
  readonly address: string;
  /** EVM: signs the digest (r, s, yParity as 65 bytes). Solana: signs the message (64 bytes). */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

export interface SignedTransfer {
  readonly signature: string;
  readonly bytes: Uint8Array;
  /** With the signed bytes and the id in it. */
  readonly pursuit: EvmPursuit | SolanaPursuit;
}

export type ChainStanding =
  /** No node of ours knows it (yet). Evidence of nothing. */
  | { readonly state: "unseen" }
  /** A node has it, no block does. */
  | { readonly state: "waiting"; readonly signature: string }
  | {
      readonly state: "mined";
      readonly signature: string;
      readonly succeeded: boolean;
      readonly blockHeight: number;
      /** Atomic units of the native currency: what it has cost. */
      readonly fee: bigint;
      readonly confirmations: number;
      readonly level: "included" | "confirmed" | "finalized";
      /** Why it failed, in the node's words, without bytes. */
      readonly reason?: string;
    }
  /** It can provably never land: another transaction took its nonce (finally), or its blockhash is finally over. */
  | { readonly state: "impossible"; readonly reason: string; readonly replacedBy?: string }
  /** The chain could not be asked, or its answer not be read. */
  | { readonly state: "unreadable"; readonly message: string };

export interface TransferChain {
  readonly rpc: Rpc | SolanaRpc;
  /**
   * The unsigned transfer, simulated. `nonce`: the account nonce to use on EVM; absent = the next one by the chain.
   * Faults: INVALID_RECIPIENT (cannot exist or receive), INSUFFICIENT_BALANCE (payment and fees), UNAVAILABLE, INVALID_REQUEST.
   */
  build(
    transfer: Transfer,
    options: { readonly nonce?: number; readonly signal: AbortSignal },
  ): Promise<Outcome<BuiltTransfer>>;
  /** Numbers an EVM transfer anew; nothing to do on Solana. */
  withNonce(built: BuiltTransfer, nonce: number): BuiltTransfer;
  sign(built: BuiltTransfer, signer: TransferSigner): Promise<SignedTransfer>;
  /** `sent` = at least one node took it or already had it. `refused`: every node refused it, in words. `lost`: nobody knows. */
  broadcast(
    signed: EvmPursuit | SolanaPursuit,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: "sent" | "refused" | "lost"; readonly message: string }>;
  /** Where a transaction stands by all that its pursuit knows: its id, its bytes, or who sends it with which nonce or memo. */
  standing(pursuit: EvmPursuit | SolanaPursuit, signal: AbortSignal): Promise<ChainStanding>;
  /** Where a transaction stands by its id alone. */
  standingOf(signature: string, signal: AbortSignal): Promise<ChainStanding>;
  /** The account nonce that follows what the chain knows, waiting ones included; 0 on Solana. */
  nextNonce(address: string, signal: AbortSignal): Promise<Outcome<number>>;
  /** Atomic units that an address holds. */
  balance(address: string, asset: Asset, signal: AbortSignal): Promise<Outcome<bigint>>;
  close(): void;
}
