// What the two kinds of SQL database do differently; everything else is written once, in `backend.ts`.
import type * as kysely from "kysely";
import type { Kysely, RawBuilder, Transaction } from "kysely";

/** The tables, as the migrations of each dialect make them. Whole numbers come back as text or as numbers. */
export interface Tables {
  tollgate_meta: { id: number; since: Whole; version: Whole; era: string };
  tollgate_entries: {
    key: string;
    version: Whole;
    value: string;
    expires_at: Whole;
    due_at: Whole | null;
    /** Of what is listed: the version with which it was added. */
    place: Whole | null;
  };
  tollgate_members: { ledger: string; member: string; amount: string; expires_at: Whole };
  tollgate_migrations: { id: number; applied_at: Whole };
}
export type Whole = number | string;
export type Database = Kysely<Tables>;
export type Work = Transaction<Tables>;

/** Kysely as it was loaded. */
export type KyselyModule = typeof kysely;

/** How a commit begins: the time and the memory that it is judged by, and a version for each write. */
export interface Begun {
  readonly now: number;
  readonly since: number;
  /** Is the server still the one that remembers since then? */
  readonly sameEra: boolean;
  /** Greater than all that were given before, and a new one for each call. */
  version(): RawBuilder<Whole> | number;
}

/** An open database with tables of any kind: what the store and the gateway share. */
export interface SqlConnection<Schema> {
  readonly name: "sqlite" | "postgres";
  readonly kysely: KyselyModule;
  readonly db: Kysely<Schema>;
  /** The time as an expression of a single statement. */
  now(): RawBuilder<Whole>;
  /** One transaction that others cannot see half of; again where the database asks for that. */
  transaction<Result>(work: (work: Transaction<Schema>) => Promise<Result>): Promise<Result>;
  /** The first thing in a transaction that writes: it is bounded in time, on the disk when answered, and alone on these names. */
  enter(work: Transaction<Schema>, names: readonly string[]): Promise<void>;
  /** Keeps others from changing the schema until the transaction ends. */
  lockSchema(work: Transaction<Schema>): Promise<void>;
  /** Skips rows that another transaction works on; nothing where there is only one writer. */
  readonly skipLocked: boolean;
  /** Has the database no room for the write that failed? Nothing of it was written then. */
  isFull(error: unknown): boolean;
  /** Has the data to be opened anew after this error? */
  isGone(error: unknown): boolean;
  close(): Promise<void>;
}

export interface SqlDialect extends SqlConnection<Tables> {
  /** Another text once the server may have forgotten what it had answered: a standby that took over. */
  era(): RawBuilder<string>;
  /** The first thing in a commit: nobody else decides on these ledgers until it ends. */
  begin(work: Work, writes: number, ledgers: readonly string[]): Promise<Begun>;
  readonly migrations: readonly Migration[];
  /** Is there room for `added` more entries? */
  hasRoom(work: Work, added: number): Promise<boolean>;
}

/** Statements in order; `now` is store time in epoch milliseconds. */
export type Migration = (sql: KyselyModule["sql"], now: RawBuilder<Whole>) => readonly RawBuilder<unknown>[];

/** The text of an error's code, where it has one. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
