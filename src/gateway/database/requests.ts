// Idempotent requests: who runs one, and what came of it. Remembered for 24 hours from its beginning; after that the same key is
// another request, and the payment of the old one lets go of it.
import type { GatewayConnection } from "./connection.js";
import type { Begun, Requests } from "./database.js";
import type { GatewayWork, RequestRow } from "./tables.js";

const KEPT_MS = 24 * 3_600_000;
const PRUNE_ROWS = 500;
const PRUNE_EVERY_MS = 60_000;

/** Idempotent requests of one database, judged by its clock: several processes agree on who runs one. */
export function createRequests(connection: GatewayConnection): Requests {
  const { write } = connection;
  let pruneAt = 0;
  return {
    begin: (id, contentHash, leaseMs) =>
      write(async (db, now) => {
        const begun = await begin(db, connection.locks, { id, contentHash, now, leaseUntil: now + leaseMs });
        if (now >= pruneAt) {
          pruneAt = now + PRUNE_EVERY_MS;
          if (await prune(db, connection.locks, now)) pruneAt = 0;
        }
        return begun;
      }),
    renew: (id, leaseMs) =>
      write(async (db, now) => {
        await running(db, id)
          .set({ lease_until: now + leaseMs })
          .execute();
      }),
    // The first answer stands: a run that was thought dead has evaluated the same request.
    finish: (id, { status, sealed }) =>
      write(async (db) => {
        await running(db, id).set({ status, sealed }).execute();
      }),
    // What it asked for stays known, so that the key cannot be used for another content.
    release: (id) =>
      write(async (db) => {
        await running(db, id).set({ lease_until: 0 }).execute();
      }),
  };
}

const running = (db: GatewayWork, id: string) =>
  db.updateTable("gateway_requests").where("id", "=", id).where("status", "is", null);

interface Beginning {
  readonly id: string;
  readonly contentHash: string;
  readonly now: number;
  readonly leaseUntil: number;
}

async function begin(db: GatewayWork, locks: boolean, beginning: Beginning): Promise<Begun> {
  const { id, contentHash: content_hash, now, leaseUntil: lease_until } = beginning;
  const fresh = { content_hash, begun_at: now, lease_until, status: null, sealed: null };
  const standing = await insertOrLock(db, locks, { id, ...fresh });
  if (standing === "inserted") {
    await forgetPayment(db, id);
    return { outcome: "new" };
  }
  const live = standing.status === null && Number(standing.lease_until) > now;
  if (!live && Number(standing.begun_at) <= now - KEPT_MS) {
    await db.updateTable("gateway_requests").set(fresh).where("id", "=", id).execute();
    await forgetPayment(db, id);
    return { outcome: "new" };
  }
  if (standing.content_hash !== content_hash) return { outcome: "other_content" };
  const { status, sealed } = standing;
  if (status !== null && sealed !== null) return { outcome: "done", status: Number(status), sealed };
  if (live) return { outcome: "running" };
  await db.updateTable("gateway_requests").set({ lease_until }).where("id", "=", id).execute();
  return { outcome: "new" };
}

/** The row that stands, locked; or there is none, and ours is in. */
async function insertOrLock(db: GatewayWork, locks: boolean, row: RequestRow): Promise<RequestRow | "inserted"> {
  for (;;) {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto("gateway_requests")
      .values(row)
      .onConflict((on) => on.doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 1n) return "inserted";
    const standing = await db
      .selectFrom("gateway_requests")
      .selectAll()
      .where("id", "=", row.id)
      .$if(locks, (query) => query.forUpdate())
      .executeTakeFirst();
    // None where another transaction has just pruned it.
    if (standing) return standing;
  }
}

/** The payment of a request that is remembered no longer. It keeps the name, but answers to it no more. */
async function forgetPayment(db: GatewayWork, id: string): Promise<void> {
  await db.updateTable("gateway_payments").set({ idempotency_held: null }).where("idempotency_held", "=", id).execute();
}

/** True where there is more to take away. */
async function prune(db: GatewayWork, locks: boolean, now: number): Promise<boolean> {
  const old = db
    .selectFrom("gateway_requests")
    .select("id")
    .where("begun_at", "<=", now - KEPT_MS)
    .where("lease_until", "<=", now)
    .limit(PRUNE_ROWS)
    .$if(locks, (query) => query.forUpdate().skipLocked());
  const { numDeletedRows } = await db.deleteFrom("gateway_requests").where("id", "in", old).executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(PRUNE_ROWS);
}
