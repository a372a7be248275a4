// Grants a verified proof: once, globally, by a record that stands before the first byte of its settlement leaves. Then settles
// it and gives the record as it then is. Losing callers get the record that was first, and never a second settlement.
import { randomUUID } from "node:crypto";
import type { BoundProof } from "../../proof.js";
import type { Receiver, Settlement } from "../../receive/receiver.js";
import type { Caller } from "../caller.js";
import type { NewPayment } from "../database/database.js";
import type { Fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Flow, Payment, SettlementPursuit } from "../payment.js";
import { reasonOf } from "../reason.js";
import { createPursuit, isSettlement } from "./pursuit.js";
import type { Wanted } from "./requirement.js";
import { type Settled, settlePayment } from "./settlement.js";
import { type Reserved, reserveShare, type Share } from "./sponsor.js";

export interface Grant {
  readonly caller: Caller;
  /** The name under which the record of an idempotent request is found again. */
  readonly idempotency: string | null;
  readonly flow: Extract<Flow, "receive" | "settle">;
  readonly wanted: Wanted;
  readonly proof: BoundProof;
  readonly resource: string | undefined;
  /** Who settles: the network's own receiver, or a foreign facilitator. */
  readonly receiver: Pick<Receiver, "settle">;
  readonly facilitatorUrl?: string;
  readonly since: number;
  /** Epoch milliseconds, of this process: the settlement gives up waiting. */
  readonly deadlineAt: number;
}

export type Granted =
  /** `settled`: resolves when it is settled or given up; it goes on whether or not anybody waits. */
  | { readonly outcome: "begun"; readonly payment: Payment; readonly settled: Promise<Settled> }
  /** Another record holds the proof. */
  | { readonly outcome: "held"; readonly payment: Payment }
  /** This idempotent request has made its record already. */
  | { readonly outcome: "repeated"; readonly payment: Payment }
  | { readonly outcome: "refused"; readonly fault: Fault };

/** Past its deadline a settlement still writes down what came of it; only then may the watcher take it up. */
const LEASE_GRACE_MS = 5_000;

/** Begins one grant. Rejects only where the database does. */
export async function beginGrant(parts: GatewayParts, grant: Grant): Promise<Granted> {
  const { proof, wanted, receiver, since, deadlineAt, facilitatorUrl } = grant;
  const pursuit = createPursuit(proof, randomUUID(), facilitatorUrl);
  const leaseMs = Math.max(0, deadlineAt - parts.now()) + LEASE_GRACE_MS;
  const dueAt = (await parts.database.now()) + leaseMs;
  const inserted = await parts.database.payments.insert(toNewPayment(grant, pursuit, dueAt));
  if (inserted.outcome === "proof_taken") return { outcome: "held", payment: inserted.payment };
  if (inserted.outcome === "repeated") return { outcome: "repeated", payment: inserted.payment };
  if (inserted.outcome !== "ok") throw new Error("a received payment has no limit to be over");
  const { payment } = inserted;
  if (!isSettlement(payment)) throw new Error("the record of a settlement came back as another one");
  // Reserved by who holds the proof alone: copies that race for it use up nobody's budget.
  const reserved = await reserve(parts, grant, payment);
  if (!reserved.ok) return { outcome: "refused", fault: reserved };
  const { share } = reserved;
  const { network } = wanted;
  const settled = settlePayment(parts, { network, receiver, proof, payment, since, deadlineAt }).then(
    async (result) => {
      await accountFor(share, result);
      return result;
    },
  );
  // Who asked may be gone by then: the record keeps its state, and the watcher takes it up.
  settled.catch((error: unknown) => {
    parts.logger.error(
      { paymentId: payment.id, reason: reasonOf(error) },
      "the outcome of a settlement was not recorded",
    );
  });
  return { outcome: "begun", payment, settled };
}

/** A share of the day's budget; where none is left, the record has failed and lets go of its proof. */
async function reserve(
  parts: GatewayParts,
  { caller, proof, facilitatorUrl }: Grant,
  payment: Payment,
): Promise<Reserved> {
  if (facilitatorUrl !== undefined) return { ok: true, share: undefined };
  const reserved = await reserveShare(parts, caller.key.account, proof);
  if (reserved.ok) return reserved;
  const { code, message } = reserved;
  const failed = await parts.database.payments.change(payment, "failed", { error: { code, message }, dueAt: null });
  if (!failed) throw new Error(`the record of payment ${payment.id} was changed by somebody else`);
  return reserved;
}

/** A share of which nothing was sent is free again; what was mined in vain its record has counted. */
async function accountFor(share: Share | undefined, { settlement, sent, payment }: Settled): Promise<void> {
  if (share && !sent && isOver(settlement, payment)) await share.giveBack();
}

/** Nothing of ours can leave any more: neither from here, nor from who has taken the record up meanwhile. */
const isOver = ({ outcome }: Settlement, { pursuit }: Payment): boolean =>
  outcome !== "unknown" && !(pursuit.kind === "settlement" && pursuit.resumedAt !== undefined);

function toNewPayment(
  { caller, idempotency, flow, wanted, proof, resource }: Grant,
  pursuit: SettlementPursuit,
  dueAt: number,
): NewPayment {
  const { account, mode } = caller.key;
  const { requirement, validBefore, kind } = proof;
  return {
    account,
    mode,
    type: "received",
    flow,
    status: "created",
    network: requirement.network,
    asset: requirement.asset,
    amount: wanted.amount,
    sender: proof.payer,
    recipient: requirement.payTo,
    signature: null,
    fee: null,
    resource: resource ?? null,
    metadata: null,
    // How long a transaction lives stands on its chain alone.
    expiresAt: kind === "authorization" ? validBefore * 1000 : null,
    proofId: proof.id,
    wallet: null,
    idempotency,
    sealed: null,
    pursuit,
    dueAt,
  };
}

/** Until when, in epoch milliseconds: the answer, or `undefined` once the time is over. What was begun goes on. */
export async function within<Value>(
  work: Promise<Value>,
  until: number,
  now: () => number,
): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, until - now()));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
