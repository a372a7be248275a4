// Payments: the questions that are asked of them. How they come in and change stands in insert.ts and change.ts.
import type { Whole } from "../../store/sql/dialect.js";
import { createChange } from "./change.js";
import type { GatewayConnection } from "./connection.js";
import type { Payments } from "./database.js";
import { createInsert, findHolder } from "./insert.js";
import { createAppendEvent, readHistory } from "./outbox.js";
import { createPage } from "./page.js";
import { fromRow } from "./payment-row.js";

/** No request waits longer for a settlement: what is older is left to the watcher. */
const LONGEST_RECEIVE_MS = 300_000;

/** Payments of one database. Records are never taken away: they are what an account has paid and got. */
export function createPayments(connection: GatewayConnection): Payments {
  const append = createAppendEvent(connection);
  const { read } = connection;
  return {
    insert: createInsert(connection, append),
    change: createChange(connection, append),
    page: createPage(connection),
    takeDue: createTakeDue(connection),
    async get(id) {
      const row = await read((db) =>
        db.selectFrom("gateway_payments").selectAll().where("id", "=", id).executeTakeFirst(),
      );
      return row && fromRow(row);
    },
    byProof: (proofId) => read((db) => findHolder(db, "proof_held", proofId)),
    byIdempotency: (id) => read((db) => findHolder(db, "idempotency_held", id)),
    async bySignature(account, signature) {
      const rows = await read((db) =>
        db
          .selectFrom("gateway_payments")
          .selectAll()
          .where("account", "=", account)
          .where("signature", "=", signature)
          .orderBy("type", "desc")
          .orderBy("created_at", "desc")
          .execute(),
      );
      return rows.map(fromRow);
    },
    historyOf: async (id) => (await read((db) => readHistory(db, [id]))).get(id) ?? [],
    async countRunning(account) {
      const row = await read((db) =>
        db
          .selectFrom("gateway_payments")
          .select((of) => of.fn.countAll<Whole>().as("count"))
          .where("account", "=", account)
          .where("type", "=", "received")
          .where("flow", "in", ["receive", "settle"])
          .where("status", "in", ["created", "submitted"])
          .where(({ eb }) => eb("created_at", ">", connection.sql<number>`${connection.now()} - ${LONGEST_RECEIVE_MS}`))
          .executeTakeFirstOrThrow(),
      );
      return Number(row.count);
    },
  };
}

/** A lease is no news of the payment: its version stays, and who works on it meanwhile is not disturbed. */
function createTakeDue(connection: GatewayConnection): Payments["takeDue"] {
  return async (limit, leaseMs) => {
    const rows = await connection.write(async (db, now) => {
      const due = db
        .selectFrom("gateway_payments")
        .select("id")
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .orderBy("id")
        .limit(limit)
        .$if(connection.locks, (query) => query.forUpdate().skipLocked());
      return (
        db
          .updateTable("gateway_payments")
          .set({ due_at: now + leaseMs })
          .where("id", "in", due)
          // Again here: what another watcher took while this one waited is no longer due.
          .where("due_at", "<=", now)
          .returningAll()
          .execute()
      );
    });
    return rows.map(fromRow).sort((a, b) => a.createdAt - b.createdAt);
  };
}
