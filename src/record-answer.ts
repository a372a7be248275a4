// Answers a request whose proof the store already knows: the table "what a repeat gets", made into verdicts.
import { admit } from "./admit.js";
import { refusalOf } from "./capture.js";
import type { Found } from "./changes.js";
import type { Claim } from "./claims.js";
import type { Context } from "./context.js";
import { deliver, NO_DELIVERY } from "./delivery.js";
import { type ErrorCode, type Money, PaywallError } from "./errors.js";
import { factsOf } from "./facts.js";
import type { KeptAnswer } from "./kept.js";
import { isStillHeld } from "./lease.js";
import type { Offers } from "./offers.js";
import { issuePass, NO_PASS } from "./passage.js";
import type { BoundProof } from "./proof.js";
import { paidHeaders, receiptHeaders } from "./receipt.js";
import { refuse } from "./refusal.js";
import { judgeRepeat, NEEDS } from "./repeat.js";
import type { Answer, HeaderList, Verdict } from "./request.js";
import type { Sale } from "./sale.js";
import type { ProofRecord, ProofTrace } from "./store/record.js";
import { settleLeases } from "./store/record.js";

/** The verdict; `run` = nothing stands against a claim; `again` = the record changed meanwhile, look again. */
export async function answerFromRecord(
  context: Context,
  asked: Sale,
  found: Found & { readonly record: ProofRecord },
): Promise<Verdict | "run" | "again"> {
  const sale = { ...asked, proof: asRecorded(asked.proof, found.record.trace) };
  const { proof, print, offers, resource } = sale;
  const { version } = proof;
  const told = (code: ErrorCode, answer: Answer) => refusal(context, sale, code, answer);
  const repeat = judgeRepeat(found.record, print, found.now);
  switch (repeat.kind) {
    case "run":
      return "run";
    case "in_progress":
      return told("payment_in_progress", refuse("payment_in_progress", { version, payment: moneyOf(found.record) }));
    case "expired":
      // It ended without money and without goods. Another proof of the same nonce is not bound by that: it is judged for itself.
      if (found.record.digest !== proof.digest && found.record.delivery !== "delivered") return "run";
      return told("payment_expired", offers.challenge.refused(resource.url, "payment_expired", {}, []));
    case "used_elsewhere":
      return told("payment_used_elsewhere", offers.challenge.refused(resource.url, "payment_used_elsewhere", {}, []));
    case "already_used":
      return alreadyUsed(context, sale, repeat.expected, repeat.receipt ? found.record : undefined);
    case "lookup":
      return afterLookup(context, sale);
    case "replay":
      return replay(context, sale, found.record, found.kept);
    case "goods":
      return redeliver(context, sale, found.record, repeat.kept ? found.kept : undefined);
  }
}

function refusal({ events }: Context, { resource }: Sale, code: ErrorCode, answer: Answer): Verdict {
  events.emit("refusal", { code, target: resource.url });
  return { kind: "refuse", answer };
}

/** What was sold, and to whom, is what the record says. */
function asRecorded(proof: BoundProof, { asset, payTo, amount, payer }: ProofTrace): BoundProof {
  const sold = { asset, payTo, amount: BigInt(amount) };
  // Two branches, because a proof and its requirement are of one kind.
  return proof.kind === "authorization"
    ? { ...proof, payer, requirement: { ...proof.requirement, ...sold } }
    : { ...proof, payer, requirement: { ...proof.requirement, ...sold } };
}

/** Whether money has moved for a proof that somebody is at work on. */
function moneyOf({ settlement }: ProofRecord): Money {
  if (settlement === "claimed") return "none";
  return settlement === "settled" ? "settled" : "unknown";
}

/** The receipt of the settlement that the record holds. */
function receiptOf({ versions }: Sale, record: ProofRecord): HeaderList {
  const { network, payer, transaction, received } = record.trace;
  const more = received === null ? {} : { amount: received };
  return receiptHeaders({ success: true, transaction: transaction ?? "", network, payer, ...more }, versions);
}

function alreadyUsed(context: Context, sale: Sale, expected: string, record: ProofRecord | undefined): Verdict {
  const { version } = sale.proof;
  const headers = record ? receiptOf(sale, record) : [];
  const answer = refuse("payment_already_used", { version, expected, headers });
  return refusal(context, sale, "payment_already_used", answer);
}

/** What a settlement came to, which tells the observers itself. */
const refusedOf = (...of: Parameters<typeof refusalOf>): Verdict => ({ kind: "refuse", answer: refusalOf(...of) });

/** Asks what became of the money, once a second at most; what is decided by then is answered by its own row. */
async function afterLookup(context: Context, sale: Sale): Promise<Verdict | "again"> {
  const found = await context.lookups.lookup(sale.proof.id, sale);
  const record = found.record && settleLeases(found.record, found.now);
  if (record?.settlement === "unknown") {
    context.lookups.watch();
    return refusedOf(context, sale, { kind: "unknown", transaction: record.trace.transaction ?? undefined });
  }
  if (record?.settlement === "refused") {
    const { code, reason } = record.refusal ?? { code: "settlement_refused", reason: "invalid_transaction_state" };
    return refusedOf(context, sale, { kind: "refused", code, reason });
  }
  return "again";
}

async function replay(
  context: Context,
  sale: Sale,
  record: ProofRecord,
  kept: KeptAnswer | undefined,
): Promise<Verdict | "again"> {
  const { claims, events } = context;
  if (!kept) return alreadyUsed(context, sale, NEEDS.kept, record);
  const claim = await claims.replay(sale.proof.id, sale.print);
  if (!claim) return "again";
  const pass = await passOf(context, sale, claim, true);
  events.emit("replayed", factsOf(sale.proof));
  return { kind: "replay", answer: keptAnswer(kept, receiptOf(sale, record), pass), delivery: NO_DELIVERY };
}

/** Paid and not delivered: the kept answer, or one more run of the handler. */
async function redeliver(
  context: Context,
  sale: Sale,
  record: ProofRecord,
  kept: KeptAnswer | undefined,
): Promise<Verdict | "again"> {
  const { proof, print, offers } = sale;
  // Invariant: a new run gives what is sold here and now, so it must have been paid for. A kept answer was.
  if (!kept && !isCovered(record.trace, offers)) return alreadyUsed(context, sale, NEEDS.price, record);
  const since = context.clock.now();
  const claim = await context.claims.redeliver(proof.id, print, kept ? "kept" : "run");
  if (claim === "too_many_failures") {
    const headers = receiptOf(sale, record);
    const answer = refuse("too_many_failures", { version: proof.version, payment: "settled", headers });
    return refusal(context, sale, "too_many_failures", answer);
  }
  if (!claim) return "again";
  if (kept) {
    const pass = await passOf(context, sale, claim, false);
    if (!(await isStillHeld(claim, since, context))) {
      await context.claims.unbegun(claim);
      return "again";
    }
    context.events.emit("replayed", factsOf(proof));
    const delivery = deliver(context, factsOf(proof), claim, () => {});
    return { kind: "replay", answer: keptAnswer(kept, receiptOf(sale, claim.record), pass), delivery };
  }
  const transaction = claim.record.trace.transaction ?? "";
  return admit(context, { ...sale, claim, transaction });
}

/** Who was paid, and how much. */
export type PaidFor = Pick<ProofTrace, "network" | "asset" | "payTo" | "amount" | "received">;

/** Has this seller been paid at least what one of these offers asks? The path alone does not say which shop it is. */
export function isCovered(trace: PaidFor, { requirements }: Pick<Offers, "requirements">): boolean {
  const paid = BigInt(trace.received ?? trace.amount);
  return requirements.some(
    ({ network, asset, payTo, amount }) =>
      network === trace.network && asset === trace.asset && payTo === trace.payTo && amount <= paid,
  );
}

/** A kept answer never holds its pass: the buyer gets a new token with each. */
async function passOf(context: Context, sale: Sale, claim: Claim, delivered: boolean): Promise<HeaderList> {
  const pass = sale.passage ? await issuePass(context, sale, claim.record, delivered) : NO_PASS;
  if (pass) return pass;
  void context.claims.unbegun(claim);
  throw new PaywallError("store_unavailable");
}

function keptAnswer(kept: KeptAnswer, receipts: HeaderList, pass: HeaderList): Answer {
  const added = paidHeaders(kept.headers, [...receipts, ["Payment-Replayed", "true"]], pass);
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  return {
    status: kept.status,
    headers: [...kept.headers.filter(([name]) => !names.has(name.toLowerCase())), ...added],
    body: kept.body,
  };
}
