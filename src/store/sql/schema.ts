// The schema in numbered steps, applied once under a lock, at first use. A database that a later version of this package has
// changed is left alone: what it holds may mean something else there.
import { PaywallConfigError } from "../../errors.js";
import type { SqlDialect, Work } from "./dialect.js";

/** Brings the database to the schema of this version. @throws PaywallConfigError where it is already beyond it. */
export async function migrate(dialect: SqlDialect): Promise<void> {
  const { sql } = dialect.kysely;
  await dialect.transaction(async (work) => {
    await dialect.lockSchema(work);
    await sql`create table if not exists tollgate_migrations (
      id integer primary key,
      applied_at bigint not null
    )`.execute(work);
    const done = await appliedOf(work);
    if (done > dialect.migrations.length) throw newerThanThis(done, dialect.migrations.length);
    for (const [at, migration] of dialect.migrations.entries()) {
      const id = at + 1;
      if (id <= done) continue;
      for (const statement of migration(sql, dialect.now())) await statement.execute(work);
      await work.insertInto("tollgate_migrations").values({ id, applied_at: dialect.now() }).execute();
    }
  });
}

async function appliedOf(work: Work): Promise<number> {
  const rows = await work.selectFrom("tollgate_migrations").select("id").orderBy("id", "desc").limit(1).execute();
  return rows[0]?.id ?? 0;
}

function newerThanThis(found: number, known: number): PaywallConfigError {
  const message =
    `the database holds a store of a later version of this package (step ${found}, this one knows ${known}): ` +
    "update the package, or name another database";
  return new PaywallConfigError([{ path: "store", code: "invalid", message }]);
}
