// What a buyer pays with: a wallet says which offers it can pay, what it holds, and signs one offer. The calling code checks what
// was signed against the offer before a byte of it leaves.
import type { PaymentPayload } from "../wire/payload.js";
import type { Offer } from "./offer.js";

export interface SignRequest {
  /** URL of the resource that is paid for. */
  readonly resource: string;
  readonly retryKey: string;
  /** Epoch milliseconds: the proof is good no longer than this, whatever the seller asks for. */
  readonly validUntil: number;
  readonly signal: AbortSignal | undefined;
}

export type Signed =
  | {
      readonly ok: true;
      /** The scheme's own part of the payment. */
      readonly payload: PaymentPayload["payload"];
      readonly payer: string;
      /** Epoch milliseconds after which it can no longer be settled. */
      readonly expiresAt: number;
      /** Called once, when the call that sends it has ended: frees an account nonce that was held for it. */
      readonly close?: () => void;
    }
  | {
      readonly ok: false;
      readonly code: WalletFailure;
      readonly message: string;
      /** Said by a wallet that sends where it surely has sent nothing this time: then nothing stays counted. */
      readonly sent?: false;
    };

/** `insufficient_funds`: it holds too little. `signing_failed`: everything else, the chain that does not answer too. */
export type WalletFailure = "insufficient_funds" | "signing_failed";

/**
 * A wallet. `evmWallet`, `solanaWallet` and `hostedWallet` make one; so can an object of this form.
 */
export interface Wallet {
  /** As it is written on its chain. */
  readonly address: string;
  /** Signing may send the payment by itself, as a hosted wallet does: what it took stays counted, whatever it answers. */
  readonly sends?: boolean;
  /** True, or why this wallet cannot pay the offer, in words. */
  takes(offer: Offer): true | string;
  /** Atomic units of the offer's asset that it holds; undefined where it cannot know. Never rejects. */
  balance?(offer: Offer, signal: AbortSignal | undefined): Promise<bigint | undefined>;
  /** Signs exactly this offer. May wait for its turn where payments need an order. Rejects only with an abort's reason. */
  sign(offer: Offer, request: SignRequest): Promise<Signed>;
}
