// What `POST /payment/receive` says: of a proof that was only verified, and of a record at whatever point it is. Verified is
// what the chain has shown, or a foreign facilitator's word that is marked as such; everything else is a fault that tells why.
import { ERRORS, type ErrorCode } from "../../errors.js";
import type { BoundProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import { fault, type Outcome } from "../errors.js";
import type { Payment } from "../payment.js";
import type { ReceiveAnswer } from "../schemas/index.js";
import { assetName, toNumber } from "../terms.js";
import { alreadyUsed, badProof } from "./proof-value.js";
import { isSettlement } from "./pursuit.js";
import type { Wanted } from "./requirement.js";
import { outOfTime } from "./verify.js";

/** Seconds until asking again is worth it. */
const RETRY_AFTER_S = 2;

const seconds = (ms: number): number => Math.floor(ms / 1000);

type Common = Pick<ReceiveAnswer, "success" | "recipient" | "expectedAmount" | "asset" | "network">;

const commonOf = ({ network, asset, payTo, amount }: Wanted): Common => ({
  success: true,
  recipient: payTo,
  expectedAmount: toNumber(amount, asset.decimals),
  asset: assetName(network, asset.address),
  network: network.network.id,
});

/** Of a proof that was verified and not settled: it grants nothing, so a repeat is verified anew. */
export function answerVerified(
  wanted: Wanted,
  { payer }: BoundProof,
  { balance, minedAt }: Extract<Verification, { outcome: "valid" }>,
  about: { readonly now: number; readonly resource: string | undefined; readonly facilitatorUrl: string | undefined },
): Outcome<ReceiveAnswer> {
  const { amount, asset } = wanted;
  return {
    ok: true,
    pending: true,
    value: {
      ...commonOf(wanted),
      verified: true,
      paymentId: null,
      status: null,
      payer,
      amount: toNumber(amount, asset.decimals),
      amountAtomic: amount.toString(),
      signature: null,
      blockHeight: null,
      timestamp: seconds(about.now),
      resource: about.resource ?? null,
      ...(about.facilitatorUrl !== undefined && { facilitatorUrl: about.facilitatorUrl }),
      ...(balance !== undefined && { balanceAtomic: balance.toString() }),
      ...(minedAt !== undefined && { minedAt: seconds(minedAt) }),
    },
  };
}

/** Of a record of the caller's own. `expired`: the request's time is over, so that 504 says why there is no verdict. */
export function answerRecord(wanted: Wanted, payment: Payment, expired: boolean): Outcome<ReceiveAnswer> {
  const paymentId = payment.id;
  switch (payment.status) {
    case "confirmed":
    case "finalized":
      return { ok: true, value: toAnswer(wanted, payment) };
    case "created":
    case "submitted": {
      const word = isSettlement(payment) && payment.pursuit.word ? payment.pursuit.facilitatorUrl : undefined;
      if (word !== undefined)
        return { ok: true, pending: true, value: { ...toAnswer(wanted, payment), facilitatorUrl: word } };
      if (expired) return { ...outOfTime(paymentId), retryAfter: RETRY_AFTER_S };
      const message = "what became of the payment is not known yet: do not pay again, ask for its status";
      return fault("PAYMENT_VERIFICATION_FAILED", message, {
        details: [{ path: "settlement_unknown", message }],
        paymentId,
        retryAfter: RETRY_AFTER_S,
      });
    }
    case "expired":
      return badProof("payment_expired", {}, { paymentId });
    case "failed":
      return answerFailed(payment);
  }
}

/** Nothing was moved. The record's error holds the code of the paywall's table where the proof was refused. */
function answerFailed({ id, error }: Payment): Outcome<never> {
  if (error?.code === "INVALID_PAYMENT_PROOF") {
    const code = toCode(error.message);
    return code === "payment_already_used" ? alreadyUsed(id) : badProof(code, {}, { paymentId: id });
  }
  const message = "the settlement could not be sent; nothing was moved and the proof is still good";
  return fault("UNAVAILABLE", message, {
    details: [{ path: "settlement_unavailable", message }],
    paymentId: id,
    retryAfter: RETRY_AFTER_S,
  });
}

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text);
const toCode = (text: string): ErrorCode => (isCode(text) ? text : "settlement_refused");

function toAnswer(wanted: Wanted, payment: Payment): ReceiveAnswer {
  return {
    ...commonOf(wanted),
    verified: true,
    paymentId: payment.id,
    status: payment.status,
    payer: payment.sender ?? "",
    amount: toNumber(payment.amount, wanted.asset.decimals),
    amountAtomic: payment.amount.toString(),
    signature: payment.signature,
    blockHeight: payment.blockHeight,
    timestamp: seconds(payment.updatedAt),
    resource: payment.resource,
  };
}
