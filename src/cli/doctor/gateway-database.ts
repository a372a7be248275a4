// The database of a gateway: is it there, is it of this version, and does the passphrase open its hosted wallets. Nothing is
// made or migrated: that is done by the gateway, at its start.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { PaywallConfigError } from "../../errors.js";
import { GATEWAY, gatewaySchema } from "../../gateway/database/migrations.js";
import type { GatewaySettings } from "../../gateway/settings.js";
import { createVault, opensWord } from "../../gateway/wallets/vault.js";
import type { SqlConnection, Whole } from "../../store/sql/dialect.js";
import { openPostgresConnection } from "../../store/sql/postgres.js";
import { openSqliteConnection } from "../../store/sql/sqlite.js";
import { wordsOf } from "../words-of.js";
import type { Row } from "./rows.js";

const DATABASE_MS = 5_000;

/** @throws PaywallConfigError where a package is missing. */
export async function checkDatabase({ database, passphrase }: GatewaySettings): Promise<Row[]> {
  const check = "file" in database ? `SQLite ${database.file}` : `Postgres at ${new URL(database.url).host}`;
  const row = { part: "database", check };
  if ("file" in database && !existsSync(database.file)) {
    return [{ ...row, state: "note", found: `${resolve(database.file)} is not there: the first start makes it` }];
  }
  let connection: SqlConnection<object> | undefined;
  try {
    connection = await open(database);
    const [migrated, step] = await readMigrations(row, connection);
    return step > 0 ? [migrated, await checkPassphrase(connection, passphrase)] : [migrated];
  } catch (error) {
    if (error instanceof PaywallConfigError) throw error;
    const remedy =
      "file" in database
        ? "Name the gateway's own file with --database, and see that this user may read and write it."
        : "Check DATABASE_URL, and whether the server runs and takes connections from here.";
    return [{ ...row, state: "unreachable", found: wordsOf(error), remedy }];
  } finally {
    await connection?.close();
  }
}

const open = (database: GatewaySettings["database"]): Promise<SqlConnection<object>> =>
  "file" in database
    ? openSqliteConnection<object>({ file: database.file, busyMs: DATABASE_MS, owner: GATEWAY })
    : openPostgresConnection<object>({ url: database.url, timeoutMs: DATABASE_MS, owner: GATEWAY });

type Named = Pick<Row, "part" | "check">;

/** The row, and the step to which the database has come. */
async function readMigrations(row: Named, connection: SqlConnection<object>): Promise<readonly [Row, number]> {
  const known = gatewaySchema(connection.name).migrations.length;
  const step = await stepOf(connection);
  if (step === 0)
    return [{ ...row, state: "note", found: "no gateway has used it yet: the first start makes its tables" }, step];
  if (step === known) return [{ ...row, state: "ok", found: `of this version (step ${step})` }, step];
  if (step < known) {
    const remedy = "Back it up first: tollgate backup FILE, or pg_dump.";
    return [
      {
        ...row,
        state: "note",
        found: `of an earlier version (step ${step} of ${known}): the next start migrates it`,
        remedy,
      },
      step,
    ];
  }
  const remedy = "Update the package, or name another database.";
  const found = `expected step ${known} at most, got step ${step}: a later version of this package has changed it`;
  return [{ ...row, state: "wrong", found, remedy }, step];
}

async function stepOf({ name, kysely: { sql }, db }: SqlConnection<object>): Promise<number> {
  const named =
    name === "sqlite"
      ? sql<{
          found: Whole;
        }>`select count(*) as found from sqlite_master where type = 'table' and name = 'gateway_migrations'`
      : sql<{ found: Whole }>`select case when to_regclass('gateway_migrations') is null then 0 else 1 end as found`;
  const { rows: tables } = await named.execute(db);
  if (Number(tables[0]?.found ?? 0) === 0) return 0;
  const { rows } = await sql<{ step: Whole | null }>`select max(id) as step from gateway_migrations`.execute(db);
  return Number(rows[0]?.step ?? 0);
}

async function checkPassphrase(
  { kysely: { sql }, db }: SqlConnection<object>,
  passphrase: string | undefined,
): Promise<Row> {
  const row = { part: "hosted wallets", check: "passphrase" };
  const { rows } = await sql<{ salt: string; word: string }>`select salt, word from gateway_vault`.execute(db);
  const [vault] = rows;
  const name = "TOLLGATE_WALLET_PASSPHRASE";
  if (passphrase === undefined) {
    if (!vault)
      return {
        ...row,
        state: "note",
        found: `none, so POST /payment/send sends nothing: set ${name} to have hosted wallets`,
      };
    const remedy = `Set ${name}, or ${name}_FILE, to the passphrase with which they were sealed.`;
    return {
      ...row,
      state: "wrong",
      found: "expected the passphrase of this database, got none: its wallets are locked",
      remedy,
    };
  }
  if (!vault) return { ...row, state: "ok", found: "the first start keeps it" };
  if (opensWord(await createVault(passphrase, vault.salt), vault.word))
    return { ...row, state: "ok", found: "opens them" };
  const remedy = `Set ${name} to the one with which they were sealed; tollgate wallets rotate-passphrase changes it.`;
  return { ...row, state: "wrong", found: "expected the passphrase of this database, got another one", remedy };
}
