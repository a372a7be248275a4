// How a payment comes into the database: with everything that belongs to it, or not at all. One transaction makes the record, its
// first history row and event, reserves what its wallet spends, takes its account nonce, and has it signed.
import type { Payment } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import type { Inserted, NewPayment, Payments, Together } from "./database.js";
import { createId } from "./ids.js";
import { takeNonce } from "./nonces.js";
import type { AppendEvent } from "./outbox.js";
import { fromRow, toRow } from "./payment-row.js";
import { judgeSpending, lockWallet, reserveSpending } from "./spending.js";
import type { GatewayWork } from "./tables.js";

/** Another transaction made a record with the same proof or request at the same time: everything is undone and looked at anew. */
class Overtaken extends Error {}
const TRIES = 10;

/**
 * `Payments.insert`. `complete` may run several times, and what it made then is thrown away: it must do nothing but sign.
 *
 * @throws what `complete` throws; nothing is written then.
 */
export function createInsert(connection: GatewayConnection, append: AppendEvent): Payments["insert"] {
  return async (payment, together = {}) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await connection.write((db, now) => insert(connection, append, { db, now, payment, together }));
      } catch (error) {
        if (!(error instanceof Overtaken) || tries === TRIES) throw error;
      }
    }
  };
}

interface Insertion {
  readonly db: GatewayWork;
  readonly now: number;
  readonly payment: NewPayment;
  readonly together: Together;
}

async function insert(
  connection: GatewayConnection,
  append: AppendEvent,
  { db, now, payment, together: { spend, nonce, complete } }: Insertion,
): Promise<Inserted> {
  // Invariant: locked first, so that who waited for the wallet finds the record of who was before, and no limit of its own.
  const limits = spend && (await lockWallet(db, spend.wallet, payment.account, connection.locks));
  const standing = await findStanding(db, payment);
  if (standing) return standing;
  const over = spend && limits && (await judgeSpending(db, spend, limits, now));
  if (over) return over;
  const taken = nonce && (await takeNonce(connection, db, nonce));
  const made = complete && (await complete(taken));
  const record = newRecord({ ...payment, ...made }, now);
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("gateway_payments")
    .values(toRow(record))
    .onConflict((on) => on.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) throw new Overtaken("another payment holds the proof or the request");
  // From here on nobody else can be first: the record is ours until the transaction ends.
  if (spend) await reserveSpending(db, record.id, spend, now);
  await append(db, record, now);
  return { outcome: "ok", payment: record };
}

const newRecord = (payment: NewPayment, now: number): Payment => ({
  ...payment,
  id: createId("pay"),
  createdAt: now,
  updatedAt: now,
  version: 1,
  late: false,
  error: null,
  blockHeight: null,
  confirmations: null,
});

/** The record that this very request has made already, or else the one that holds its proof. */
async function findStanding(db: GatewayWork, { idempotency, proofId }: NewPayment): Promise<Inserted | undefined> {
  const request = idempotency === null ? undefined : await findHolder(db, "idempotency_held", idempotency);
  if (request) return { outcome: "repeated", payment: request };
  const proof = proofId === null ? undefined : await findHolder(db, "proof_held", proofId);
  return proof && { outcome: "proof_taken", payment: proof };
}

/** Who holds a proof or an idempotent request. */
export async function findHolder(
  db: Pick<GatewayWork, "selectFrom">,
  column: "proof_held" | "idempotency_held",
  value: string,
): Promise<Payment | undefined> {
  const row = await db.selectFrom("gateway_payments").selectAll().where(column, "=", value).executeTakeFirst();
  return row && fromRow(row);
}
