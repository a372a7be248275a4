// `tollgate keys`: what callers authenticate with. The key itself is shown once, when it is made.
import { createKey } from "../gateway/admin/create-key.js";
import { toKeyRecord } from "../gateway/admin/records.js";
import { SCOPES, type Scope } from "../gateway/caller.js";
import type { Mode } from "../gateway/payment.js";
import type { KeyRecord } from "../gateway/schemas/admin.js";
import { suggestion } from "../suggestion.js";
import { checkName } from "./accounts.js";
import { defineCommand } from "./command.js";
import { ACCOUNT_OPTION, findAccount, refused, withDatabase } from "./database.js";
import { EXPIRES, readExpiry } from "./duration.js";
import { CliError, usage } from "./io.js";
import { formatInstant, printList, printResult } from "./print.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";

/** Moves no money by itself: `send` is asked for. */
const DEFAULT_SCOPES: readonly Scope[] = ["receive", "read", "build", "events"];

/** Test and live things are told apart everywhere; test is what one starts with. */
export const MODE_OPTIONS = {
  test: { type: "boolean", description: "For test networks only (the default)" },
  live: { type: "boolean", description: "For main networks only" },
} as const;

/** @throws CliError (2) where both are given. */
export function readMode({ test, live }: { readonly test?: boolean; readonly live?: boolean }): Mode {
  if (test && live) throw usage("--test and --live are two different things: keep one");
  return live ? "live" : "test";
}

/** The parts of a comma list. */
const parts = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function readScopes(text: string | undefined): Scope[] {
  if (text === undefined) return [...DEFAULT_SCOPES];
  const scopes = parts(text).map((name) => {
    const scope = SCOPES.find((one) => one === name);
    if (scope === undefined) throw usage(`There is no scope ${JSON.stringify(name)}: ${suggestion(name, SCOPES)}`);
    return scope;
  });
  if (scopes.length === 0) throw usage(`--scopes needs at least one of ${SCOPES.join(", ")}`);
  return [...new Set(scopes)];
}

function readRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = /^[1-9][0-9]{0,6}$/.test(text) ? Number(text) : undefined;
  if (rate === undefined) throw usage("--rate-limit takes a whole number of requests a minute, from 1");
  return rate;
}

const createOptions = {
  ...ACCOUNT_OPTION,
  name: { type: "string", value: "NAME", description: "How it is called in lists" },
  ...MODE_OPTIONS,
  plan: {
    type: "string",
    value: "PLAN",
    description: "standard (the default), premium, enterprise, or one of your own",
  },
  scopes: {
    type: "string",
    value: "A,B",
    description: `What it may do, of ${SCOPES.join(", ")}; by default ${DEFAULT_SCOPES.join(", ")}`,
  },
  wallets: { type: "string", value: "A,B", description: "Hosted wallets that it may send from, by id or address" },
  expires: { type: "string", value: "TIME", description: `When it ends: ${EXPIRES}` },
  "rate-limit": { type: "string", value: "N", description: "Requests a minute, where the plan leaves that to the key" },
  ...DATABASE_OPTIONS,
  json: { type: "boolean", description: "Print the key with its facts as JSON" },
} as const;

export const keysCreate = defineCommand({
  name: "keys create",
  summary: "Make an API key, and print it once",
  details: [
    "The key alone goes to standard output: KEY=$(tollgate keys create --name shop). Only its SHA-256 is kept, so it cannot be shown again.",
    "To rotate a key, make a new one, switch to it, and revoke the old one.",
  ],
  options: createOptions,
  examples: [
    "tollgate keys create --name shop",
    "tollgate keys create --name agent --scopes send,read --wallets wal_… --expires 30d --live",
  ],
  async run(values, io) {
    const name = checkName(values.name, "The key");
    const [mode, scopes, rateLimit] = [readMode(values), readScopes(values.scopes), readRate(values["rate-limit"])];
    const created = await withDatabase(io, values, createOptions, async ({ settings, database }) => {
      const account = await findAccount(database, values.account);
      const now = Math.floor((await database.now()) / 1000);
      const expiresAt = values.expires === undefined ? undefined : readExpiry(values.expires, now);
      if (values.expires !== undefined && expiresAt === undefined) throw usage(`--expires takes ${EXPIRES}`);
      return createKey({ settings, database }, account.id, {
        name,
        mode,
        plan: values.plan ?? "standard",
        scopes,
        ...(values.wallets !== undefined && { wallets: parts(values.wallets) }),
        ...(rateLimit !== undefined && { rateLimit }),
        ...(expiresAt !== undefined && { expiresAt }),
      });
    });
    if (!created.ok) throw refused(created);
    const { key, secret } = created.value;
    const record = toKeyRecord(key);
    const until = key.expiresAt === null ? "" : `, until ${formatInstant(record.expiresAt)}`;
    io.stderr.write(`Made the ${mode} key ${key.id} (${key.name}): ${scopes.join(", ")}; plan ${key.plan}${until}.\n`);
    if (scopes.includes("send") && key.wallets.length === 0) io.stderr.write(`${NO_WALLETS}\n`);
    io.stderr.write("This is the only time that it is shown:\n");
    io.stdout.write(values.json ? `${JSON.stringify({ ...record, secret }, null, 2)}\n` : `${secret}\n`);
  },
});

const NO_WALLETS =
  "It names no hosted wallet, so POST /payment/send sends nothing with it: make one with --wallets ID (tollgate wallets list shows them).";

const listOptions = { ...ACCOUNT_OPTION, ...DATABASE_OPTIONS, ...JSON_OPTION } as const;

export const keysList = defineCommand({
  name: "keys list",
  summary: "List the API keys of an account",
  options: listOptions,
  async run(values, io) {
    const { keys, now } = await withDatabase(io, values, listOptions, async ({ database }) => {
      const account = await findAccount(database, values.account);
      return { keys: await database.keys.list(account.id), now: await database.now() };
    });
    printList(io, values.json, keys.map(toKeyRecord), {
      ID: ({ id }) => id,
      KEY: ({ prefix }) => `${prefix}…`,
      NAME: ({ name }) => name,
      PLAN: ({ plan, rateLimit }) => (rateLimit === null ? plan : `${plan} ${rateLimit}/min`),
      SCOPES: ({ scopes }) => scopes.join(" "),
      "LAST USED": ({ lastUsedAt }) => formatInstant(lastUsedAt),
      STATE: (key) => stateOf(key, now / 1000),
    });
  },
});

function stateOf({ revokedAt, expiresAt }: KeyRecord, now: number): string {
  if (revokedAt !== null) return `revoked ${formatInstant(revokedAt)}`;
  if (expiresAt === null) return "good";
  return expiresAt <= now ? `over ${formatInstant(expiresAt)}` : `until ${formatInstant(expiresAt)}`;
}

const revokeOptions = { ...ACCOUNT_OPTION, ...DATABASE_OPTIONS, ...JSON_OPTION } as const;

export const keysRevoke = defineCommand({
  name: "keys revoke",
  summary: "Revoke an API key, at once and for ever",
  operands: ["KEY"],
  details: [
    "KEY is its id (key_…) or its public part (tg_live_…, 16 characters). Whoever uses it gets 401 from now on.",
  ],
  options: revokeOptions,
  async run(values, io, [name = ""]) {
    const key = await withDatabase(io, values, revokeOptions, async ({ database }) => {
      const found = (await database.keys.get(name)) ?? (await database.keys.find(name.slice(0, PREFIX_LENGTH)))?.key;
      const account = values.account === undefined ? undefined : await findAccount(database, values.account);
      if (!found || (account && found.account !== account.id))
        throw new CliError(`There is no such key${inWhose(account)}. ${HOW_NAMED}`);
      if (!(await database.keys.revoke(found.account, found.id))) throw new CliError(`${found.id} is revoked already`);
      return (await database.keys.get(found.id)) ?? found;
    });
    printResult(io, values.json, toKeyRecord(key), `Revoked ${key.id} (${key.name})`);
  },
});

const PREFIX_LENGTH = 16;
const HOW_NAMED =
  "A key is named by its id (key_…) or its public part (16 characters), not by its name: tollgate keys list shows both.";
const inWhose = (account: { id: string } | undefined): string => (account ? ` of ${account.id}` : "");
