// What the environment says about a gateway, as a layer of its options. It fills what the options leave out; a name that
// nobody reads, and that differs from a known one by a slip, is a problem.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { optionPath, type Problems } from "../../config-problems.js";
import { type Environment, GATEWAY_PREFIXES, KNOWN_NAMES, listOf, RPC_PREFIX, textOf } from "../../environment.js";
import { nearest } from "../../suggestion.js";
import { readNetworks, readNumber } from "./environment-networks.js";
import type { Layer, NamedEntry } from "./layers.js";

/** The environment, read for the fields that no option decides; `wanted`: networks that the options or the file name. */
export function readEnvironment(env: Environment, wanted: readonly NamedEntry[], problems: Problems): Layer {
  checkGatewayNames(env, problems);
  const names = new Map<string, string>();
  const fields: Record<string, unknown> = {};
  const take = (path: string, name: string, value: unknown) => {
    if (value === undefined) return;
    const [field = path, member] = path.split(".");
    fields[field] = member === undefined ? value : { ...Object(fields[field]), [member]: value };
    names.set(path, name);
  };
  for (const [path, name, read] of SCALARS) take(path, name, read(env, name, problems));
  const [databaseName, database] = readDatabase(env, problems) ?? [];
  if (databaseName !== undefined) take("database", databaseName, database);
  const passphrase = readSecret(env, "TOLLGATE_WALLET_PASSPHRASE", problems);
  if (passphrase) take("passphrase", passphrase.name, passphrase.text);

  const { networks, served, entryNames } = readNetworks(env, wanted, problems);
  return {
    fields,
    networks,
    served,
    nameOf(path) {
      const [field, key, member] = path.map(String);
      if (field === "networks") return entryNames.get(`${key}.${member}`) ?? optionPath("", path);
      const name = names.get(`${field}.${key}`) ?? names.get(field ?? "");
      const inside = path.slice(names.has(`${field}.${key}`) ? 2 : 1);
      return name === undefined ? optionPath("", path) : optionPath(name, inside);
    },
  };
}

type Read = (env: Environment, name: string, problems: Problems) => unknown;

const list: Read = (env, name) => {
  const text = textOf(env, name);
  return text === undefined ? undefined : listOf(text);
};
const json: Read = (env, name, problems) => {
  const text = textOf(env, name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    problems.add(name, "invalid", "expected JSON, got a text that is none (not shown)");
    return undefined;
  }
};

/** What is neither stays what it is, and is refused. */
const onOff: Read = (env, name) => {
  const text = textOf(env, name);
  return text === "on" ? true : text === "off" ? false : text;
};

/** Field, name, how it is read. The first of two names for one field is overruled by the second. */
const SCALARS: readonly (readonly [path: string, name: string, read: Read])[] = [
  ["port", "PORT", readNumber],
  ["port", "TOLLGATE_PORT", readNumber],
  ["host", "TOLLGATE_HOST", textOf],
  ["publicUrl", "TOLLGATE_PUBLIC_URL", textOf],
  ["redisUrl", "REDIS_URL", textOf],
  ["plans", "TOLLGATE_PLANS", json],
  ["facilitatorUrls", "TOLLGATE_FACILITATOR_URLS", list],
  ["eventOrigins", "TOLLGATE_EVENT_ORIGINS", list],
  ["sponsored.perAccount", "TOLLGATE_SPONSORED_PER_ACCOUNT", readNumber],
  ["sponsored.perPayer", "TOLLGATE_SPONSORED_PER_PAYER", readNumber],
  ["adminToken", "TOLLGATE_ADMIN_TOKEN", textOf],
  ["dashboard", "TOLLGATE_DASHBOARD", onOff],
  ["metricsToken", "TOLLGATE_METRICS_TOKEN", textOf],
  ["trustProxy", "TOLLGATE_TRUST_PROXY", readNumber],
  ["shutdownMs", "TOLLGATE_SHUTDOWN_MS", readNumber],
];

/** The names of a gateway, and those of a seller beside them: anything close to one of them was meant to be it. */
function checkGatewayNames(env: Environment, problems: Problems): void {
  const prefixes = [RPC_PREFIX, ...Object.values(GATEWAY_PREFIXES)];
  for (const name of Object.keys(env)) {
    if (!name.startsWith("TOLLGATE_") || KNOWN_NAMES.includes(name)) continue;
    if (prefixes.some((prefix) => name.startsWith(prefix))) continue;
    const meant = nearest(name, KNOWN_NAMES, 2);
    if (meant) problems.add(name, "unknown_option", `nothing reads ${name}: did you mean ${meant}?`);
  }
}

function readDatabase(env: Environment, problems: Problems): [name: string, value: unknown] | undefined {
  const [url, file] = [textOf(env, "DATABASE_URL"), textOf(env, "TOLLGATE_DATABASE_FILE")];
  if (url !== undefined && file !== undefined) {
    const message = "DATABASE_URL and TOLLGATE_DATABASE_FILE name two databases: keep one of them";
    problems.add("TOLLGATE_DATABASE_FILE", "contradiction", message);
    return undefined;
  }
  if (url === undefined) return file === undefined ? undefined : ["TOLLGATE_DATABASE_FILE", { file }];
  const path = /^file:(?:\/\/(?=\/))?(.+)$/i.exec(url)?.[1];
  if (path !== undefined) return ["DATABASE_URL", { file: path }];
  if (/^postgres(?:ql)?:\/\//i.test(url)) return ["DATABASE_URL", { url }];
  const message = "expected postgres://user:password@host/name, or file:./tollgate.db (what came is not shown)";
  problems.add("DATABASE_URL", "invalid", message);
  return undefined;
}

/**
 * A secret that stands in the environment or, by `NAME_FILE`, in a file of its own: the file's text without the line break
 * at its end. Undefined where there is none, or where a problem was added.
 */
export function readSecret(
  env: Environment,
  name: string,
  problems: Problems,
): { readonly name: string; readonly text: string } | undefined {
  const given = env[name];
  const [text, fileName] = [given?.trim() ? given : undefined, `${name}_FILE`];
  const file = textOf(env, fileName);
  if (file === undefined) return text === undefined ? undefined : { name, text };
  if (text !== undefined) {
    problems.add(fileName, "contradiction", `${name} and ${fileName} are both set: keep one of them`);
    return undefined;
  }
  try {
    return { name: fileName, text: readFileSync(file, "utf8").replace(/\r?\n$/, "") };
  } catch (error) {
    const remedy = `name a file that this process can read, or set ${name} itself`;
    problems.add(fileName, "invalid", `the file ${resolve(file)} cannot be read (${reasonOf(error)}): ${remedy}`);
    return undefined;
  }
}

/** The system's word (`ENOENT`, `EACCES`): its message may hold more. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "it is no readable file";
