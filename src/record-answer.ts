// Answers a request whose proof the store already knows: the table "what a repeat gets", made into verdicts.
import { admit } from "./admit.js";
import { refusalOf } from "./capture.js";
import type { Found } from "./changes.js";
import type { Context } from "./context.js";
import { deliver, NO_DELIVERY } from "./delivery.js";
import type { Money } from "./errors.js";
import { factsOf } from "./facts.js";
import type { KeptAnswer } from "./kept.js";
import type { Offers } from "./offers.js";
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
  const repeat = judgeRepeat(found.record, print, found.now);
  switch (repeat.kind) {
    case "run":
      return "run";
    case "in_progress":
      return refusal(refuse("payment_in_progress", { version: proof.version, payment: moneyOf(found.record) }));
    case "expired":
      // It ended without money. Another proof of the same nonce is not bound by that: it is judged for itself.
      if (found.record.digest !== proof.digest) return "run";
      return refusal(offers.challenge.refused(resource.url, "payment_expired", {}, []));
    case "used_elsewhere":
      return refusal(offers.challenge.refused(resource.url, "payment_used_elsewhere", {}, []));
    case "already_used":
      return refusal(alreadyUsed(sale, repeat.expected, repeat.receipt ? found.record : undefined));
    case "lookup":
      return afterLookup(context, sale);
    case "replay":
      return replay(context, sale, found.record, found.kept);
    case "goods":
      return redeliver(context, sale, found.record, repeat.kept ? found.kept : undefined);
  }
}

const refusal = (answer: Answer): Verdict => ({ kind: "refuse", answer });

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

const alreadyUsed = (sale: Sale, expected: string, record: ProofRecord | undefined): Answer =>
  refuse("payment_already_used", {
    version: sale.proof.version,
    expected,
    headers: record ? receiptOf(sale, record) : [],
  });

/** Asks what became of the money, once a second at most; what is decided by then is answered by its own row. */
async function afterLookup(context: Context, sale: Sale): Promise<Verdict | "again"> {
  const found = await context.lookups.lookup(sale.proof.id, sale);
  const record = found.record && settleLeases(found.record, found.now);
  if (record?.settlement === "unknown") {
    context.lookups.watch();
    return refusal(refusalOf(context, sale, { kind: "unknown", transaction: record.trace.transaction ?? undefined }));
  }
  if (record?.settlement === "refused") {
    const { code, reason } = record.refusal ?? { code: "settlement_refused", reason: "invalid_transaction_state" };
    return refusal(refusalOf(context, sale, { kind: "refused", code, reason }));
  }
  return "again";
}

async function replay(
  { claims, events }: Context,
  sale: Sale,
  record: ProofRecord,
  kept: KeptAnswer | undefined,
): Promise<Verdict | "again"> {
  if (!kept) return refusal(alreadyUsed(sale, NEEDS.kept, record));
  if (!(await claims.replay(sale.proof.id, sale.print))) return "again";
  events.emit("replayed", factsOf(sale.proof));
  return { kind: "replay", answer: keptAnswer(kept, receiptOf(sale, record)), delivery: NO_DELIVERY };
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
  if (!kept && !isCovered(record, offers)) return refusal(alreadyUsed(sale, NEEDS.price, record));
  const claim = await context.claims.redeliver(proof.id, print, kept ? "kept" : "run");
  if (claim === "too_many_failures") {
    const headers = receiptOf(sale, record);
    return refusal(refuse("too_many_failures", { version: proof.version, payment: "settled", headers }));
  }
  if (!claim) return "again";
  if (kept) {
    context.events.emit("replayed", factsOf(proof));
    const delivery = deliver(context, factsOf(proof), claim, () => {});
    return { kind: "replay", answer: keptAnswer(kept, receiptOf(sale, claim.record)), delivery };
  }
  const transaction = claim.record.trace.transaction ?? "";
  return admit(context, { ...sale, claim, transaction });
}

/** Has this seller been paid at least what one of these offers asks? The path alone does not say which shop it is. */
function isCovered({ trace }: ProofRecord, { requirements }: Offers): boolean {
  const paid = BigInt(trace.received ?? trace.amount);
  return requirements.some(
    ({ network, asset, payTo, amount }) =>
      network === trace.network && asset === trace.asset && payTo === trace.payTo && amount <= paid,
  );
}

function keptAnswer(kept: KeptAnswer, receipts: HeaderList): Answer {
  const added = paidHeaders(kept.headers, [...receipts, ["Payment-Replayed", "true"]]);
  const names = new Set(added.map(([name]) => name.toLowerCase()));
  return {
    status: kept.status,
    headers: [...kept.headers.filter(([name]) => !names.has(name.toLowerCase())), ...added],
    body: kept.body,
  };
}
