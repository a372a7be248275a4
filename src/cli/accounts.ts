// `tollgate accounts`: who may call the gateway. Accounts are made by the operator, not by strangers.
import { toAccountRecord } from "../gateway/admin/records.js";
import { defineCommand } from "./command.js";
import { type Opened, withDatabase } from "./database.js";
import { usage } from "./io.js";
import { formatInstant, printList, printResult } from "./print.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";

const MAX_NAME = 100;

/** @throws CliError (2) where it is empty, too long, or holds what a terminal would obey. */
export function checkName(name: string | undefined, what: string): string {
  const text = name?.trim() ?? "";
  if (text === "") throw usage(`${what} needs a name: --name NAME`);
  if (text.length > MAX_NAME) throw usage(`--name takes at most ${MAX_NAME} characters`);
  if (/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u.test(text)) throw usage("--name takes printable text");
  return text;
}

const createOptions = {
  name: { type: "string", value: "NAME", description: "How it is called in lists" },
  ...DATABASE_OPTIONS,
  ...JSON_OPTION,
} as const;

export const accountsCreate = defineCommand({
  name: "accounts create",
  summary: "Make an account",
  details: ["Keys, hosted wallets and payments belong to an account. It sees nothing of the others."],
  options: createOptions,
  examples: ['tollgate accounts create --name "Corner shop"'],
  async run(values, io) {
    const name = checkName(values.name, "The account");
    const make = ({ database }: Opened) => database.accounts.create(name);
    const account = await withDatabase(io, values, createOptions, make, { networks: "unread", create: true });
    const next = `Make its first key with: tollgate keys create --account ${account.id} --name NAME`;
    printResult(io, values.json, toAccountRecord(account), `Made the account ${account.id} (${account.name})`);
    io.stderr.write(`${next}\n`);
  },
});

const listOptions = { ...DATABASE_OPTIONS, ...JSON_OPTION } as const;

export const accountsList = defineCommand({
  name: "accounts list",
  summary: "List the accounts",
  options: listOptions,
  async run(values, io) {
    const accounts = await withDatabase(io, values, listOptions, ({ database }) => database.accounts.list());
    printList(io, values.json, accounts.map(toAccountRecord), {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      CREATED: ({ createdAt }) => formatInstant(createdAt),
    });
  },
});
