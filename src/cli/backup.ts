// `tollgate backup`: a copy of the database of one consistent moment, while the gateway runs.
import { defineCommand } from "./command.js";
import { withDatabase } from "./database.js";
import { CliError } from "./io.js";
import { printResult } from "./print.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";

const options = { ...DATABASE_OPTIONS, ...JSON_OPTION } as const;

export const backup = defineCommand({
  name: "backup",
  summary: "Copy the database while the gateway runs",
  operands: ["FILE"],
  details: [
    "FILE must not be there yet. Hosted wallets in it stay sealed: keep the passphrase elsewhere.",
    "SQLite only; a Postgres is copied by pg_dump.",
  ],
  options,
  async run(values, io, [file = ""]) {
    await withDatabase(io, values, options, async ({ settings, database }) => {
      if ("url" in settings.database) throw new CliError("The database is a Postgres: use pg_dump");
      await database.backup(file);
    });
    printResult(io, values.json, { file }, `Wrote ${file}`);
  },
});
