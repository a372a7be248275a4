// One settlement: claimed -> settling -> settled, refused, unknown or released, each written before it is acted on.
// Whatever is not known for certain is `unknown`: never a new bill, never goods.
import { settleBy } from "./answered.js";
import type { Keep } from "./changes.js";
import { type Claim, transactionKey } from "./claims.js";
import type { Context } from "./context.js";
import type { ErrorCode } from "./errors.js";
import { factsOf } from "./facts.js";
import type { BoundProof } from "./proof.js";
import type { SettleContext, Settlement } from "./receive/receiver.js";
import type { Resource } from "./requirement.js";
import { settleTime } from "./settle-time.js";
import { nextSettlementId } from "./settlement-id.js";
import { toSigned } from "./signed.js";

export type Settled =
  /** Settled and delivering in the store: the goods may go. */
  | { readonly kind: "settled"; readonly claim: Claim; readonly transaction: string }
  | { readonly kind: "refused"; readonly code: ErrorCode; readonly reason: string }
  | { readonly kind: "unavailable" }
  | { readonly kind: "unknown"; readonly transaction: string | undefined };

/** Past the receiver's own deadline nobody waits any more. */
export const GRACE_MS = 1000;

/** Takes the money for a claimed proof. `keep`: the answer to give again should this process die. Never rejects. */
export async function settleClaim(
  context: Context,
  proof: BoundProof,
  claim: Claim,
  resource: Resource,
  keep?: Keep,
): Promise<Settled> {
  const { claims, receiver, logger } = context;
  const settleMs = settleTime(receiver, proof.requirement);
  const settlementId = nextSettlementId();
  let begun: Claim | undefined;
  try {
    // Invariant: the store says `settling` before the first byte of the settlement leaves.
    const signed = receiver.finality ? toSigned({ proof, resource }) : undefined;
    begun = await claims.settling(claim, { settlementId, ms: settleMs + 2 * GRACE_MS, keep, signed });
  } catch (error) {
    logger.error("a settlement could not be begun", { proofId: proof.id, error: String(error) });
  }
  if (!begun) return { kind: "unavailable" };
  const settlement = await askReceiver(context, proof, begun, { settlementId, resource });
  try {
    return await recordOutcome(context, proof, begun, settlement, keep);
  } catch (error) {
    // Invariant: no goods for a settlement that the store does not know of; the next try of the buyer finds it out.
    logger.error("the outcome of a settlement could not be stored", { proofId: proof.id, error: String(error) });
    return { kind: "unknown", transaction: transactionOf(settlement) };
  }
}

async function recordOutcome(
  { claims, events, logger, lookups }: Context,
  proof: BoundProof,
  claim: Claim,
  settlement: Settlement,
  keep: Keep | undefined,
): Promise<Settled> {
  const facts = factsOf(proof);
  switch (settlement.outcome) {
    case "settled": {
      const { transaction } = settlement;
      const paid = await claims.settled(claim, settlement, keep, settlement.evidence === "word");
      if (!paid) {
        // Invariant: who has lost the fence delivers nothing; the money is found by whoever holds the record now. And one
        // transaction on a receiver's word alone settles one proof.
        logger.error("a settlement is not this proof's, or no longer its holder's", { proofId: proof.id, transaction });
        await claims.unknown(claim, undefined, false);
        return { kind: "unknown", transaction };
      }
      if (paid.record.final === false) lookups.watch();
      events.emit("settled", { ...facts, transaction });
      return { kind: "settled", claim: paid, transaction };
    }
    case "refused": {
      const { code, reason } = settlement;
      // Invariant: a bill is made by the record's holder alone, and in his time.
      if (!(await claims.refused(claim, code, reason))) {
        logger.warn("a refusal came too late to be believed", { proofId: proof.id, reason });
        lookups.watch();
        return { kind: "unknown", transaction: undefined };
      }
      events.emit("refused", { ...facts, reason });
      return { kind: "refused", code, reason };
    }
    case "unavailable":
      logger.error("a settlement could not be sent", { proofId: proof.id, message: settlement.message });
      // Invariant: too late to be released, it may have been found paid.
      if (!(await claims.release(claim, null))) {
        lookups.watch();
        return { kind: "unknown", transaction: undefined };
      }
      events.emit("released", { ...facts, why: "settlement_unavailable" });
      return { kind: "unavailable" };
    case "unknown": {
      const { transaction, message } = settlement;
      logger.warn("the outcome of a settlement is unknown", { proofId: proof.id, message });
      await claims.unknown(claim, transaction, settlement.reverted === true);
      lookups.watch();
      events.emit("unknown", { ...facts, transaction, message });
      return { kind: "unknown", transaction };
    }
  }
}

const transactionOf = (settlement: Settlement): string | undefined =>
  settlement.outcome === "settled" || settlement.outcome === "unknown" ? settlement.transaction : undefined;

/** The receiver's answer, or `unknown` when it throws or stays silent past its deadline. */
export async function askReceiver(
  { receiver, claims, clock, logger }: Pick<Context, "receiver" | "claims" | "clock" | "logger">,
  proof: BoundProof,
  claim: Claim,
  about: Pick<SettleContext, "settlementId" | "resource">,
): Promise<Settlement> {
  const settleMs = settleTime(receiver, proof.requirement);
  // Told where the money is, too: the node that verified the proof may have been behind.
  const { since } = claim.record.trace;
  const memory = since === undefined ? {} : { since };
  let transaction: string | undefined;
  const sending: SettleContext["sending"] = async (hash, expiry) => {
    if (!(await claims.sent(claim, hash, expiry))) throw new Error("the claim was taken over: nothing may be sent");
    transaction = hash;
  };
  const asked = settleBy(receiver, proof, { ...about, ...memory, deadlineAt: clock.now() + settleMs, sending });
  const answer = await new Promise<Settlement | undefined>((resolve) => {
    const cancel = clock.after(settleMs + GRACE_MS, () => resolve(undefined));
    void asked.then((settlement) => {
      cancel();
      resolve(settlement);
    });
  });
  if (!answer) {
    // An answer that comes after all is still evidence for the buyer's next try.
    asked
      .then(async (settlement) => {
        if (settlement.outcome !== "settled") return;
        const { transaction: late, evidence } = settlement;
        const owned = evidence === "word" ? transactionKey(proof.requirement.network, late) : undefined;
        await claims.resolve(claim.id, settlement, owned);
      })
      .catch((error: unknown) => logger.warn("a late settlement could not be stored", { error: String(error) }));
  }
  const outcome = answer ?? { outcome: "unknown", message: "the receiver did not answer in time" };
  return outcome.outcome === "unknown" && transaction ? { transaction, ...outcome } : outcome;
}
