// When the money is taken, relative to the handler's answer. `authorization`: the handler runs first, and what it answered
// decides, not whether the client stayed. `upfront` and redelivery: the money is there already; a failed handler leaves a
// settled proof that its buyer may use again. Of a stream the head decides, before a byte of it leaves; a stream that
// breaks later is charged and undelivered, so its buyer may have one more run.
import type { Keep } from "./changes.js";
import type { Claim } from "./claims.js";
import type { Context } from "./context.js";
import { deliver, NO_DELIVERY } from "./delivery.js";
import { ERRORS, type ErrorCode } from "./errors.js";
import { factsOf } from "./facts.js";
import { toKept } from "./kept.js";
import { keepAlive, type Lease } from "./lease.js";
import { paidHeaders, type Receipt, receiptHeaders } from "./receipt.js";
import { refuse } from "./refusal.js";
import type { Answer, Capture, Head, HeaderList, Outcome } from "./request.js";
import type { Requirement } from "./requirement.js";
import type { Sale } from "./sale.js";
import type { Terms } from "./settings.js";
import { type Settled, settleClaim } from "./settlement.js";

/** One admitted request. */
export interface Admission extends Sale {
  readonly claim: Claim;
  /** Set when the money is there already: the handler's answer only has to be delivered. */
  readonly transaction: string | undefined;
}

/** Begins to watch over one run of the handler. */
export function createCapture(context: Context, admission: Admission): Capture {
  const { proof, claim, terms, transaction } = admission;
  const { clock } = context;
  const held = context.held.open();
  // A proof that has run out can no longer be taken: after that there is nothing left to guard, unless it is paid already.
  // Then one that never ends, and never says so, keeps it for as long again as it had.
  const until = transaction === undefined ? proof.validBefore * 1000 : clock.now() + 2 * terms.handlerTimeoutMs;
  const lease = keepAlive(claim, context, context.settings.limits.leaseMs, until);
  let decided: Promise<Outcome> | undefined;
  let [running, ended] = [false, false];
  let reason = "handler_timeout";
  let cancel = () => {};

  const timedOut = new Promise<Outcome>((resolve) => {
    cancel = clock.after(terms.handlerTimeoutMs, () => {
      if (decided) return;
      // Safe because the claim stays held until the handler has ended: no second run beside one that still goes on.
      running = true;
      held.close();
      decided = Promise.resolve(replacement(failureOf(context, admission, "handler_timeout")));
      resolve(decided);
    });
  });
  const decide = (outcome: () => Promise<Outcome>) => {
    cancel();
    decided ??= outcome();
    return decided;
  };

  return {
    timedOut,
    hold: (bytes) => held.add(bytes),
    flushed: held.close,
    answered: (answer) => decide(() => onAnswer(context, admission, answer, lease, held.close)),
    streaming: (head) =>
      decide(async () => {
        if (head.status < 400) return take(context, admission, head, undefined, lease, held.close);
        reason = `status ${head.status}`;
        // The failed answer may flow for long, and its handler runs on: as after a timeout, no second run beside it.
        if (ended) await giveBack(context, admission, lease, reason);
        else running = true;
        return uncharged(admission);
      }),
    failed: () =>
      decide(async () => {
        held.close();
        const answer = failureOf(context, admission, "internal_error");
        await giveBack(context, admission, lease, "thrown");
        return replacement(answer);
      }),
    ended() {
      ended = true;
      if (!running) return;
      running = false;
      void giveBack(context, admission, lease, reason);
    },
  };
}

const replacement = (answer: Answer): Outcome => ({ kind: "replace", answer, delivery: NO_DELIVERY });

/** The receipt of money that has moved, with what came where it was more than the price. */
function receiptOf({ proof, claim }: Admission, transaction: string): Receipt {
  const { received } = claim.record.trace;
  const { network } = proof.requirement;
  const more = received === null ? {} : { amount: received };
  return { success: true, transaction, network, payer: proof.payer, ...more };
}

/** Our own answer in place of the handler's. A buyer who has paid still gets the receipt. */
function failureOf({ events }: Context, admission: Admission, code: ErrorCode): Answer {
  const { transaction, versions, proof, resource } = admission;
  events.emit("refusal", { code, target: resource.url });
  const headers = transaction === undefined ? [] : receiptHeaders(receiptOf(admission, transaction), versions);
  // The handler failed before anything was taken, or after it was there: both are known here.
  const paid = transaction !== undefined;
  return refuse(code, { version: proof.version, headers, paid, ...(!paid && { payment: "none" }) });
}

async function onAnswer(
  context: Context,
  admission: Admission,
  answer: Answer,
  lease: Lease,
  done: () => void,
): Promise<Outcome> {
  if (answer.status >= 400) {
    await giveBack(context, admission, lease, `status ${answer.status}`);
    done();
    return uncharged(admission);
  }
  return take(context, admission, answer, keepOf(answer, admission.terms), lease, done);
}

/** The handler's own failure goes to the buyer as it is, with the receipt of money that was taken before. */
function uncharged(admission: Admission): Outcome {
  const { transaction, versions } = admission;
  const headers = transaction === undefined ? [] : receiptHeaders(receiptOf(admission, transaction), versions);
  return { kind: "deliver", headers, delivery: NO_DELIVERY };
}

/** Takes the money, or makes sure of the right to deliver where it is there already; then the goods may go. */
async function take(
  context: Context,
  admission: Admission,
  head: Head,
  keep: Keep | undefined,
  lease: Lease,
  done: () => void,
): Promise<Outcome> {
  const { transaction, claim, versions, proof, resource } = admission;
  lease.stop();
  const settled: Settled =
    transaction === undefined
      ? await settleClaim(context, proof, claim, resource, keep)
      : await keepPaid(context, admission, transaction, keep);
  if (settled.kind !== "settled") {
    done();
    return replacement(refusalOf(context, admission, settled));
  }
  const receipts = receiptHeaders(receiptOf({ ...admission, claim: settled.claim }, settled.transaction), versions);
  return {
    kind: "deliver",
    headers: paidHeaders(head.headers, receipts),
    delivery: deliver(context, factsOf(proof), settled.claim, done),
  };
}

/** A small answer is kept for the buyer's retry, for as long as the route says. */
function keepOf(answer: Answer, { replayMs }: Terms): Keep | undefined {
  const kept = replayMs > 0 ? toKept(answer) : undefined;
  return kept && { answer: kept, ms: replayMs };
}

/** Nothing to settle: only the right to deliver has to be still ours. */
async function keepPaid(
  { claims, logger }: Context,
  { claim, proof }: Admission,
  transaction: string,
  keep: Keep | undefined,
): Promise<Settled> {
  try {
    const ours = keep ? await claims.keep(claim, keep) : (await claims.renew(claim)) !== undefined;
    return ours ? { kind: "settled", claim, transaction } : { kind: "unknown", transaction };
  } catch (error) {
    logger.error("a paid answer could not be delivered: the store failed", { proofId: proof.id, error: String(error) });
    return { kind: "unknown", transaction };
  }
}

/** What a buyer is told whose payment did not settle. Source: protocol §1.5, §1.7. */
export function refusalOf(
  { events }: Context,
  { proof, versions, offers, resource }: Sale,
  settled: Exclude<Settled, { kind: "settled" }>,
): Answer {
  const { version, requirement } = proof;
  const receipt = (transaction: string, errorReason: string): HeaderList =>
    receiptHeaders(
      { success: false, transaction, network: requirement.network, payer: proof.payer, errorReason },
      versions,
    );
  switch (settled.kind) {
    case "refused": {
      const { code, reason } = settled;
      events.emit("refusal", { code, target: resource.url });
      if (ERRORS[code].status !== 402) return refuse(code, { version, reason, headers: receipt("", reason) });
      return offers.challenge.refused(resource.url, code, { reason }, receipt("", reason));
    }
    case "unavailable":
      events.emit("refusal", { code: "settlement_unavailable", target: resource.url });
      return refuse("settlement_unavailable", { version });
    case "unknown":
      events.emit("refusal", { code: "settlement_unknown", target: resource.url });
      return refuse("settlement_unknown", {
        version,
        headers: receipt(settled.transaction ?? "", "settlement_pending"),
        ...wayOut(requirement),
      });
  }
}

/** A transaction that stays unmined has no end of its own, but its sender can make one. */
function wayOut({ method, network }: Requirement): { readonly expected?: string } {
  if (method !== "transaction" || !network.startsWith("eip155:")) return {};
  return { expected: "the same payment again; or, to cancel it, another transaction with the same account nonce" };
}

/** The run is over without goods: the claim is free again, or the paid proof waits for its buyer. */
async function giveBack(
  { claims, events, logger }: Context,
  { claim, proof, transaction }: Admission,
  lease: Lease,
  why: string,
): Promise<void> {
  lease.stop();
  try {
    if (transaction === undefined) await claims.release(claim, false);
    else await claims.withdraw(claim);
    events.emit("released", { ...factsOf(proof), why });
  } catch (error) {
    // Safe because the lease runs out by itself.
    logger.warn("a claim could not be given back", { proofId: proof.id, error: String(error) });
  }
}
