// Settles one received payment whose record stands already. The order is the promise: the record says `submitted`, with the
// transaction's id, before a byte of it leaves; confirmed is only what the receiver has proven; what nobody knows stays
// `submitted` for the watcher. Once begun it runs to its end, whoever has stopped waiting.
import type { BoundProof } from "../../proof.js";
import type { Receiver, SettleContext, Settlement } from "../../receive/receiver.js";
import type { GatewayNetwork } from "../chain.js";
import type { PaymentChange } from "../database/database.js";
import type { GatewayParts } from "../parts.js";
import type { Payment, PaymentStatus, SettlementPursuit } from "../payment.js";
import { withTransaction } from "./pursuit.js";
import { recordReverted } from "./sponsor.js";
import { resourceOf } from "./verify.js";

export interface SettlementJob {
  readonly network: GatewayNetwork;
  /** Who settles: the network's own receiver, or a foreign facilitator. */
  readonly receiver: Pick<Receiver, "settle">;
  readonly proof: BoundProof;
  readonly payment: Payment & { readonly pursuit: SettlementPursuit };
  /** Epoch milliseconds at which this gateway's memory of the account begins. */
  readonly since: number;
  /** Epoch milliseconds, of this process: the receiver gives up then. */
  readonly deadlineAt: number;
}

export interface Settled {
  /** As the record then is. */
  readonly payment: Payment;
  readonly settlement: Settlement;
  /** Was it announced, so that bytes of ours may have left? */
  readonly sent: boolean;
}

/** A record that others change in between is read again and changed again so often. */
const MAX_TRIES = 8;

/** Never rejects but where the database does. */
export async function settlePayment(
  parts: Pick<GatewayParts, "database" | "logger">,
  job: SettlementJob,
): Promise<Settled> {
  const { payments } = parts.database;
  const { receiver, proof, since, deadlineAt } = job;
  const { settlementId } = job.payment.pursuit;
  let current: Payment = job.payment;
  let sent = false;
  const sending: SettleContext["sending"] = async (transaction, expiry) => {
    const change = (pursuit: SettlementPursuit) => ({
      signature: transaction,
      pursuit: withTransaction(pursuit, transaction, { expiry }),
    });
    const next = await move(parts, current, OPEN, "submitted", change);
    // Invariant: nothing is sent for a record that does not say so: one that is decided, or that somebody else has taken up.
    if (next.status !== "submitted" || next.signature !== transaction) throw new Error("its record is no longer ours");
    current = next;
    sent = true;
  };
  const resource = resourceOf(job.payment.resource ?? undefined);
  const settlement = await receiver
    .settle(proof, { settlementId, resource, since, deadlineAt, sending })
    .catch((error: unknown): Settlement => {
      parts.logger.error({ paymentId: current.id, error: String(error) }, "a settlement broke off");
      return { outcome: "unknown", message: "the settlement broke off" };
    });
  // What the watcher has found in the meantime outweighs what this attempt knows.
  current = (await payments.get(current.id)) ?? current;
  const payment = await recordOutcome(parts, job, current, settlement);
  return { payment, settlement, sent };
}

async function recordOutcome(
  parts: Pick<GatewayParts, "database" | "logger">,
  { network, proof }: SettlementJob,
  payment: Payment,
  settlement: Settlement,
): Promise<Payment> {
  const facts = { paymentId: payment.id, network: payment.network, proofId: proof.id };
  const now = await parts.database.now();
  switch (settlement.outcome) {
    case "settled":
      return recordSettled(parts, network, proof, payment, settlement, now);
    case "refused":
    case "unavailable": {
      const message = settlement.outcome === "refused" ? settlement.reason : settlement.message;
      parts.logger.warn({ ...facts, outcome: settlement.outcome, message }, "a payment was not settled");
      // Invariant: a foreign facilitator that says no has the proof all the same, and until its time is over he can use it.
      if (settlement.outcome === "refused" && isForeign(payment)) {
        const said = { code: "INVALID_PAYMENT_PROOF", message: settlement.code } as const;
        return move(parts, payment, OPEN, "submitted", () => ({ error: said, dueAt: now }));
      }
      const error =
        settlement.outcome === "refused"
          ? ({ code: "INVALID_PAYMENT_PROOF", message: settlement.code } as const)
          : ({ code: "UNAVAILABLE", message: "it could not be sent; nothing was moved" } as const);
      return move(parts, payment, OPEN, "failed", () => ({ error, dueAt: null }));
    }
    case "unknown": {
      const { transaction, message, reverted } = settlement;
      parts.logger.warn({ ...facts, message }, "what became of a settlement is not known yet");
      const moved = await move(parts, payment, OPEN, "submitted", (pursuit) => ({
        ...(transaction !== undefined && { signature: transaction, pursuit: withTransaction(pursuit, transaction) }),
        dueAt: now,
      }));
      // Also of a record that somebody else has taken up meanwhile: the gas was burnt all the same.
      return reverted && transaction !== undefined ? recordReverted(parts, moved, transaction) : moved;
    }
  }
}

const isForeign = ({ pursuit }: Payment): boolean =>
  pursuit.kind === "settlement" && pursuit.facilitatorUrl !== undefined;

async function recordSettled(
  parts: Pick<GatewayParts, "database" | "logger">,
  network: GatewayNetwork,
  proof: BoundProof,
  payment: Payment,
  { transaction: given, received, evidence }: Extract<Settlement, { outcome: "settled" }>,
  now: number,
): Promise<Payment> {
  // Hex has two spellings, base58 has one.
  const transaction = payment.network.startsWith("eip155:") ? given.toLowerCase() : given;
  if (evidence === "word" && !(await claimTransaction(parts, payment, transaction, now))) {
    return (await parts.database.payments.get(payment.id)) ?? payment;
  }
  // Invariant: a foreign word confirms nothing, and one block is not the many that the operator may ask for.
  const status: PaymentStatus = evidence === "word" || needsBlocks(network, proof) ? "submitted" : "confirmed";
  const word = evidence === "word" ? { word: true as const } : {};
  const block = status === "confirmed" ? await blockOf(network, transaction) : {};
  const settled = await move(parts, payment, SETTLEABLE, status, (pursuit) => ({
    signature: transaction,
    pursuit: { ...withTransaction(pursuit, transaction, { received }), ...word },
    ...(received !== undefined && { amount: received }),
    ...block,
    dueAt: now,
  }));
  if (settled.status === "failed") {
    const facts = { paymentId: payment.id, network: payment.network, transaction };
    parts.logger.error(facts, "a payment has arrived whose record had been given up");
  }
  return settled;
}

/** One look at the block must not hold the answer up for longer. */
const LOOK_MS = 3_000;

/** Where it stands and what it cost, for the record; nothing where the node does not say, and then the watcher finds out. */
async function blockOf({ transfers }: GatewayNetwork, transaction: string): Promise<PaymentChange> {
  const standing = await transfers.standingOf(transaction, AbortSignal.timeout(LOOK_MS));
  if (standing.state !== "mined" || !standing.succeeded) return {};
  const { blockHeight, fee, confirmations } = standing;
  return { blockHeight, fee, confirmations };
}

/**
 * Invariant: on a word alone a transaction settles one proof. Whoever names it for a second one has proven nothing for that one.
 * It is written down first and looked for then, so that of many that name one at a time no two can both have been first.
 */
async function claimTransaction(
  parts: Pick<GatewayParts, "database" | "logger">,
  payment: Payment,
  transaction: string,
  now: number,
): Promise<boolean> {
  const { payments } = parts.database;
  const named = (id: string | null) => (pursuit: SettlementPursuit) => ({
    signature: id,
    pursuit: withTransaction(pursuit, id),
    dueAt: now,
  });
  const claimed = await move(parts, payment, SETTLEABLE, "submitted", named(transaction));
  const others = await payments.bySignature(payment.account, transaction);
  if (!others.some((other) => other.id !== payment.id && other.type === "received")) return true;
  const facts = { paymentId: payment.id, transaction };
  parts.logger.error(facts, "a facilitator has named a transaction that settled another payment");
  await move(parts, claimed, OPEN, "submitted", named(payment.signature));
  return false;
}

/** A transaction has waited for its blocks; an authorization is settled with its first one. */
const needsBlocks = ({ network, confirmations }: GatewayNetwork, { requirement }: BoundProof): boolean =>
  network.family === "evm" && requirement.method === "eip3009" && confirmations > 1;

type From = (payment: Payment, pursuit: SettlementPursuit) => boolean;

/** Nothing is decided, and nobody has taken the settlement up in place of whoever began it. */
const OPEN: From = ({ status }, { resumedAt }) =>
  (status === "created" || status === "submitted") && resumedAt === undefined;

/** Money that came counts whoever writes it down. */
const SETTLEABLE: From = ({ status }) => status === "created" || status === "submitted" || status === "expired";

/** Changes a record that may be changed so; any other is left, and given as it is. */
async function move(
  { database: { payments } }: Pick<GatewayParts, "database">,
  payment: Payment,
  from: From,
  to: PaymentStatus,
  change: (pursuit: SettlementPursuit) => PaymentChange,
): Promise<Payment> {
  let current = payment;
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const { pursuit } = current;
    if (pursuit.kind !== "settlement" || !from(current, pursuit)) return current;
    const changed = await payments.change(current, to, change(pursuit));
    if (changed) return changed;
    current = (await payments.get(current.id)) ?? current;
  }
  throw new Error(`the record of payment ${payment.id} changes too often`);
}
