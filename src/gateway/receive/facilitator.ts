// The facilitator API of x402 (protocol §6): `/verify`, `/settle` and `/supported`, so that any x402 server can receive through
// this gateway. A refusal is an answer; a fault is only what is no verdict on the payment.
import { reasonOf } from "../../errors.js";
import type { Caller } from "../caller.js";
import type { Engine } from "../engine.js";
import { fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import { findRequest, isOpen } from "./earlier.js";
import { claimAnswer, isSamePayment, paidFor } from "./facilitator-claim.js";
import { type Asked, type Judged, judgePresented, readAsked } from "./facilitator-judge.js";
import { type Rejection, rejection } from "./facilitator-terms.js";
import {
  pendingAnswer,
  type SettleOutcome,
  settledAnswer,
  toSettleAnswer,
  toVerifyAnswer,
} from "./facilitator-words.js";
import { beginGrant, within } from "./grant.js";
import { memoryOf } from "./prepare.js";
import { listSupported } from "./supported.js";
import { verifyProof } from "./verify.js";

/** Far below the 90 s after which published servers give up, so that `pending` is said and not timed out (protocol §6.4). */
const VERIFY_MS = 30_000;
const SETTLE_MS = 30_000;

export interface FacilitatorEndpointsOptions {
  /** Milliseconds after which a settlement that goes on is answered as pending, 30,000. */
  readonly settleMs?: number;
}

/** @example const engine = { ...others, ...createFacilitatorEndpoints(parts) }; */
export function createFacilitatorEndpoints(
  parts: GatewayParts,
  { settleMs = SETTLE_MS }: FacilitatorEndpointsOptions = {},
): Pick<Engine, "verify" | "settle" | "supported"> {
  /** Proofs whose settlement is being answered by this process right now. */
  const underway = new Set<string>();
  return {
    async verify(caller, request) {
      const asked = await readAsked(parts, caller, request);
      if (asked.outcome === "refused") return asked.fault;
      if (asked.outcome === "rejected") return toVerifyAnswer(asked, request);
      return toVerifyAnswer(await verify(parts, caller, asked), request);
    },
    async settle(caller, request) {
      const asked = await readAsked(parts, caller, request);
      if (asked.outcome === "refused") return asked.fault;
      if (asked.outcome === "rejected") return toSettleAnswer(asked, request, undefined);
      const { id } = asked.proof;
      // Invariant: of copies that come at once, one is settled and answered with success.
      if (underway.has(id)) return toSettleAnswer(duplicate(), request, asked);
      underway.add(id);
      try {
        return toSettleAnswer(await settle(parts, caller, asked, parts.now() + settleMs), request, asked);
      } finally {
        underway.delete(id);
      }
    },
    supported: () => listSupported(parts.networks),
  };
}

const duplicate = (transaction = ""): Rejection & { readonly transaction: string } => ({
  ...rejection("duplicate_settlement", "this payment has been settled, or is being settled, for another request"),
  transaction,
});

/** Read-only. What is settled already is valid only for the account whose answer of it was never given. */
async function verify(parts: GatewayParts, caller: Caller, asked: Asked): Promise<Judged> {
  const holder = await parts.database.payments.byProof(asked.proof.id);
  if (holder) {
    const isOurs = await isSamePayment(parts, caller, asked, holder);
    if (!isOurs || holder.status === "expired" || paidFor(holder)?.answered) return duplicate();
    return { outcome: "valid", payer: asked.proof.payer };
  }
  return judge(parts, caller, asked, VERIFY_MS);
}

async function judge(parts: GatewayParts, caller: Caller, asked: Asked, ms: number): Promise<Judged> {
  const { proof, terms } = asked;
  const since = await memoryOf(parts.database, caller.key.account);
  const deadlineAt = parts.now() + ms;
  const { receiver } = terms.network;
  const { now, logger } = parts;
  const options = { receiver, now, deadlineAt, since, resource: terms.resource, signal: caller.signal, logger };
  return judgePresented(asked, await verifyProof(proof, options), now() >= deadlineAt);
}

async function settle(parts: GatewayParts, caller: Caller, asked: Asked, answerBy: number): Promise<SettleOutcome> {
  const { payments } = parts.database;
  const request = caller.idempotency && (await findRequest(payments, caller.idempotency.id));
  const waiting: Waiting = { caller, asked, answerBy, idempotency: request?.id ?? null };
  const holder = request?.made ?? (await payments.byProof(asked.proof.id));
  if (holder) return settleAgain(parts, waiting, holder);
  const verdict = await judge(parts, caller, asked, VERIFY_MS);
  if (verdict.outcome !== "valid") return verdict.outcome === "rejected" ? { ...verdict, transaction: "" } : verdict;
  const { terms, proof } = asked;
  const granted = await beginGrant(parts, {
    ...{ caller, flow: "settle", wanted: terms, proof, resource: terms.resource, receiver: terms.network.receiver },
    idempotency: waiting.idempotency,
    since: await memoryOf(parts.database, caller.key.account),
    deadlineAt: answerBy,
  });
  switch (granted.outcome) {
    case "refused":
      return granted;
    case "held":
    case "repeated":
      return settleAgain(parts, waiting, granted.payment);
    case "begun": {
      const settled = await within(granted.settled, answerBy, parts.now);
      if (!settled) return pendingAnswer((await payments.get(granted.payment.id)) ?? granted.payment, asked);
      const { settlement, payment } = settled;
      // Invariant: the record decides. Where this process slept, another one may have settled in its place.
      if (settlement.outcome === "refused" && payment.status === "failed")
        return { ...rejection(settlement.reason, settlement.code), transaction: "" };
      return finish(parts, waiting, payment);
    }
  }
}

/** One request that waits for an outcome. */
interface Waiting {
  readonly caller: Caller;
  readonly asked: Asked;
  /** Epoch milliseconds. */
  readonly answerBy: number;
  /** The name under which the record of an idempotent request is found again. */
  readonly idempotency: string | null;
}

const notSent = ({ id }: Payment): SettleOutcome => ({
  outcome: "refused",
  fault: fault("UNAVAILABLE", "the settlement could not be sent; nothing was moved and the payment is still good", {
    paymentId: id,
    retryAfter: 2,
  }),
});

/** The very same payment again: what became of the first settlement, unless its success has been told already. */
async function settleAgain(parts: GatewayParts, waiting: Waiting, holder: Payment): Promise<SettleOutcome> {
  if (!(await isSamePayment(parts, waiting.caller, waiting.asked, holder))) return duplicate();
  return finish(parts, waiting, holder);
}

/** Waits for the record's end, and tells it. */
async function finish(parts: GatewayParts, waiting: Waiting, payment: Payment): Promise<SettleOutcome> {
  const { asked, answerBy, idempotency } = waiting;
  const last = isOpen(payment) ? await parts.watcher.wait(payment, answerBy) : payment;
  switch (last.status) {
    case "confirmed":
    case "finalized":
      return (await claimAnswer(parts, idempotency, last)) ? settledAnswer(last) : duplicate(last.signature ?? "");
    case "created":
    case "submitted":
      return pendingAnswer(last, asked);
    case "expired":
      return {
        ...rejection("payment_expired", "the payment's time was over before it could be settled"),
        transaction: "",
      };
    case "failed":
      return whenFailed(last, asked);
  }
}

/** Nothing was moved: for the payer's fault, or for our own. */
function whenFailed(payment: Payment, { version }: Asked): SettleOutcome {
  const { error } = payment;
  if (error?.code !== "INVALID_PAYMENT_PROOF") return notSent(payment);
  return { ...rejection(reasonOf("settlement_refused", version), error.message), transaction: "" };
}
