// Opens the database of a gateway, SQLite or Postgres, and brings it to the schema of this version.
import { closeSync, openSync, statSync } from "node:fs";
import { PaywallConfigError } from "../../errors.js";
import { openPostgresConnection } from "../../store/sql/postgres.js";
import { migrateSchema } from "../../store/sql/schema.js";
import { openSqliteConnection } from "../../store/sql/sqlite.js";
import type { GatewaySettings } from "../settings.js";
import { createAccounts } from "./accounts.js";
import { backUp } from "./backup.js";
import { createBrowsing } from "./browsing.js";
import { createConnection, type GatewayConnection, type Times } from "./connection.js";
import type { GatewayDatabase } from "./database.js";
import { createEvents } from "./events.js";
import { createKeys } from "./keys.js";
import { GATEWAY, gatewaySchema } from "./migrations.js";
import { createNonces } from "./nonces.js";
import { createPayments } from "./payments.js";
import { createRequests } from "./requests.js";
import { createSessions } from "./sessions.js";
import { createSigners } from "./signers.js";
import { createSponsored } from "./sponsored.js";
import type { GatewayTables } from "./tables.js";
import { createWallets } from "./wallets.js";

const TIMEOUT_MS = 10_000;

/**
 * Opens the database, making its tables where they are not there yet. A new SQLite file can be read by its owner alone.
 *
 * @throws PaywallConfigError where a later version of this package has changed it, or a package is not installed.
 * @example const database = await openDatabase({ file: "tollgate.db" });
 */
export async function openDatabase(
  where: GatewaySettings["database"],
  options: Partial<Times> = {},
): Promise<GatewayDatabase> {
  const times = { timeoutMs: TIMEOUT_MS, ...options };
  const isSame = "file" in where ? sameFile(makeFile(where.file)) : () => true;
  const connection = await createConnection(async () => {
    if (!isSame()) throw new Error("the file of the gateway's database has been replaced: start the gateway again");
    return openMigrated(where, times);
  });
  return {
    payments: createPayments(connection),
    accounts: createAccounts(connection),
    keys: createKeys(connection),
    wallets: createWallets(connection),
    requests: createRequests(connection),
    nonces: createNonces(connection),
    sponsored: createSponsored(connection),
    events: createEvents(connection),
    sessions: createSessions(connection),
    signers: createSigners(connection),
    browsing: createBrowsing(connection),
    now: () => readNow(connection),
    ping: async () => void (await readNow(connection)),
    backup: (file) => backUp(connection, file),
    close: () => connection.close(),
  };
}

async function openMigrated(where: GatewaySettings["database"], { timeoutMs, clock, ahead }: Times) {
  const opened =
    "file" in where
      ? await openSqliteConnection<GatewayTables>({
          file: where.file,
          busyMs: timeoutMs,
          owner: GATEWAY,
          ...(clock && { clock }),
        })
      : await openPostgresConnection<GatewayTables>({
          url: where.url,
          timeoutMs,
          owner: GATEWAY,
          ...(ahead !== undefined && { ahead }),
        });
  try {
    await migrateSchema(opened, gatewaySchema(opened.name));
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A gateway that goes on with another file would have forgotten what it has paid: true for as long as it is the one of now. */
function sameFile(file: string): () => boolean {
  const inode = () => statSync(file, { throwIfNoEntry: false })?.ino;
  const before = inode();
  return () => inode() === before;
}

/** Made here where it is not there, because SQLite would let everybody read it. */
function makeFile(file: string): string {
  if (/^(?:$|:memory:|file:)/.test(file)) {
    const message = 'expected the path of a file, such as "tollgate.db": what is in memory ends with the process';
    throw new PaywallConfigError([{ path: GATEWAY.path, code: "invalid", message }], GATEWAY.of);
  }
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    // One that is there is not opened: closing it would take the locks of every connection that this process has to it.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return file;
}

async function readNow({ read, sql, now }: GatewayConnection): Promise<number> {
  const { rows } = await read((db) => sql<{ now: number | string }>`select ${now()} as now`.execute(db));
  return Number(rows[0]?.now);
}
