// Postgres through pg. Rows are locked by the writes themselves at read committed, ledgers by advisory locks; what the server
// breaks off for the sake of others (deadlock, serialization, a lock that is not given in time) is tried again. The time is the
// server's.
import type { PostgresPool, RawBuilder } from "kysely";
import type Pg from "pg";
import { loadPeer, type Owner } from "../load-peer.js";
import {
  codeOf,
  type Database,
  type KyselyModule,
  type Migration,
  type SqlConnection,
  type SqlDialect,
  type Tables,
  type Whole,
} from "./dialect.js";
import type { PgClient, PgPool } from "./pool.js";

export interface PostgresOptions {
  readonly url?: string;
  /** A pool of the seller's own, which stays open. */
  readonly pool?: PgPool;
  readonly timeoutMs: number;
  /** Milliseconds that the store's time is ahead of the server's, as an expression: tests move it. */
  readonly ahead?: string;
  /** Whose database it is; default: the store's. */
  readonly owner?: Owner;
}

/** Deadlock, serialization failure, a lock that was not given in time: the server has undone everything. */
const AGAIN = new Set(["40001", "40P01", "55P03"]);
const TRIES = 8;
const FULL = new Set(["53100", "53400"]);
/** No such table or schema. */
const GONE = new Set(["42P01", "3F000"]);
/** No such function, not supported, not allowed. */
const UNTOLD = new Set(["42883", "0A000", "42501"]);
/** Ours among the advisory locks of a database: "toll" in ASCII. */
const SPACE = 0x746f6c6c;
const SCHEMA_LOCK = 0;

/** Opens a pool of connections to a server. `Schema`: the tables that it holds. */
export async function openPostgresConnection<Schema>(options: PostgresOptions): Promise<SqlConnection<Schema>> {
  const { url, pool, timeoutMs, ahead = "0", owner } = options;
  const kysely = await loadPeer<KyselyModule>("kysely", ["kysely", "pg"], owner);
  const own = pool ?? (await openPool(url ?? "", timeoutMs, owner));
  const { sql } = kysely;
  const db = new kysely.Kysely<Schema>({ dialect: new kysely.PostgresDialect({ pool: quiet(own) as PostgresPool }) });
  const lockMs = Math.max(1, Math.floor(timeoutMs / 4));
  return {
    name: "postgres",
    kysely,
    db,
    now: () => sql<Whole>`(floor(extract(epoch from statement_timestamp()) * 1000)::bigint + ${sql.raw(ahead)})`,
    async transaction(work) {
      const until = performance.now() + timeoutMs;
      for (let tries = 1; ; tries += 1) {
        try {
          return await db.transaction().setIsolationLevel("read committed").execute(work);
        } catch (error) {
          if (!AGAIN.has(codeOf(error)) || tries === TRIES || performance.now() >= until) throw error;
        }
      }
    },
    async enter(work, names) {
      const first = [
        // Nobody is held up by a process that stands still in the middle of a commit.
        sql`set_config('idle_in_transaction_session_timeout', ${String(timeoutMs)}, true)`,
        sql`set_config('lock_timeout', ${String(lockMs)}, true)`,
        // Where the server answers before the disk has it, a crash would forget what was granted.
        sql`case when current_setting('synchronous_commit') in ('off', 'local')
          then set_config('synchronous_commit', 'on', true) end`,
      ];
      // Always in the same order.
      const locks = [...new Set(names.map(lockOf))].sort((a, b) => a - b);
      const locking = locks.map((lock) => sql`pg_advisory_xact_lock(${SPACE}, ${lock})`);
      // Invariant: what is decided under a lock is read by a later statement than the one that waited for it.
      await sql`select ${sql.join([...first, ...locking])}`.execute(work);
    },
    async lockSchema(work) {
      await sql`select pg_advisory_xact_lock(${SPACE}, ${SCHEMA_LOCK})`.execute(work);
    },
    skipLocked: true,
    isFull: (error) => FULL.has(codeOf(error)),
    isGone: (error) => GONE.has(codeOf(error)),
    async close() {
      if (pool === undefined) await own.end();
    },
  };
}

export async function openPostgres(options: PostgresOptions): Promise<SqlDialect> {
  const connection = await openPostgresConnection<Tables>(options);
  const { sql } = connection.kysely;
  const era = await eraOf(sql, connection.db).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  return {
    ...connection,
    era: () => era,
    async begin(work, _writes, ledgers) {
      await connection.enter(work, ledgers);
      const { rows } = await sql<{ now: Whole; since: Whole; same: boolean }>`
        select ${connection.now()} as now, since, era = ${era} as same from tollgate_meta
      `.execute(work);
      const [meta] = rows;
      if (!meta) throw new Error("the database has lost the row in which its store began");
      const version = sql<Whole>`nextval('tollgate_version')`;
      return { now: Number(meta.now), since: Number(meta.since), sameEra: meta.same, version: () => version };
    },
    migrations: migrationsOf(era),
    hasRoom: async () => true,
  };
}

async function openPool(url: string, timeoutMs: number, owner?: Owner): Promise<PgPool> {
  const { default: pg } = await loadPeer<{ default: typeof Pg }>("pg", ["kysely", "pg"], owner);
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: "tollgate",
  });
  // Safe because the pool itself drops an idle connection that breaks; without a listener the process would end.
  pool.on("error", () => undefined);
  return pool;
}

/**
 * The pool, whose connections say nothing beside the calls on them: one that breaks while it is in use also emits an error,
 * which ends the process where nobody listens. The call that it was in use for is told.
 */
function quiet(pool: PgPool): PgPool {
  const known = new WeakSet<PgClient>();
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      if (!known.has(client)) client.on?.("error", () => undefined);
      known.add(client);
      return client;
    },
  };
}

/** A ledger's advisory lock (FNV-1a), never that of the schema. Two ledgers with one lock only wait for each other. */
function lockOf(ledger: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(ledger)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash || 1;
}

/** The server's timeline, which grows when a standby takes over; none where the service does not tell it. */
async function eraOf(sql: KyselyModule["sql"], db: Database): Promise<RawBuilder<string>> {
  const timeline = sql<string>`substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`;
  try {
    await sql`select ${timeline}`.execute(db);
    return timeline;
  } catch (error) {
    if (!UNTOLD.has(codeOf(error))) throw error;
    return sql<string>`''`;
  }
}

const migrationsOf = (era: RawBuilder<string>): readonly Migration[] => [
  (sql, now) => [
    sql`create table tollgate_meta (
      id integer primary key check (id = 1), since bigint not null, version bigint not null,
      era text not null
    )`,
    // Versions begin where no earlier memory can have come to.
    sql`insert into tollgate_meta (id, since, version, era) values (1, ${now}, ${now} * 1000, ${era})`,
    sql`create sequence tollgate_version`,
    sql`select setval('tollgate_version', (select version from tollgate_meta))`,
    // In byte order, which is the order of commits too, whatever the language of the database.
    sql`create table tollgate_entries (
      key text collate "C" primary key, version bigint not null, value text not null, expires_at bigint not null,
      due_at bigint
    )`,
    sql`create index tollgate_entries_expiry on tollgate_entries (expires_at)`,
    sql`create index tollgate_entries_due on tollgate_entries (due_at) where due_at is not null`,
    sql`create table tollgate_members (
      ledger text collate "C" not null, member text collate "C" not null, amount text not null, expires_at bigint not null,
      primary key (ledger, member)
    )`,
    sql`create index tollgate_members_expiry on tollgate_members (expires_at)`,
  ],
  (sql) => [
    sql`alter table tollgate_entries add column place bigint`,
    sql`create index tollgate_entries_place on tollgate_entries (place) where place is not null`,
  ],
];
