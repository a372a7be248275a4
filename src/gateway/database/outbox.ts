// The outbox: what happened to an account's payments, in the order of the commits. An event is written in the transaction of
// what it tells, so that there is none without the other, and cursors have no gap.
//
// Kinds: a payment that is sent tells `payment`, from first to last. Of a received one the record itself is the word that its
// proof was verified (`verification`); everything later is about the money (`settlement`).
import type { Payment, StatusChange } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import type { EventKind, EventPayment } from "./database.js";
import { createId } from "./ids.js";
import type { GatewayWork } from "./tables.js";

const DAY_MS = 24 * 3_600_000;
const KEPT_MS = 7 * DAY_MS;
const PRUNE_ROWS = 500;
const PRUNE_EVERY_MS = 60_000;

export type AppendEvent = (db: GatewayWork, payment: Payment, now: number) => Promise<void>;

/** Writes the history row and the event of a record's new status. Last in a transaction: it holds up the account's others. */
export function createAppendEvent({ locks, now }: Pick<GatewayConnection, "locks" | "now">): AppendEvent {
  let pruneAt = 0;
  return async (db, payment, time) => {
    const history = await appendStatus(db, payment, time);
    // Invariant: always the last lock of a transaction, so that two that wait for each other cannot be.
    const { cursor } = await db
      .updateTable("gateway_accounts")
      .set((of) => ({ cursor: of("cursor", "+", 1) }))
      .where("id", "=", payment.account)
      .returning("cursor")
      .executeTakeFirstOrThrow(() => new Error(`there is no account ${payment.account}`));
    await db
      .insertInto("gateway_events")
      .values({
        account: payment.account,
        cursor: Number(cursor),
        id: createId("evt"),
        // Read after the account was ours, so that times follow cursors.
        at: now(),
        mode: payment.mode,
        kind: kindOf(payment, history.length === 1),
        data: JSON.stringify(toFacts(payment, history)),
      })
      .execute();
    if (time < pruneAt) return;
    pruneAt = time + PRUNE_EVERY_MS;
    if (await prune(db, time - KEPT_MS, locks)) pruneAt = 0;
  };
}

const kindOf = ({ type }: Payment, first: boolean): EventKind =>
  type === "sent" ? "payment" : first ? "verification" : "settlement";

/** One more row of the record's history; all of them, oldest first. */
async function appendStatus(db: GatewayWork, { id, status }: Payment, time: number): Promise<readonly StatusChange[]> {
  const before = await readHistory(db, [id]);
  const rows = before.get(id) ?? [];
  const step = rows.length + 1;
  await db.insertInto("gateway_history").values({ payment: id, step, status, at: time }).execute();
  return [...rows, { status, at: time }];
}

/** The history of each of these records, oldest first. */
export async function readHistory(
  db: Pick<GatewayWork, "selectFrom">,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly StatusChange[]>> {
  const found = new Map<string, StatusChange[]>();
  if (ids.length === 0) return found;
  const rows = await db
    .selectFrom("gateway_history")
    .select(["payment", "status", "at"])
    .where("payment", "in", ids)
    .orderBy("payment")
    .orderBy("step")
    .execute();
  for (const { payment, status, at } of rows) {
    const list = found.get(payment) ?? [];
    list.push({ status, at: Number(at) });
    found.set(payment, list);
  }
  return found;
}

/** True where there is more to take away. */
async function prune(db: GatewayWork, before: number, locks: boolean): Promise<boolean> {
  const old = db
    .selectFrom("gateway_events")
    .select(["account", "cursor"])
    .where("at", "<=", before)
    .orderBy("at")
    .limit(PRUNE_ROWS)
    .$if(locks, (query) => query.forUpdate().skipLocked());
  const { numDeletedRows } = await db
    .deleteFrom("gateway_events")
    .where(({ refTuple }) => refTuple("account", "cursor"), "in", old.$asTuple("account", "cursor"))
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(PRUNE_ROWS);
}

/** What an event keeps, as JSON: amounts are decimal text. */
export type EventFacts = Omit<EventPayment, "amount" | "fee"> & {
  readonly amount: string;
  readonly fee: string | null;
};

/** Named one by one: what is not named here (signed bytes, secrets, proofs) never comes into an event. */
function toFacts(payment: Payment, history: readonly StatusChange[]): EventFacts {
  const { id, account, mode, type, flow, status, network, asset, sender, recipient, signature } = payment;
  const { blockHeight, confirmations, resource, metadata, createdAt, updatedAt, expiresAt, error, late } = payment;
  return {
    ...{ id, account, mode, type, flow, status, network, asset, sender, recipient, signature },
    ...{ blockHeight, confirmations, resource, metadata, createdAt, updatedAt, expiresAt, error, late },
    amount: payment.amount.toString(),
    fee: payment.fee === null ? null : payment.fee.toString(),
    history,
  };
}
