// The answer to a request to send, from the record alone and from what its creator may see of it. The same for the first answer
// and for every repeat.
import { estimatedConfirmation } from "../build/estimate.js";
import type { GatewayNetwork } from "../chain.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { Payment } from "../payment.js";
import type { SendAnswer } from "../schemas/index.js";
import { assetName, toNumber } from "../terms.js";
import type { ReadOffer } from "./offer.js";
import { proofOf, type Shown } from "./proof.js";

/** What the payment has come to: an answer, or the fault by which it failed. */
export function toOutcome(
  payment: Payment,
  network: GatewayNetwork,
  offer: ReadOffer | undefined,
  shown: Shown | undefined,
): Outcome<SendAnswer> {
  // A failure that is in a block is told before it is final: the repeat then tells whether it stayed.
  if (payment.status === "failed" || payment.error !== null) return toFault(payment);
  const value = toSendAnswer(payment, network, proofOf(payment, network, offer, shown));
  // A proof that the seller settles is all that there is to answer; a transfer may still turn out otherwise.
  const isPending =
    payment.pursuit.kind !== "proof" && (payment.status === "created" || payment.status === "submitted");
  return isPending ? { ok: true, value, pending: true } : { ok: true, value };
}

/** Another attempt is another payment, so it needs another key; while its block can still change, nobody should make one. */
function toFault({ id, status, error }: Payment): Fault {
  const code = error?.code ?? "INTERNAL_ERROR";
  const next =
    status === "failed" ? "to pay again use another Idempotency-Key" : "its block is not final yet, so ask again";
  return fault(code, `${error?.message ?? "the payment failed"}; ${next}`, { paymentId: id });
}

function toSendAnswer(payment: Payment, network: GatewayNetwork, paymentProof: string | null): SendAnswer {
  const { asset, amount, fee } = payment;
  const decimals = network.assets.find(({ address }) => address === asset)?.decimals;
  if (decimals === undefined || payment.sender === null) {
    throw new Error(`The payment ${payment.id} is of an asset that this gateway does not move any more`);
  }
  return {
    success: true,
    paymentId: payment.id,
    status: payment.status,
    signature: payment.signature,
    network: payment.network,
    asset: assetName(network, asset),
    amount: toNumber(amount, decimals),
    amountAtomic: amount.toString(),
    sender: payment.sender,
    recipient: payment.recipient,
    fee: fee === null ? null : toNumber(fee, network.network.native.decimals),
    blockHeight: payment.blockHeight,
    timestamp: Math.floor(payment.createdAt / 1000),
    estimatedConfirmation: estimatedConfirmation(network),
    resource: payment.resource,
    metadata: payment.metadata,
    paymentProof,
  };
}
