// Who builds the transaction that collects a proof, where this process does not build it by itself. Whatever it gives is
// checked before anything is signed: it decides nothing about money.
import type { ErrorCode } from "../errors.js";
import type { BoundProof } from "../proof.js";
import type { SettleContext } from "../receive/receiver.js";

export type Built =
  /** Unsigned where somebody of ours has to sign, complete where it is the buyer's own. */
  { readonly outcome: "transaction"; readonly bytes: Uint8Array } | Unbuilt;

/** Why there is none. */
export type Unbuilt =
  /** The money has come already, or is somebody's: the builder's word, so the chain decides. */
  | { readonly outcome: "used" }
  /** The payer's fault. */
  | { readonly outcome: "refused"; readonly code: ErrorCode; readonly reason: string }
  | { readonly outcome: "unavailable"; readonly message: string };

export interface Builder {
  /** Asks for the transaction. Never rejects. */
  build(proof: BoundProof, context: Pick<SettleContext, "resource" | "deadlineAt">): Promise<Built>;
  /** It gave something else than what collects this proof: the operator hears of it. `message` holds no bytes. */
  distrust(proof: BoundProof, message: string): void;
}
