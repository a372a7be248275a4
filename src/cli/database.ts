// The database of a command, opened for as long as it runs, and the account that it is about.

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

/** Opens the database that the settings name, and closes it whatever `use` does. Networks are not read unless asked for. */
export async function withDatabase<Result>(
  io: Io,
  written: Written,
  options: OptionSpecs,
  use: (opened: Opened) => Promise<Result>,
  read: ReadOptions = { networks: "unread" },
): Promise<Result> {
  const settings = readSettings(io.env, written, options, read);
  await requirePeers("database", settings);
  const database = await openDatabase(settings.database);
  try {
    return await use({ settings, database });
  } finally {
    await database.close();
  }
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

/** What was refused, as the command line tells it: nothing was done. */
export const refused = ({ message }: Fault): CliError => new CliError(message, 2);
