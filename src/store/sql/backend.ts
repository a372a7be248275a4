// The store on a SQL database. A commit is one transaction: reservations are judged under a lock on their ledgers, then each write
// is an insert of an absent key or an update of the very version that was read, so that of two which race one changes no row.
import { decodeValue, encodeValue } from "../codec.js";
import type { Backend } from "../shared-store.js";
import type { CommitResult, Reservation, Snapshot, Transaction, Write } from "../store.js";
import type { Begun, SqlDialect, Whole, Work } from "./dialect.js";
import { listPage } from "./list.js";
import { migrate } from "./schema.js";

/** Rows that one commit takes away because their time is over. */
const SWEEP_ROWS = 1000;
const SWEEP_EVERY_MS = 1000;

/** A result that is not `ok`, thrown to roll the transaction back. */
class Undone extends Error {
  readonly result: CommitResult;
  constructor(result: CommitResult) {
    super(`nothing was written: ${result}`);
    this.result = result;
  }
}

/** The server may have forgotten: its memory has to begin anew, and what was decided on the old one to be decided again. */
class Forgetful extends Undone {
  constructor() {
    super("conflict");
  }
}

/** Of several that notice, one moves the beginning. */
async function beginAnew({ db, now, era }: SqlDialect): Promise<void> {
  await db.updateTable("tollgate_meta").set({ since: now(), era: era() }).where("era", "!=", era()).execute();
}

/** Opens the store in a database, making its tables where they are not there yet. */
export async function openSqlBackend(dialect: SqlDialect): Promise<Backend> {
  try {
    await migrate(dialect);
  } catch (error) {
    await dialect.close();
    throw error;
  }
  const sweep = createSweep(dialect);
  return {
    read: (keys, ledgers) => read(dialect, keys, ledgers),
    async commit(transaction) {
      try {
        return await dialect.transaction((work) => commit(dialect, work, transaction, sweep));
      } catch (error) {
        if (error instanceof Forgetful) await beginAnew(dialect);
        if (error instanceof Undone) return error.result;
        if (dialect.isFull(error)) return "full";
        throw error;
      }
    },
    due: (limit, skip) => due(dialect, limit, skip),
    list: (cursor, limit) => listPage(dialect, cursor, limit),
    isGone: dialect.isGone,
    close: () => dialect.close(),
  };
}

/** One statement, so that everything in it is of one moment. */
async function read(dialect: SqlDialect, keys: readonly string[], ledgers: readonly string[]): Promise<Snapshot> {
  const snapshot = await readOnce(dialect, keys, ledgers);
  if (snapshot) return snapshot;
  await beginAnew(dialect);
  const later = await readOnce(dialect, keys, ledgers);
  if (!later) throw new Error("the database's server changes again and again");
  return later;
}

/** Undefined where the server may have forgotten. */
async function readOnce(
  { kysely: { sql }, db, now, era }: SqlDialect,
  keys: readonly string[],
  ledgers: readonly string[],
): Promise<Snapshot | undefined> {
  const among = (names: readonly string[]) => (names.length > 0 ? sql`in (${sql.join(names)})` : sql`in (null)`);
  const { rows } = await sql<{ kind: number; name: string; number: Whole; text: string }>`
    with clock as (select ${now()} as now)
    select 0 as kind, cast(clock.now as text) as name, since as number,
      case when era = ${era()} then 'same' else 'other' end as text
      from clock, tollgate_meta
    union all
    select 1, key, version, value from clock, tollgate_entries
      where key ${among(keys)} and expires_at > clock.now
    union all
    select 2, ledger, count(*), '' from clock, tollgate_members
      where ledger ${among(ledgers)} and expires_at > clock.now group by ledger
  `.execute(db);
  const [meta] = rows.filter(({ kind }) => kind === 0);
  if (!meta) throw new Error("the database has lost the row in which its store began");
  if (meta.text !== "same") return undefined;
  const found = new Map(rows.map((row) => [`${row.kind}${row.name}`, row]));
  return {
    now: Number(meta.name),
    since: Number(meta.number),
    entries: keys.map((key) => {
      const row = found.get(`1${key}`);
      return row && { version: Number(row.number), value: decodeValue(row.text) };
    }),
    members: ledgers.map((ledger) => Number(found.get(`2${ledger}`)?.number ?? 0)),
  };
}

async function commit(
  dialect: SqlDialect,
  work: Work,
  { since, writes, reserve = [], release = [] }: Transaction,
  sweep: Sweep,
): Promise<CommitResult> {
  const ledgers = [...new Set([...reserve, ...release].map(({ ledger }) => ledger))].sort();
  const begun = await dialect.begin(work, writes.length, ledgers);
  if (!begun.sameEra) throw new Forgetful();
  if (since !== undefined && since !== begun.since) throw new Undone("conflict");
  // In one order everywhere, so that two commits never wait for each other.
  const ordered = [...writes].sort((a, b) => (a.key < b.key ? -1 : 1));
  const refused = await judge(work, reserve, begun.now);
  const added = ordered.filter(({ version, value, evictable, always }) => {
    return version === 0 && value !== null && !evictable && !always;
  }).length;
  // A conflict outranks what the ledgers say, so the writes are tried first; all of it is undone together.
  for (const write of ordered) if (!(await put(work, write, begun))) throw new Undone("conflict");
  if (refused) throw new Undone(refused);
  if (added > 0 && !(await dialect.hasRoom(work, added))) throw new Undone("full");
  for (const { ledger, member } of release) {
    await work.deleteFrom("tollgate_members").where("ledger", "=", ledger).where("member", "=", member).execute();
  }
  for (const { ledger, member, amount, expiresAt: expires_at } of reserve) {
    await work
      .insertInto("tollgate_members")
      .values({ ledger, member, amount, expires_at })
      .onConflict((on) => on.columns(["ledger", "member"]).doUpdateSet({ amount, expires_at }))
      .execute();
  }
  await sweep(work, begun.now);
  return "ok";
}

async function judge(work: Work, wanted: readonly Reservation[], now: number): Promise<CommitResult | undefined> {
  for (const { ledger, member, amount, maxMembers, maxSum } of wanted) {
    const others = work
      .selectFrom("tollgate_members")
      .where("ledger", "=", ledger)
      .where("member", "!=", member)
      .where("expires_at", ">", now);
    if (maxSum === undefined) {
      const { count } = await others.select((of) => of.fn.countAll<Whole>().as("count")).executeTakeFirstOrThrow();
      if (Number(count) + 1 > maxMembers) return "too_many";
      continue;
    }
    const amounts = await others.select("amount").execute();
    if (amounts.length + 1 > maxMembers) return "too_many";
    // Summed here: a database's own numbers end before money does.
    const sum = amounts.reduce((total, one) => total + BigInt(one.amount), BigInt(amount));
    if (sum > BigInt(maxSum)) return "over_sum";
  }
  return undefined;
}

/** False where the key no longer stands as it was read. */
async function put(work: Work, write: Write, begun: Begun): Promise<boolean> {
  const { key, version, value, expiresAt, dueAt } = write;
  if (value === null) return version === 0 ? isAbsent(work, key, begun.now) : remove(work, key, version, begun.now);
  const next = begun.version();
  const place = write.listed && !write.evictable ? next : null;
  const row = {
    version: next,
    value: encodeValue(value),
    expires_at: expiresAt,
    due_at: dueAt ?? null,
  };
  if (version === 0) {
    const added = { ...row, place };
    const { numInsertedOrUpdatedRows } = await work
      .insertInto("tollgate_entries")
      .values({ key, ...added })
      .onConflict((on) => on.column("key").doUpdateSet(added).where("tollgate_entries.expires_at", "<=", begun.now))
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }
  const { numUpdatedRows } = await work
    .updateTable("tollgate_entries")
    .set((of) => ({ place: place && of.fn.coalesce("place", typeof place === "number" ? of.val(place) : place) }))
    .set(row)
    .where("key", "=", key)
    .where("version", "=", version)
    .where("expires_at", ">", begun.now)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

async function remove(work: Work, key: string, version: number, now: number): Promise<boolean> {
  const { numDeletedRows } = await work
    .deleteFrom("tollgate_entries")
    .where("key", "=", key)
    .where("version", "=", version)
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}

async function isAbsent(work: Work, key: string, now: number): Promise<boolean> {
  const standing = await work
    .selectFrom("tollgate_entries")
    .select("key")
    .where("key", "=", key)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return standing === undefined;
}

async function due({ db, now }: SqlDialect, limit: number, skip: number): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("tollgate_entries")
    .select("key")
    .where("due_at", "<=", now())
    .where("expires_at", ">", now())
    .orderBy("due_at")
    .orderBy("key")
    .limit(limit)
    .offset(skip)
    .execute();
  return rows.map(({ key }) => key);
}

type Sweep = (work: Work, now: number) => Promise<void>;

/** Takes expired rows away in the course of commits: every second, and again at once while there are more. */
function createSweep({ skipLocked }: SqlDialect): Sweep {
  let nextAt = 0;
  return async (work, now) => {
    if (now < nextAt) return;
    nextAt = now + SWEEP_EVERY_MS;
    const ended = work
      .selectFrom("tollgate_entries")
      .select("key")
      .where("expires_at", "<=", now)
      .limit(SWEEP_ROWS)
      .$if(skipLocked, (query) => query.forUpdate().skipLocked());
    const { numDeletedRows } = await work
      .deleteFrom("tollgate_entries")
      .where("key", "in", ended)
      .executeTakeFirstOrThrow();
    if (numDeletedRows === BigInt(SWEEP_ROWS)) nextAt = 0;
    const left = work
      .selectFrom("tollgate_members")
      .select(["ledger", "member"])
      .where("expires_at", "<=", now)
      .limit(SWEEP_ROWS)
      .$if(skipLocked, (query) => query.forUpdate().skipLocked());
    await work
      .deleteFrom("tollgate_members")
      .where(({ refTuple }) => refTuple("ledger", "member"), "in", left.$asTuple("ledger", "member"))
      .execute();
  };
}
