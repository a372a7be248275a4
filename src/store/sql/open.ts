// Opens the store in the database that the options name. Loaded when the store is first used.
import { type Backend, TIMEOUT_MS } from "../shared-store.js";
import type { PostgresPoolOption, PostgresUrl, SqliteFile } from "../sql.js";
import { openSqlBackend } from "./backend.js";
import { openPostgres } from "./postgres.js";
import { openSqlite } from "./sqlite.js";

/** A SQLite file, made where there is none. */
export async function openFile({ timeoutMs = TIMEOUT_MS, ...file }: SqliteFile): Promise<Backend> {
  return openSqlBackend(await openSqlite({ ...file, busyMs: timeoutMs }));
}

/** A Postgres, by its URL or by a pool. */
export async function openServer(options: PostgresUrl | PostgresPoolOption): Promise<Backend> {
  return openSqlBackend(await openPostgres({ timeoutMs: TIMEOUT_MS, ...options }));
}
