// The facts of a payment that may be told: to observers, to the log, to the handler.
import type { PaymentFacts } from "./events.js";
import type { BoundProof } from "./proof.js";
import type { ProofTrace } from "./store/record.js";

export const factsOf = ({ id, payer, requirement }: BoundProof): PaymentFacts => ({
  proofId: id,
  payer,
  payTo: requirement.payTo,
  network: requirement.network,
  asset: requirement.asset,
  amount: requirement.amount,
});

/** The same of a payment whose proof is not at hand. */
export const factsOfTrace = ({ proofId, payer, payTo, network, asset, amount }: ProofTrace): PaymentFacts => ({
  proofId,
  payer,
  payTo,
  network,
  asset,
  amount: BigInt(amount),
});
