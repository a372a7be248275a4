// Lets the handler run: what it sees of the payment, and the capture that watches over its answer.
import { type Admission, createCapture } from "./capture.js";
import type { Context } from "./context.js";
import { factsOf } from "./facts.js";
import { createPayment } from "./payment.js";
import type { Verdict } from "./request.js";

export function admit(context: Context, admission: Admission): Verdict {
  const { proof, claim, transaction } = admission;
  const { payer, network, asset, amount, proofId } = factsOf(proof);
  const payment = createPayment({
    payer,
    amount,
    asset,
    network,
    scheme: proof.requirement.scheme,
    proofId,
    run: claim.record.runs,
    ...(transaction !== undefined && { transaction }),
  });
  return { kind: "admit", payment, capture: createCapture(context, admission) };
}
