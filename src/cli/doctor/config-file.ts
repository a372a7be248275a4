// The configuration that a doctor is shown: a file of options as JSON, of environment lines, or a module; or the environment
// alone. A module is run, as the server would run it; nothing else is.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseEnv } from "node:util";
import type { Environment } from "../../environment.js";
import { isRecord } from "../../wire/json.js";
import { CliError, type Io } from "../io.js";
import { wordsOf } from "../words-of.js";
import { within } from "./within.js";

const LOAD_MS = 15_000;

/** What `paywall()` returns, as far as it is asked here. */
export interface Handle {
  ready(): Promise<void>;
  close?(): Promise<void>;
}

export interface Config {
  readonly env: Environment;
  /** Options of a paywall or of a gateway; undefined where the environment alone speaks. */
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** Exported by a module in place of options. */
  readonly handle?: Handle;
  /** Of a module: rejects with what it throws where nobody waits for it. */
  readonly failed?: Promise<never>;
  /** Of JSON: a gateway reads it by itself. */
  readonly jsonFile?: string;
}

/** @throws CliError (2) where the file cannot be read; no sentence repeats what stands in it. */
export async function readConfig(file: string | undefined, io: Io): Promise<Config> {
  const { env } = io;
  if (file === undefined) return { env, options: undefined };
  if (/\.[cm]?[jt]s$/.test(file)) return readModule(file, io);
  const text = readText(file);
  if (!/^\s*[{[]/.test(text)) return { env: { ...env, ...readLines(file, text) }, options: undefined };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CliError(`${file} is no JSON`, 2);
  }
  if (!isRecord(value)) throw new CliError(`${file} must hold one object of options`, 2);
  const names = Object.entries(value).filter(([name]) => isEnvironmentName(name));
  const over = Object.fromEntries(names.map(([name, setting]) => [name, String(setting)]));
  const options = Object.fromEntries(Object.entries(value).filter(([name]) => !isEnvironmentName(name)));
  const isEmpty = Object.keys(options).length === 0;
  return { env: { ...env, ...over }, options: isEmpty ? undefined : options, ...(!isEmpty && { jsonFile: file }) };
}

const isEnvironmentName = (name: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(name);

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

/** `NAME=value` lines, as of a file named .env. */
function readLines(file: string, text: string): Environment {
  const env = parseEnv(text);
  if (Object.keys(env).some(isEnvironmentName)) return Object.fromEntries(Object.entries(env));
  throw new CliError(`${file} holds neither JSON nor lines of the form TOLLGATE_PAY_TO=0x…`, 2);
}

async function readModule(file: string, io: Io): Promise<Config> {
  const { env } = io;
  const failed = new Promise<never>((_resolve, reject) => {
    io.onForeign((error) => reject(new CliError(`${file} fails where nobody waits for it: ${lineOf(error)}`)));
  });
  // Told by whoever waits for the module; afterwards it is of no interest.
  failed.catch(() => {});
  const module: unknown = await Promise.race([load(file), failed]);
  const exported = Object(module) as Record<string, unknown>;
  const values = [exported.options, exported.paywall, exported.default].filter((value) => value !== undefined);
  const handle = values.find(isHandle);
  const options = values.find(isRecord);
  if (handle) return { env, options: undefined, handle, failed };
  if (options) return { env, options, failed };
  throw new CliError(
    `${file} exports nothing to check: export the options as "options", or what paywall() returns as "paywall"`,
    2,
  );
}

async function load(file: string): Promise<unknown> {
  const late = `it has not finished loading within ${LOAD_MS / 1000} s (does a top-level await wait for ever?)`;
  try {
    return await within(import(pathToFileURL(resolve(file)).href), LOAD_MS, late);
  } catch (error) {
    throw new CliError(`${file} cannot be loaded: ${lineOf(error)}`, 2);
  }
}

/** What somebody else's code has thrown, short. */
const lineOf = (error: unknown): string => wordsOf(error).replace(/\s+/g, " ").slice(0, 500);

const isHandle = (value: unknown): value is Handle =>
  Object(value) === value && typeof Reflect.get(Object(value), "ready") === "function";
