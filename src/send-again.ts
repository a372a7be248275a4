// Sends a settlement again that the chain has taken back: the same proof under a new settlement id. The delivery is not
// touched. Whatever does not come to positive evidence is `unknown` and looked at again, until it stands or is finally lost.
import { inStoreTime } from "./commits.js";
import type { Context } from "./context.js";
import { factsOfTrace } from "./facts.js";
import type { Taken } from "./resolutions.js";
import { settleTime } from "./settle-time.js";
import { askReceiver, GRACE_MS } from "./settlement.js";
import { nextSettlementId } from "./settlement-id.js";
import { fromSigned } from "./signed.js";

type Parts = Pick<Context, "claims" | "receiver" | "clock" | "events" | "logger">;

/** Never resolves to anything: what came of it is in the record and in the events. */
export async function sendAgain(parts: Parts, taken: Taken): Promise<void> {
  const { claims, receiver, clock, events, logger } = parts;
  // Invariant: a store that never answers does not hold up the lookups to come. Begun late, it is `unknown` when its lease ends.
  const stored = <Result>(ask: () => Promise<Result>) => inStoreTime(clock, ask);
  const { id, record } = taken;
  const text = await stored(() => claims.signed(id));
  const shown = text === undefined ? undefined : fromSigned(text);
  const settlementId = nextSettlementId();
  const settleMs = shown ? settleTime(receiver, shown.proof.requirement) : 0;
  // Invariant: the store says `settling` before the first byte of it leaves, and one process alone gets this fence.
  const begun = await stored(() => claims.reorganise(taken, settlementId, settleMs + 2 * GRACE_MS));
  if (!begun) return;
  const facts = factsOfTrace(record.trace);
  if (record.settlement === "settled") {
    const transaction = record.trace.transaction ?? undefined;
    logger.error("the chain has taken a settlement back: it is sent again", { proofId: id, transaction });
    events.emit("reorganised", { ...facts, transaction });
  }
  if (!shown) {
    await stored(() => claims.resettle(begun, undefined));
    return;
  }
  const claim = { ...begun, fence: begun.record.fence };
  const about = { settlementId, resource: shown.resource };
  const settlement = await askReceiver(parts, shown.proof, claim, about);
  // A receiver's word may be of the first time: the chain is asked.
  const paid = settlement.outcome === "settled" && settlement.evidence !== "word" ? settlement : undefined;
  if (!(await stored(() => claims.resettle(begun, paid))) || !paid) {
    logger.warn("a settlement that was taken back does not stand yet", { proofId: id, outcome: settlement.outcome });
    return;
  }
  const { transaction } = paid;
  events.emit("settled", { ...facts, transaction });
  events.emit("reconciled", { ...facts, outcome: "settled", how: "sent_again", transaction });
}
