// Takes a settlement up again that a crash cut off, or whose transaction no node knows any more. Safe because a proof pays its
// recipient and nobody else, and its chain takes it once: an authorization has a nonce, a transaction is the same bytes.
import type { BoundProof } from "../../proof.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import type { GatewayNetwork } from "../chain.js";
import type { PaymentChange } from "../database/database.js";
import type { GatewayParts } from "../parts.js";
import type { Payment, PaymentStatus, SettlementPursuit } from "../payment.js";
import { memoryOf } from "../receive/prepare.js";
import { isSettlement, rebindProof, withTransaction } from "../receive/pursuit.js";
import { recordReverted, reserveShare, type Share } from "../receive/sponsor.js";
import { resourceOf } from "../receive/verify.js";

type Parts = Omit<GatewayParts, "watcher">;
type Settling = Payment & { readonly pursuit: SettlementPursuit };

/** What was announced may still be on its way to the nodes: it counts as lost only after so long. */
const LOST_MS = 30_000;
/** Past its own time nobody waits for a receiver. */
const GRACE_MS = 2_000;

/**
 * Gives an unfinished settlement to the receiver again, and the record as it then is. Does nothing where a foreign facilitator
 * has the proof, where it was tried a moment ago, and where somebody else was first. Rejects where the database does.
 *
 * @example
 * // Only for who holds the record's lease, or its idempotent request, and has found nothing by a lookup:
 * const after = await resumeSettlement(parts, payment);
 */
export async function resumeSettlement(parts: Parts, payment: Payment): Promise<Payment> {
  const { database, networks, logger } = parts;
  const network = networks.find(payment.network);
  const isOpen = payment.status === "created" || payment.status === "submitted";
  // What was built for a seller he sends himself, and what a foreign facilitator has is not ours to send either.
  const isOurs = payment.flow !== "build_receive";
  if (!network || !isOpen || !isOurs || !isSettlement(payment) || payment.pursuit.facilitatorUrl !== undefined)
    return payment;
  const now = await database.now();
  if (!isLost(payment, now)) return payment;
  const settleMs = network.receiver.settleMs(payment.network);
  // Invariant: this write is the fence. Of several who read the record one goes on, and whoever began it before sends nothing more.
  const change = { pursuit: { ...payment.pursuit, resumedAt: now }, dueAt: now + settleMs + GRACE_MS };
  const begun = await database.payments.change(payment, payment.status, change);
  if (!begun || !isSettlement(begun)) return begun ?? (await database.payments.get(payment.id)) ?? payment;
  const facts = { paymentId: payment.id, network: payment.network };
  const bound = await rebindProof(begun.pursuit, network, logger);
  if (!bound.ok) {
    logger.error({ ...facts, problem: bound.message }, "a settlement cannot be taken up again");
    return begun;
  }
  // Invariant: what may be one more transaction has a share of the day's budget of its own, or one proof that reverts again and
  // again would burn gas without end. What was never announced has the share of its grant.
  const isFurther = isAnnounced(payment) || payment.pursuit.resumedAt !== undefined;
  const reserved = isFurther ? await reserveShare(parts, begun.account, bound.value) : NO_SHARE;
  if (!reserved.ok) {
    logger.warn({ ...facts, problem: reserved.message }, "a settlement is not taken up again for now");
    return begun;
  }
  logger.info(facts, "a settlement is taken up again");
  return settle(parts, network, begun, bound.value, reserved.share);
}

const NO_SHARE = { ok: true, share: undefined } as const;

const isAnnounced = ({ signature, pursuit }: Settling): boolean =>
  signature !== null || pursuit.trace.transaction !== null;

/** Nothing was announced: it can only have been cut off. Announced: given time to appear. */
function isLost(payment: Settling, now: number): boolean {
  const { resumedAt } = payment.pursuit;
  if (resumedAt === undefined && !isAnnounced(payment)) return true;
  return now - (resumedAt ?? payment.createdAt) >= LOST_MS;
}

/** Compare-and-set on what was written last; undefined where somebody else has the record now. */
type Write = (status: PaymentStatus, change: PaymentChange) => Promise<Payment | undefined>;

async function settle(
  parts: Parts,
  network: GatewayNetwork,
  begun: Settling,
  proof: BoundProof,
  share: Share | undefined,
): Promise<Payment> {
  const { payments } = parts.database;
  const { receiver } = network;
  let current = begun;
  let sent = false;
  const write: Write = async (status, change) => {
    const changed = await payments.change(current, status, change);
    if (changed && isSettlement(changed)) current = changed;
    return changed;
  };
  const sending: SettleContext["sending"] = async (transaction, expiry) => {
    const pursuit = withTransaction(current.pursuit, transaction, { expiry });
    const announced = await write("submitted", { signature: transaction, pursuit });
    if (!announced) throw new Error("the record was changed by somebody else: nothing may be sent");
    sent = true;
  };
  const settlement = await receiver
    .settle(proof, {
      settlementId: begun.pursuit.settlementId,
      resource: resourceOf(begun.resource ?? undefined),
      since: await memoryOf(parts.database, begun.account),
      deadlineAt: parts.now() + receiver.settleMs(begun.network),
      sending,
    })
    .catch((error: unknown): Settlement => ({ outcome: "unknown", message: String(error) }));
  if (!sent && settlement.outcome !== "unknown") await share?.giveBack();
  await record(parts, settlement, current, write);
  return (await payments.get(begun.id)) ?? current;
}

/** Writes the outcome down. Only the chain's own word confirms: what was settled is looked up next, at once. */
async function record(parts: Parts, settlement: Settlement, payment: Settling, write: Write): Promise<void> {
  const { database, logger } = parts;
  const facts = { paymentId: payment.id, outcome: settlement.outcome };
  switch (settlement.outcome) {
    case "settled": {
      const { transaction: signature, received } = settlement;
      const pursuit = withTransaction(payment.pursuit, signature, { received });
      await write("submitted", { signature, pursuit, dueAt: await database.now() });
      return;
    }
    case "refused": {
      logger.warn({ ...facts, reason: settlement.reason }, "a settlement was refused when it was taken up again");
      // Invariant: a refusal ends only what was never announced. Of anything that was, the chain alone tells the end.
      if (isAnnounced(payment)) return;
      const error = { code: "INVALID_PAYMENT_PROOF", message: settlement.code } as const;
      await write("failed", { error, dueAt: null });
      return;
    }
    case "unavailable":
      logger.warn({ ...facts, problem: settlement.message }, "a settlement could not be sent");
      return;
    case "unknown": {
      const { transaction: signature = null, reverted } = settlement;
      logger.warn({ ...facts, problem: settlement.message }, "the outcome of a settlement is not known yet");
      if (signature !== null && payment.signature === null) await write("submitted", { signature });
      if (reverted && signature !== null) await recordReverted(parts, payment, signature);
    }
  }
}
