// A token payment on Solana from a hosted wallet, for one offer: signed by the wallet, the slot of the seller's fee payer left
// empty. Mint, decimals and token program are our own, the fee payer and the memo the seller's. Source: protocol §4.
import type { SolanaRpc } from "../../chains/solana/rpc.js";
import { createTokenPayment, type TokenPaymentFailure } from "../../chains/solana/token-payment.js";
import type { TransferChain, TransferSigner } from "../chain.js";
import { type Fault, fault, invalidField, type Outcome } from "../errors.js";
import type { OfferedOrder, SignedPromise } from "./promise.js";

/** A blockhash lives for 150 blocks, a minute where the cluster is quick. */
const LONGEST_SECONDS = 60;

/** Faults: INVALID_REQUEST for an offer that cannot be paid, INVALID_RECIPIENT, INSUFFICIENT_BALANCE, UNAVAILABLE. */
export async function signTokenPayment(
  signer: TransferSigner,
  { network, asset, recipient, amount, offer }: OfferedOrder,
  now: number,
  signal: AbortSignal,
): Promise<Outcome<SignedPromise>> {
  const { feePayer, memo } = offer.given.extra ?? {};
  if (typeof feePayer !== "string") {
    return invalidField("requirements.extra.feePayer", "expected the address of the seller's fee payer");
  }
  if (memo !== undefined && memo !== null && typeof memo !== "string") {
    return invalidField("requirements.extra.memo", "expected text");
  }
  const { address: mint, decimals, tokenProgram } = asset;
  const token = { mint, decimals, ...(tokenProgram !== undefined && { tokenProgram }) };
  const wanted = { ...token, feePayer, amount, payTo: recipient, ...(typeof memo === "string" && { memo }) };
  const paid = await createTokenPayment(solanaRpc(network.transfers), wanted, signer, { signal });
  if (!paid.ok) return toFault(paid);
  const expiresAt = now + Math.min(offer.seconds, LONGEST_SECONDS) * 1000;
  return { ok: true, value: { payload: { transaction: paid.transaction }, expiresAt, expiry: paid.expiry } };
}

function toFault({ code, message }: TokenPaymentFailure): Fault {
  switch (code) {
    case "offer_invalid":
      return invalidField("requirements", message);
    case "recipient_invalid":
      return fault("INVALID_RECIPIENT", `recipientAddress: ${message}`, {
        details: [{ path: "recipientAddress", message }],
      });
    case "insufficient_funds":
      return fault("INSUFFICIENT_BALANCE", message);
    default:
      return fault("UNAVAILABLE", "the chain cannot be asked now; nothing was done");
  }
}

function solanaRpc({ rpc }: TransferChain): SolanaRpc {
  if ("call" in rpc) return rpc;
  throw new TypeError("Expected a Solana cluster, got an EVM chain");
}
