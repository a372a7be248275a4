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
import { isStillHeld, keepAlive, type Lease } from "./lease.js";
import { issuePass, NO_PASS } from "./passage.js";
import { paidHeaders, type Receipt, receiptHeaders } from "./receipt.js";
import { refuse } from "./refusal.js";
import type { Answer, Capture, Head, HeaderList, Outcome } from "./request.js";
import type { Requirement } from "./requirement.js";
import type { Sale } from "./sale.js";
import type { Terms } from "./settings.js";
import { type Settled, settleClaim } from "./settlement.js";
import { replacement, watchRun } from "./watched-run.js";

/** One admitted request. */
export interface Admission extends Sale {
  readonly claim: Claim;
  /** Set when the money is there already: the handler's answer only has to be delivered. */
  readonly transaction: string | undefined;
}

/** Begins to watch over one run of the handler. */
export function createCapture(context: Context, admission: Admission): Capture {
  const { proof, claim, terms, transaction } = admission;
  // A proof that has run out can no longer be taken: after that there is nothing left to guard, unless it is paid already.
  // Then one that never ends, and never says so, keeps it for as long again as it had.
  const until = transaction === undefined ? proof.validBefore * 1000 : context.clock.now() + 2 * terms.handlerTimeoutMs;
  const lease = keepAlive(claim, context, context.settings.limits.leaseMs, until);
  return watchRun(context, terms.handlerTimeoutMs, {
    take: (head, whole, done) => take(context, admission, head, whole && keepOf(whole, terms), lease, done),
    giveBack: (why) => giveBack(context, admission, lease, why),
    uncharged: () => uncharged(admission),
    failure: (code) => failureOf(context, admission, code),
  });
}

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
  const since = context.clock.now();
  const settled: Settled =
    transaction === undefined
      ? await settleClaim(context, proof, claim, resource, keep)
      : await keepPaid(context, admission, transaction, keep);
  if (settled.kind !== "settled") {
    // What was paid before has begun this delivery, of which nothing leaves now.
    if (transaction !== undefined) void context.claims.unbegun(claim);
    done();
    return replacement(refusalOf(context, admission, settled));
  }
  const receipts = receiptHeaders(receiptOf({ ...admission, claim: settled.claim }, settled.transaction), versions);
  const pass = admission.passage ? await issuePass(context, admission, settled.claim.record) : NO_PASS;
  // Invariant: who has paid gets all that was sold, or may ask again, and no try is lost by it.
  const askAgain = () => {
    void context.claims.unbegun(settled.claim);
    done();
    return replacement(refusalOf(context, admission, { kind: "unknown", transaction: settled.transaction }));
  };
  if (!pass) return askAgain();
  // Invariant: who has lost the fence delivers nothing, also where it was lost asleep.
  if (!(await isStillHeld(settled.claim, since, context))) return askAgain();
  return {
    kind: "deliver",
    headers: paidHeaders(head.headers, receipts, pass),
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
