// The history of a wallet: an account's records that touch an address, newest first. Two indexes are walked, by sender and by
// recipient, and no further than the page needs. `sent` and `received` are what the records are, so that `all` is both together.
import type { Whole } from "../../store/sql/dialect.js";
import type { Mode } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import type { HistoryPage, Payments } from "./database.js";
import { readHistory } from "./outbox.js";
import { fromRow } from "./payment-row.js";
import type { GatewayDb } from "./tables.js";

export interface Place {
  readonly createdAt: number;
  readonly id: string;
}

/** A place in the history that stays the same while payments are added: after the record it names. */
export const formatPlace = ({ createdAt, id }: Place): string => `${createdAt}-${id}`;

/** Undefined where the text is none of ours. */
export function parsePlace(text: string): Place | undefined {
  const [, createdAt, id] = /^([0-9]{1,15})-(pay_[1-9A-HJ-NP-Za-km-z]{22})$/.exec(text) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt: Number(createdAt), id };
}

/** `Payments.page`. A `before` that is no place has nothing before it. */
export function createPage(connection: GatewayConnection): Payments["page"] {
  return async (account, mode, address, page) => {
    const place = page.before === undefined ? undefined : parsePlace(page.before);
    const about = { account, mode, address, type: page.type };
    return connection.read(async (db) => {
      const total = await countTouching(db, about);
      const isBehind = page.before !== undefined ? place === undefined : page.offset >= total;
      if (isBehind) return { payments: [], total, before: undefined };
      const payments = (await rowsOf(db, about, page, place)).map(fromRow);
      const history = await readHistory(
        db,
        payments.map(({ id }) => id),
      );
      const last = payments.length === page.limit ? payments.at(-1) : undefined;
      return {
        payments: payments.map((payment) => ({ ...payment, history: history.get(payment.id) ?? [] })),
        total,
        before: last && formatPlace(last),
      };
    });
  };
}

interface About {
  readonly account: string;
  readonly mode: Mode;
  readonly address: string;
  readonly type: HistoryPage["type"];
}

/** Half of the records: those that the address sent, or those that it got from another one. */
function touching(db: GatewayDb, half: "sender" | "recipient", { account, mode, address, type }: About) {
  return db
    .selectFrom("gateway_payments")
    .where("account", "=", account)
    .where("mode", "=", mode)
    .where(half, "=", address)
    .$if(half === "recipient", (query) =>
      query.where((is) => is.or([is("sender", "is", null), is("sender", "!=", address)])),
    )
    .$if(type !== "all", (query) => query.where("type", "=", type === "sent" ? "sent" : "received"));
}

async function countTouching(db: GatewayDb, about: About): Promise<number> {
  const count = async (half: "sender" | "recipient") => {
    const query = touching(db, half, about).select((of) => of.fn.countAll<Whole>().as("count"));
    return Number((await query.executeTakeFirstOrThrow()).count);
  };
  return (await count("sender")) + (await count("recipient"));
}

/** Chosen in the indexes alone: however far the offset goes, no more records are read than the page has. */
async function rowsOf(db: GatewayDb, about: About, { limit, offset }: HistoryPage, place: Place | undefined) {
  const half = (which: "sender" | "recipient") =>
    touching(db, which, about)
      .select(["id", "created_at"])
      .$if(place !== undefined, (query) =>
        query.where((is) => is(is.refTuple("created_at", "id"), "<", is.tuple(place?.createdAt ?? 0, place?.id ?? ""))),
      )
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(offset + limit);
  const page = db
    .selectFrom(half("sender").as("sent"))
    .selectAll()
    .unionAll(db.selectFrom(half("recipient").as("received")).selectAll())
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset);
  return db
    .selectFrom("gateway_payments")
    .selectAll()
    .where("id", "in", db.selectFrom(page.as("page")).select("id"))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}
