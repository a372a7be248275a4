// From a command line to the gateway's settings: options that mirror the environment overrule it, and what is wrong is told
// under the name that was written.
import type { Environment } from "../environment.js";
import { PaywallConfigError } from "../errors.js";
import { type ReadOptions, readGatewayOptions } from "../gateway/options.js";
import type { GatewaySettings } from "../gateway/settings.js";
import type { OptionSpec, OptionSpecs, Written } from "./command.js";
import { CliError, usage } from "./io.js";

/** Where the data is: of every command. */
export const DATABASE_OPTIONS = {
  database: {
    type: "string",
    value: "FILE|URL",
    description: "SQLite file, ./tollgate.db by default, or postgres://…",
    env: "TOLLGATE_DATABASE_FILE, DATABASE_URL",
  },
  config: { type: "string", value: "FILE", description: "Settings as JSON", env: "TOLLGATE_CONFIG" },
} as const satisfies Record<string, OptionSpec>;

export const JSON_OPTION = {
  json: { type: "boolean", description: "Print JSON, also on a terminal" },
} as const satisfies Record<string, OptionSpec>;

/** The environment with the options of the command line over it. */
export function overlay(env: Environment, written: Written, options: OptionSpecs): Environment {
  const over: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(written)) {
    const target = options[name]?.env;
    if (typeof value !== "string" || target === undefined) continue;
    if (hasPassword(value))
      throw usage(`--${name} holds a password, and arguments can be read by every user: set ${urlName(target)}`);
    if (name !== "database") over[target] = value;
    else Object.assign(over, databaseOf(value));
  }
  return { ...env, ...over };
}

const hasPassword = (value: string): boolean =>
  /^(?:postgres|redis)/i.test(value) && URL.canParse(value) && new URL(value).password !== "";

/** The last of an option's names is the one that takes a URL. */
const urlName = (names: string): string => names.split(", ").at(-1) ?? names;

/** One of the two names, and not what stands under the other. */
const databaseOf = (value: string): Environment =>
  /^[a-z]+:/i.test(value) && !/^[a-z]:[\\/]/i.test(value)
    ? { DATABASE_URL: value, TOLLGATE_DATABASE_FILE: undefined }
    : { DATABASE_URL: undefined, TOLLGATE_DATABASE_FILE: value };

/**
 * The settings of a command.
 *
 * @throws CliError (2) with every problem, each with its place and its remedy.
 */
export function readSettings(
  env: Environment,
  written: Written,
  options: OptionSpecs,
  read: ReadOptions,
): GatewaySettings {
  try {
    return readGatewayOptions({}, overlay(env, written, options), read);
  } catch (error) {
    if (error instanceof PaywallConfigError) throw toCliError(error, written, options);
    throw error;
  }
}

/** Problems in words, under the option where one was written. */
export function toCliError(
  { problems }: PaywallConfigError,
  written: Written = {},
  options: OptionSpecs = {},
): CliError {
  const named = (name: string) => (options[name]?.env ?? "").split(", ").map((env) => [env, `--${name}`] as const);
  const names = new Map(Object.keys(written).flatMap(named));
  const lines = problems.flatMap(({ path, message }) => [`  ${names.get(path) ?? path}`, `    ${message}`]);
  const count = problems.length === 1 ? "One thing" : `${problems.length} things`;
  return new CliError(`${count} must be set right first:\n${lines.join("\n")}`, 2);
}
