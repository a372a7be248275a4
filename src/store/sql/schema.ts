// The schema in numbered steps, applied once under a lock, at first use. A database that a later version of this package has
// changed is left alone: what it holds may mean something else there.
import { PaywallConfigError } from "../../errors.js";
import { type Owner, STORE } from "../load-peer.js";
import type { Migration, SqlConnection, SqlDialect, Whole } from "./dialect.js";

/** Numbered steps of one owner in a database that it may share with others. */
export interface Schema {
  /** Remembers which steps were applied. */
  readonly table: string;
  readonly migrations: readonly Migration[];
  readonly owner: Owner;
}

/** Brings the store's tables to this version. @throws PaywallConfigError where they are already beyond it. */
export async function migrate(dialect: SqlDialect): Promise<void> {
  const { migrations } = dialect;
  await migrateSchema(dialect, { table: "tollgate_migrations", migrations, owner: STORE });
}

/** Brings the database to a schema. @throws PaywallConfigError where it is already beyond it. */
export async function migrateSchema<Tables>(connection: SqlConnection<Tables>, schema: Schema): Promise<void> {
  const { sql } = connection.kysely;
  const table = sql.table(schema.table);
  await connection.transaction(async (work) => {
    await connection.lockSchema(work);
    await sql`create table if not exists ${table} (
      id integer primary key,
      applied_at bigint not null
    )`.execute(work);
    const { rows } = await sql<{ done: Whole | null }>`select max(id) as done from ${table}`.execute(work);
    const done = Number(rows[0]?.done ?? 0);
    if (done > schema.migrations.length) throw newerThanThis(done, schema);
    for (const [at, migration] of schema.migrations.entries()) {
      const id = at + 1;
      if (id <= done) continue;
      for (const statement of migration(sql, connection.now())) await statement.execute(work);
      await sql`insert into ${table} (id, applied_at) values (${id}, ${connection.now()})`.execute(work);
    }
  });
}

function newerThanThis(found: number, { owner, migrations }: Schema): PaywallConfigError {
  const message =
    `the database holds a ${owner.name} of a later version of this package (step ${found}, this one knows ` +
    `${migrations.length}): update the package, or name another database`;
  return new PaywallConfigError([{ path: owner.path, code: "invalid", message }], owner.of);
}
