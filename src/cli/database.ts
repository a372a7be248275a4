// The database of a command, opened for as long as it runs, and the account that it is about.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Account, GatewayDatabase } from "../gateway/database/database.js";
import { openDatabase } from "../gateway/database/open.js";
import type { Fault } from "../gateway/errors.js";
import type { ReadOptions } from "../gateway/options.js";
import type { GatewaySettings } from "../gateway/settings.js";
import type { OptionSpecs, Written } from "./command.js";
import { CliError, type Io, usage } from "./io.js";
import { requirePeers } from "./peers.js";
import { readSettings } from "./settings.js";

export interface Opened {
  readonly settings: GatewaySettings;
  readonly database: GatewayDatabase;
}

/** `create`: this command may make the database where there is none. */
type Reading = ReadOptions & { readonly create?: true };

/** Opens the database that the settings name, and closes it whatever `use` does. Networks are not read unless asked for. */
export async function withDatabase<Result>(
  io: Io,
  written: Written,
  options: OptionSpecs,
  use: (opened: Opened) => Promise<Result>,
  { create, ...read }: Reading = { networks: "unread" },
): Promise<Result> {
  const settings = readSettings(io.env, written, options, read);
  await requirePeers("database", settings);
  if (!create) requireFile(settings);
  const database = await openDatabase(settings.database);
  try {
    return await use({ settings, database });
  } finally {
    await database.close();
  }
}

/** In the wrong folder there would be a new, empty database, and the word that nothing is in it. */
function requireFile({ database }: GatewaySettings): void {
  // What is no path of a file is refused by the database itself.
  if (!("file" in database) || /^(?:$|:memory:|file:)/.test(database.file) || existsSync(database.file)) return;
  throw new CliError(
    `There is no database at ${resolve(database.file)}: run this where the gateway runs, or name its file with --database FILE. ` +
      "A new one is made by `tollgate gateway` and by `tollgate accounts create`.",
  );
}

export const ACCOUNT_OPTION = {
  account: { type: "string", value: "ID|NAME", description: "Whose; needed where there are several accounts" },
} as const;

/** By id or name; where none is named, the only one. */
export async function findAccount({ accounts }: GatewayDatabase, name: string | undefined): Promise<Account> {
  const all = await accounts.list();
  if (all.length === 0) throw new CliError("There is no account yet: tollgate accounts create --name NAME");
  const found = name === undefined ? all : all.filter((one) => one.id === name || one.name === name);
  const [only] = found;
  if (only && found.length === 1) return only;
  const list = all.map(({ id, name: called }) => `  ${id}  ${called}`).join("\n");
  if (found.length > 1) throw usage(`There are several accounts: choose one with --account ID\n${list}`);
  throw usage(`There is no account ${JSON.stringify(name)}; there are\n${list}`);
}

/** What was refused, under the option that it was written with: nothing was done. */
export function refused({ message, details: [detail] = [] }: Fault): CliError {
  const [field = "", index] = detail?.path.split(".") ?? [];
  const option = OPTIONS.get(field);
  if (!detail || option === undefined) return new CliError(message, 2);
  const which = field === "limits" && index !== undefined ? ` (number ${Number(index) + 1})` : "";
  const hint = field === "wallets" && index !== undefined ? "; tollgate wallets list shows them" : "";
  return new CliError(`${option}${which}: ${detail.message}${hint}`, 2);
}

/** Fields of requests by the options that fill them. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ["limits", "--limit"],
  ["wallets", "--wallets"],
  ["plan", "--plan"],
  ["rateLimit", "--rate-limit"],
  ["expiresAt", "--expires"],
]);
