// Reads the outbox: what happened to an account's payments since a cursor.
import type { Whole } from "../../store/sql/dialect.js";
import type { Mode } from "../payment.js";
import { chunksOf } from "./chunks.js";
import type { GatewayConnection } from "./connection.js";
import type { EventKind, Events, GatewayEvent } from "./database.js";
import type { EventFacts } from "./outbox.js";

interface EventRow {
  readonly id: string;
  readonly cursor: Whole;
  readonly at: Whole;
  readonly kind: EventKind;
  readonly data: string;
}

function fromEventRow({ id, cursor, at, kind, data }: EventRow): GatewayEvent {
  const { amount, fee, ...facts } = JSON.parse(data) as EventFacts;
  const payment = { ...facts, amount: BigInt(amount), fee: fee === null ? null : BigInt(fee) };
  return { id, cursor: Number(cursor), at: Number(at), kind, payment };
}

/**
 * Reads the outbox. A reader that falls behind is told so and begins anew with `latest`; he is never given a part for the whole.
 */
export function createEvents(connection: GatewayConnection): Events {
  const latest = (account: string): Promise<number> =>
    connection.read(async (db) => {
      const row = await db.selectFrom("gateway_accounts").select("cursor").where("id", "=", account).executeTakeFirst();
      return Number(row?.cursor ?? 0);
    });
  return {
    latest,
    async latestOf(accounts) {
      const parts = await Promise.all(
        chunksOf(accounts).map((some) =>
          connection.read((db) =>
            db.selectFrom("gateway_accounts").select(["id", "cursor"]).where("id", "in", some).execute(),
          ),
        ),
      );
      return new Map(parts.flat().map(({ id, cursor }) => [id, Number(cursor)]));
    },
    async since(account, mode, cursor, limit) {
      // Read before the events: what comes in between is found by the next call.
      const last = await latest(account);
      if (cursor > last || cursor < 0 || !Number.isSafeInteger(cursor)) return { outcome: "expired" };
      const events = await eventsAfter(connection, { account, mode, cursor, last, limit });
      // And after them: what was pruned meanwhile is missed.
      if (cursor < last && (await firstKept(connection, account, last)) > cursor + 1) return { outcome: "expired" };
      const filled = events.length === limit ? events.at(-1)?.cursor : undefined;
      return { outcome: "ok", events, next: filled ?? last };
    },
  };
}

interface Span {
  readonly account: string;
  readonly mode: Mode;
  readonly cursor: number;
  readonly last: number;
  readonly limit: number;
}

async function eventsAfter(
  connection: GatewayConnection,
  { account, mode, cursor, last, limit }: Span,
): Promise<readonly GatewayEvent[]> {
  const rows = await connection.read((db) =>
    db
      .selectFrom("gateway_events")
      .select(["id", "cursor", "at", "kind", "data"])
      .where("account", "=", account)
      .where("mode", "=", mode)
      .where("cursor", ">", cursor)
      .where("cursor", "<=", last)
      .orderBy("cursor")
      .limit(limit)
      .execute(),
  );
  return rows.map(fromEventRow);
}

/** The oldest cursor that is still there; the one after `last` where none is. */
async function firstKept(connection: GatewayConnection, account: string, last: number): Promise<number> {
  const row = await connection.read((db) =>
    db
      .selectFrom("gateway_events")
      .select("cursor")
      .where("account", "=", account)
      .orderBy("cursor")
      .limit(1)
      .executeTakeFirst(),
  );
  return row === undefined ? last + 1 : Number(row.cursor);
}
