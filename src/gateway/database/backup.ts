// A copy of the database while the service runs. It holds what the database holds, sealed keys among it, so nobody else may
// read the file.
import { closeSync, openSync, rmSync } from "node:fs";
import type { GatewayConnection } from "./connection.js";

/**
 * Copies a consistent moment into a new file, which only its owner can read.
 *
 * @throws Error where the file is there already, or the database is none of SQLite.
 */
export async function backUp({ kind, sql, read }: GatewayConnection, file: string): Promise<void> {
  if (kind === "postgres") {
    throw new Error(
      "the gateway's database is PostgreSQL: back it up with pg_dump, which copies a consistent moment too",
    );
  }
  try {
    // SQLite writes into an empty file, and refuses any other one.
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    throw new Error(`${file} is there already: a backup overwrites nothing`);
  }
  try {
    await read((db) => sql`vacuum into ${file}`.execute(db));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}
