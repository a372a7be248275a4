// What the dashboard reads of an account's payments: lists that are searched, newest first, and what was earned. Every question
// names the account, and sums are made of bigint.
import type { Whole } from "../../store/sql/dialect.js";
import type { Mode, Payment, PaymentStatus, StatusChange } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import { readHistory } from "./outbox.js";
import { formatPlace, parsePlace } from "./page.js";
import { fromRow } from "./payment-row.js";
import type { GatewayDb } from "./tables.js";

export const DAY_MS = 86_400_000;
/** Of one answer: prices repeat, so that a group stands for many payments. */
const MAX_GROUPS = 20_000;

export interface Search {
  /** An id, an address or a transaction, whole; or a part of the resource. */
  readonly text?: string;
  readonly status?: PaymentStatus;
  readonly type?: Payment["type"];
  /** Epoch milliseconds; `until` is not part of it. */
  readonly since?: number;
  readonly until?: number;
}

/** What was received and is on the chain, of one day, resource and asset. */
export interface Earned {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly mode: Mode;
  readonly resource: string | null;
  readonly network: string;
  readonly asset: string;
  /** Atomic units. */
  readonly amount: bigint;
  readonly payments: number;
}

export type PaymentSeen = Payment & { readonly history: readonly StatusChange[] };

export interface Browsing {
  /** `before`: a place that an earlier page gave; one that is no place has nothing before it. */
  list(
    account: string,
    search: Search,
    page: { readonly limit: number; readonly before?: string },
  ): Promise<{ readonly payments: readonly Payment[]; readonly before: string | undefined }>;
  /** Undefined also where it is another account's. */
  payment(account: string, id: string): Promise<PaymentSeen | undefined>;
  /** `complete` is false where there was more than one answer can hold. */
  earned(account: string, since: number): Promise<{ readonly earned: readonly Earned[]; readonly complete: boolean }>;
}

export function createBrowsing({ read, sql }: GatewayConnection): Browsing {
  return {
    async list(account, search, { limit, before }) {
      const place = before === undefined ? undefined : parsePlace(before);
      if (before !== undefined && !place) return { payments: [], before: undefined };
      const rows = await read((db) =>
        matching(db, account, search)
          .$if(place !== undefined, (query) =>
            query.where((is) =>
              is(is.refTuple("created_at", "id"), "<", is.tuple(place?.createdAt ?? 0, place?.id ?? "")),
            ),
          )
          .selectAll()
          .orderBy("created_at", "desc")
          .orderBy("id", "desc")
          // One more tells whether there is a next page.
          .limit(limit + 1)
          .execute(),
      );
      const payments = rows.slice(0, limit).map(fromRow);
      const last = rows.length > limit ? payments.at(-1) : undefined;
      return { payments, before: last && formatPlace(last) };
    },
    payment: (account, id) =>
      read(async (db) => {
        const row = await db
          .selectFrom("gateway_payments")
          .selectAll()
          .where("id", "=", id)
          .where("account", "=", account)
          .executeTakeFirst();
        if (!row) return undefined;
        const history = await readHistory(db, [id]);
        return { ...fromRow(row), history: history.get(id) ?? [] };
      }),
    async earned(account, since) {
      const rows = await read((db) =>
        db
          .selectFrom("gateway_payments")
          .select(["mode", "resource", "network", "asset", "amount"])
          .select((of) => [sql<Whole>`created_at / ${sql.lit(DAY_MS)}`.as("day"), of.fn.countAll<Whole>().as("count")])
          .where("account", "=", account)
          .where("type", "=", "received")
          .where("status", "in", ["confirmed", "finalized"])
          .where("created_at", ">=", since)
          .groupBy(["day", "mode", "resource", "network", "asset", "amount"])
          .limit(MAX_GROUPS + 1)
          .execute(),
      );
      const earned = rows.slice(0, MAX_GROUPS).map(
        ({ day, count, amount, mode, resource, network, asset }): Earned => ({
          ...{ mode, resource, network, asset },
          day: Number(day),
          amount: BigInt(amount) * BigInt(count),
          payments: Number(count),
        }),
      );
      return { earned, complete: rows.length <= MAX_GROUPS };
    },
  };
}

function matching(db: GatewayDb, account: string, { text, status, type, since, until }: Search) {
  return db
    .selectFrom("gateway_payments")
    .where("account", "=", account)
    .$if(status !== undefined, (query) => query.where("status", "=", status ?? "created"))
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? "sent"))
    .$if(since !== undefined, (query) => query.where("created_at", ">=", since ?? 0))
    .$if(until !== undefined, (query) => query.where("created_at", "<", until ?? 0))
    .$if(text !== undefined && text !== "", (query) =>
      query.where((is) =>
        is.or([
          is("id", "=", text ?? ""),
          is("sender", "=", text ?? ""),
          is("recipient", "=", text ?? ""),
          is("signature", "=", text ?? ""),
          // A part of it, in both databases and without signs that mean something else.
          is(is.fn<string>("replace", ["resource", is.val(text ?? ""), is.val("")]), "!=", is.ref("resource")),
        ]),
      ),
    );
}
