// What is remembered of a proof that was handed out, so that the chain can show what became of it: the identity under which
// every seller will know it, and never its signature.
import { identifyTransaction } from "../../chains/solana/identity.js";
import { isAuthorization, isTransaction } from "../../identify.js";
import { bindAuthorization, bindTransaction, type DecodedProof, decodeProof } from "../../proof.js";
import type { Eip3009Requirement, SplRequirement } from "../../requirement.js";
import type { ChainExpiry, ProofTrace } from "../../store/record.js";
import type { OfferedOrder } from "./promise.js";

/**
 * The trace of a proof by its header.
 *
 * @throws Error where the header is none that sellers can read: nothing may be written or shown of it then.
 */
export async function traceOf(
  header: string,
  order: OfferedOrder,
  expiresAt: number,
  expiry: ChainExpiry | null,
): Promise<ProofTrace> {
  const { network, asset, wallet, recipient, amount } = order;
  const bound = await bind(readOwn(header, order), order, Math.ceil(expiresAt / 1000));
  return {
    proofId: bound.id,
    network: network.network.id,
    asset: asset.address,
    payer: wallet.address,
    payTo: recipient,
    amount: amount.toString(),
    method: order.offer.method,
    nonce: bound.nonce,
    validBefore: bound.validBefore,
    transaction: null,
    expiry,
    received: null,
  };
}

/** Read as the seller's guard will read it, so that what is handed out is known to be readable. */
function readOwn(header: string, { offer }: OfferedOrder): DecodedProof {
  const { version } = offer;
  const headers = { v1: version === 1 ? header : undefined, v2: version === 2 ? header : undefined };
  const decoded = decodeProof({ ...headers, idempotencyKey: undefined });
  if (!decoded.ok) throw new Error(`A proof that was signed here cannot be read: ${decoded.code} ${decoded.got ?? ""}`);
  return decoded.proof;
}

async function bind(proof: DecodedProof, order: OfferedOrder, validBefore: number) {
  const { network, asset, recipient, amount, offer } = order;
  const place = {
    scheme: "exact",
    network: network.network.id,
    asset: asset.address,
    amount,
    payTo: recipient,
  } as const;
  const common = { ...place, maxTimeoutSeconds: offer.seconds };
  if (isAuthorization(proof)) {
    const requirement: Eip3009Requirement = {
      ...common,
      method: "eip3009",
      extra: asset.domain ?? { name: "", version: "" },
    };
    return bindAuthorization(proof, requirement);
  }
  if (!isTransaction(proof)) throw new Error("A proof is an authorization or a transaction");
  const identity = await identifyTransaction({ transaction: proof.inner.transaction });
  if (!identity.ok) throw new Error(`A proof that was signed here cannot be identified: ${identity.code}`);
  const extra = { feePayer: String(offer.given.extra?.feePayer), decimals: asset.decimals };
  const requirement: SplRequirement = { ...common, method: "spl", extra };
  return bindTransaction(proof, requirement, identity, validBefore);
}
