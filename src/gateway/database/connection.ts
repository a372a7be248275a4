// The open database as everything beside uses it: reads, and transactions that begin with the database's time. A SQLite
// connection on which a statement has failed is replaced, because libsql would spoil what comes after it.
import { AsyncLocalStorage } from "node:async_hooks";
import type { RawBuilder } from "kysely";
import type { Clock } from "../../clock.js";
import { codeOf, type KyselyModule, type SqlConnection, type Whole } from "../../store/sql/dialect.js";
import type { GatewayDb, GatewayTables, GatewayWork } from "./tables.js";

export interface GatewayConnection {
  readonly kind: "sqlite" | "postgres";
  readonly sql: KyselyModule["sql"];
  /** Rows can be locked, and skipped where another has locked them: only where several write at once. */
  readonly locks: boolean;
  /** The time as an expression of a single statement, epoch milliseconds. */
  now(): RawBuilder<Whole>;
  read<Result>(work: (db: GatewayDb) => Promise<Result>): Promise<Result>;
  /** All or nothing, and again where the database breaks it off: `work` may run several times. `now`: when it began. */
  write<Result>(work: (db: GatewayWork, now: number) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface Times {
  /** SQLite: this machine's. */
  readonly clock?: Clock;
  /** Postgres: milliseconds that the time is ahead of the server's, as an expression; tests move it. */
  readonly ahead?: string;
  /** For one transaction, from its beginning. */
  readonly timeoutMs: number;
}

type Opened = SqlConnection<GatewayTables>;

/** Is what runs now part of a transaction? */
const inside = new AsyncLocalStorage<true>();

/** Wraps what `open` gives; `open` is called again where a SQLite connection has to be replaced, until it succeeds. */
export async function createConnection(open: () => Promise<Opened>): Promise<GatewayConnection> {
  const first = await open();
  const { name: kind, skipLocked: locks, now } = first;
  const { sql } = first.kysely;
  let opening: Promise<Opened> | undefined = Promise.resolve(first);
  let closed = false;

  const current = (): Promise<Opened> => {
    if (closed) return Promise.reject(new Error("the gateway's database is closed"));
    // It would wait for a connection that its own transaction has: with SQLite for ever.
    if (inside.getStore())
      return Promise.reject(new Error("the database was asked in the middle of its own transaction"));
    if (opening) return opening;
    const again = open();
    opening = again;
    // Whoever waits for it is told; here it is only made ready to be tried again.
    again.catch(() => {
      if (opening === again) opening = undefined;
    });
    return again;
  };
  const use = async <Result>(work: (to: Opened) => Promise<Result>): Promise<Result> => {
    const mine = current();
    const to = await mine;
    try {
      return await work(to);
    } catch (error) {
      // The first to notice closes it; those who still work on it fail, and their writes with them.
      if (kind === "sqlite" && isSpoiled(error) && opening === mine) {
        opening = undefined;
        await to.close();
      }
      throw error;
    }
  };

  return {
    kind,
    sql,
    locks,
    now,
    read: (work) => use((to) => work(to.db)),
    write: (work) =>
      use((to) =>
        to.transaction(async (db) => {
          await to.enter(db, []);
          const now = await readTime(sql, to, db);
          return inside.run(true, () => work(db, now));
        }),
      ),
    async close() {
      const last = opening;
      closed = true;
      opening = undefined;
      // One that could not be opened has told whoever waited for it.
      await (await last?.catch(() => undefined))?.close();
    },
  };
}

const isSpoiled = (error: unknown): boolean => {
  const code = codeOf(error);
  return code.startsWith("SQLITE_") && !code.startsWith("SQLITE_BUSY");
};

async function readTime(sql: KyselyModule["sql"], to: Opened, db: GatewayDb): Promise<number> {
  const { rows } = await sql<{ now: Whole }>`select ${to.now()} as now`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the database does not tell the time");
  return Number(row.now);
}
