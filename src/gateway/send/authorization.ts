// An EIP-3009 authorization from a hosted wallet, for one offer: signed over our own domain of the token, never over the one
// that the offer names. Source: protocol §3.1.
import { randomBytes } from "node:crypto";
import { fromBytes, type Hex } from "../../chains/evm/hex.js";
import { authorizationDigest } from "../../chains/evm/typed-data.js";
import type { TransferSigner } from "../chain.js";
import type { OfferedOrder, SignedPromise } from "./promise.js";

/** Good from now (epoch milliseconds) until the offer's time is over; its nonce is 32 random bytes. */
export async function signAuthorization(
  signer: TransferSigner,
  { network: { network }, asset, wallet, recipient, amount, offer }: OfferedOrder,
  now: number,
): Promise<SignedPromise> {
  const { chainId } = network;
  const { domain } = asset;
  if (chainId === undefined || domain === undefined)
    throw new Error(`${asset.symbol} on ${network.id} takes no authorizations`);
  const validBefore = Math.floor(now / 1000) + offer.seconds;
  const authorization = {
    from: wallet.address as Hex,
    to: recipient as Hex,
    value: amount,
    // From the beginning of time, as published v2 buyers sign it: the chain's clock may be behind ours.
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce: fromBytes(randomBytes(32)),
  };
  const signature = await signer.sign(authorizationDigest({ ...domain, chainId, asset: asset.address }, authorization));
  const { value, validAfter } = authorization;
  const shown = { ...authorization, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` };
  const payload = { signature: toTokenSignature(signature), authorization: shown };
  return { payload, expiresAt: validBefore * 1000, expiry: null };
}

/** Tokens want 27 or 28 where a transaction has the parity. */
function toTokenSignature(signature: Uint8Array): Hex {
  const bytes = new Uint8Array(signature);
  bytes[64] = (bytes[64] ?? 0) + 27;
  return fromBytes(bytes);
}
