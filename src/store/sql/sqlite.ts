// SQLite through libsql: one file, one writer at a time, every commit on the disk before it is answered. The time is this
// machine's, which all processes that open the file share.
import type { SqliteDatabase, SqliteDriver } from "kysely";
import type Libsql from "libsql";
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../../clock.js";
import { loadPeer, type Owner } from "../load-peer.js";
import {
  codeOf,
  type KyselyModule,
  type Migration,
  type SqlConnection,
  type SqlDialect,
  type Tables,
} from "./dialect.js";

export interface SqliteOptions {
  readonly file: string;
  /** `normal` may forget the last commits when the power fails; default `full`. */
  readonly synchronous?: "full" | "normal";
  /** Bytes of the file beyond which new payments are refused; default: what the disk holds. */
  readonly maxBytes?: number;
  /** How long a write waits for another process's. */
  readonly busyMs: number;
  readonly clock?: Clock;
  /** Whose file it is; default: the store's. */
  readonly owner?: Owner;
}

/** What a blocked write may hold up the process; the rest of the waiting is asynchronous. */
const BLOCK_MS = 5;
const PAUSE_MS = 10;
const OPEN_MS = 1000;
/** Statements that are kept, because preparing one costs as much as running it. */
const MAX_STATEMENTS = 200;

/** Opens a file, made where there is none, as one connection of this process. `Schema`: the tables that it holds. */
export async function openSqliteConnection<Schema>(options: SqliteOptions): Promise<SqlConnection<Schema>> {
  const peers = ["kysely", "libsql"] as const;
  const kysely = await loadPeer<KyselyModule>("kysely", peers, options.owner);
  const { default: Database } = await loadPeer<{ default: typeof Libsql }>("libsql", peers, options.owner);
  const clock = options.clock ?? systemClock;
  const raw = openFile(Database, options);
  const inode = inodeOf(options.file);
  const db = new kysely.Kysely<Schema>({ dialect: immediate(kysely, withCheckedParameters(raw)) });
  return {
    name: "sqlite",
    kysely,
    db,
    now: () => kysely.sql<number>`cast(${clock.now()} as integer)`,
    async transaction(work) {
      // A process that goes on with a file that is no longer there would remember for itself alone.
      if (inodeOf(options.file) !== inode) throw new Error("the file of the store has been replaced");
      for (const until = performance.now() + options.busyMs; ; ) {
        try {
          return await db.transaction().execute(work);
        } catch (error) {
          if (!isBusy(error) || performance.now() >= until) throw error;
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * (1 + Math.random())));
        }
      }
    },
    // Whoever is in a transaction has the only right to write already.
    async enter() {},
    async lockSchema() {},
    skipLocked: false,
    isFull: (error) => codeOf(error) === "SQLITE_FULL",
    // A statement that failed stays open in libsql and would spoil later commits of the same connection.
    isGone: (error) => !isBusy(error),
    close: () => db.destroy(),
  };
}

export async function openSqlite(options: SqliteOptions): Promise<SqlDialect> {
  const connection = await openSqliteConnection<Tables>(options);
  const { sql } = connection.kysely;
  const clock = options.clock ?? systemClock;
  return {
    ...connection,
    era: () => sql<string>`''`,
    async begin(work, writes) {
      // The transaction holds the only right to write, so the time is read after every commit before it.
      const { since, version } = await work
        .updateTable("tollgate_meta")
        .set((of) => ({ version: of("version", "+", writes) }))
        .returning(["since", "version"])
        .executeTakeFirstOrThrow();
      let given = Number(version) - writes;
      return {
        now: clock.now(),
        since: Number(since),
        sameEra: true,
        version() {
          given += 1;
          return given;
        },
      };
    },
    migrations: MIGRATIONS,
    async hasRoom(work) {
      if (options.maxBytes === undefined) return true;
      const [{ bytes } = { bytes: 0 }] = (
        await sql<{ bytes: number }>`
          select (page_count - freelist_count) * page_size as bytes
          from pragma_page_count, pragma_freelist_count, pragma_page_size
        `.execute(work)
      ).rows;
      return bytes < options.maxBytes;
    },
  };
}

const isBusy = (error: unknown): boolean => codeOf(error).startsWith("SQLITE_BUSY");

/** Asked of the runtime, so that bundles for others than Node stay whole; undefined where there is no such file. */
function inodeOf(file: string): number | undefined {
  const fs = globalThis.process?.getBuiltinModule?.("node:fs");
  return fs?.statSync(file, { throwIfNoEntry: false })?.ino;
}

function openFile(Database: typeof Libsql, { file, synchronous = "full" }: SqliteOptions): Libsql.Database {
  const database = connect(Database, file);
  database.exec("pragma journal_mode = wal");
  database.exec(`pragma synchronous = ${synchronous}`);
  database.exec(`pragma busy_timeout = ${BLOCK_MS}`);
  return database;
}

function connect(Database: typeof Libsql, file: string): Libsql.Database {
  try {
    // Others may be opening the same new file.
    return new Database(file, { timeout: OPEN_MS });
  } catch (error) {
    if (isBusy(error) || !(error instanceof Error)) throw error;
    const remedy = "its folder has to exist, and this process has to be allowed to write there";
    throw new Error(`${error.message} (${remedy})`, { cause: error });
  }
}

/** Kysely begins transactions that take the right to write only later, when it may be too late to wait for it. */
function immediate({ SqliteDialect, CompiledQuery }: KyselyModule, database: SqliteDatabase) {
  const dialect = new SqliteDialect({ database });
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db: Parameters<typeof dialect.createIntrospector>[0]) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver() {
      const driver = dialect.createDriver() as SqliteDriver;
      driver.beginTransaction = async (connection) => {
        await connection.executeQuery(CompiledQuery.raw("begin immediate"));
      };
      return driver;
    },
  };
}

/** Safe because only what libsql binds exactly gets through: it ends the process for any other kind of value. */
function withCheckedParameters(database: Libsql.Database): SqliteDatabase {
  const statements = new LRUCache<string, Libsql.Statement>({ max: MAX_STATEMENTS });
  let closed = false;
  return {
    close() {
      closed = true;
      statements.clear();
      database.close();
    },
    prepare(text) {
      // Whoever is in the middle of a transaction when it is closed is told: libsql would end the process for this, too.
      if (closed) throw new Error("the database has been closed");
      // A `begin` that failed as a statement would stay in progress.
      if (/^(begin|commit|rollback)/i.test(text)) {
        const run = () => {
          // Some failures have rolled back already.
          if (!/^rollback/i.test(text) || database.inTransaction) database.exec(text);
          return { changes: 0, lastInsertRowid: 0 };
        };
        return { reader: false, run, all: () => [], iterate: () => [].values() };
      }
      const statement = statements.get(text) ?? database.prepare(text);
      // Away while it runs: one that failed is never used again.
      statements.delete(text);
      const keep = <Result>(result: Result): Result => {
        statements.set(text, statement);
        return result;
      };
      return {
        reader: statement.reader,
        all: (parameters) => keep(statement.all(checkParameters(parameters))),
        run: (parameters) => keep(statement.run(checkParameters(parameters))),
        iterate: (parameters) => statement.iterate(checkParameters(parameters)),
      };
    },
  };
}

/** @throws TypeError for a parameter that is not text, a whole number of at most 53 bits, bytes or null. */
export function checkParameters(parameters: readonly unknown[]): readonly unknown[] {
  for (const value of parameters) {
    const fits = value === null || typeof value === "string" || Number.isSafeInteger(value) || isBytes(value);
    if (!fits) throw new TypeError(`a parameter of the database is a ${typeof value} that it cannot hold exactly`);
  }
  return parameters;
}

const isBytes = (value: unknown): boolean => value instanceof Uint8Array;

const MIGRATIONS: readonly Migration[] = [
  (sql, now) => [
    sql`create table tollgate_meta (
      id integer primary key check (id = 1), since integer not null, version integer not null,
      era text not null
    ) strict`,
    // Versions begin where no earlier memory can have come to.
    sql`insert into tollgate_meta (id, since, version, era) values (1, ${now}, ${now} * 1000, '')`,
    sql`create table tollgate_entries (
      key text primary key, version integer not null, value text not null, expires_at integer not null, due_at integer
    ) strict`,
    sql`create index tollgate_entries_expiry on tollgate_entries (expires_at)`,
    sql`create index tollgate_entries_due on tollgate_entries (due_at) where due_at is not null`,
    sql`create table tollgate_members (
      ledger text not null, member text not null, amount text not null, expires_at integer not null,
      primary key (ledger, member)
    ) strict, without rowid`,
    sql`create index tollgate_members_expiry on tollgate_members (expires_at)`,
  ],
  (sql) => [
    sql`alter table tollgate_entries add column place integer`,
    sql`create index tollgate_entries_place on tollgate_entries (place) where place is not null`,
  ],
];
