// The settings of a gateway from its options, the environment and a file, in this order: what one leaves out the next one
// fills, field by field. Every problem is collected and thrown once; nothing is started or called.
import { createProblems, optionPath, type Problems } from "../config-problems.js";
import { reportIssues } from "../config-schema.js";
import { type Environment, textOf } from "../environment.js";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { readEnvironment, readSecret } from "./options/environment.js";
import { readFile } from "./options/file.js";
import { type Layer, type Merged, mergeLayers, toLayer } from "./options/layers.js";
import { readNetworks } from "./options/networks.js";
import { BUILT_IN_PLANS, PLAN_NAME, USUAL_EVENTS } from "./options/plans.js";
import { type GatewayOptions, gatewaySchema } from "./options/schema.js";
import { ENDPOINTS, type GatewaySettings, type Plan } from "./settings.js";
import { checkPassphrase } from "./wallets/passphrase.js";

export type { GatewayEvmOptions, GatewayOptions, GatewaySolanaOptions } from "./options/schema.js";
export { gatewayWarnings } from "./options/warnings.js";

const DEFAULTS = Object.freeze({
  port: 4020,
  host: "127.0.0.1",
  file: "./tollgate.db",
  sponsoredPerAccount: 10_000,
  sponsoredPerPayer: 1_000,
  shutdownMs: 10_000,
});

/** Fields that are refused for being guessable. */
const SECRETS: readonly PropertyKey[] = ["adminToken", "metricsToken", "passphrase"];

export interface ReadOptions {
  /** `required` for a gateway that is to serve. `optional`: none need be there. `unread`: they are of no interest. */
  readonly networks?: "required" | "optional" | "unread";
}

/**
 * Complete settings. The environment's names stand in design §7; a file is named by TOLLGATE_CONFIG.
 *
 * @throws PaywallConfigError with every problem: where it stands, what was expected, what came, what to do.
 * @example
 * readGatewayOptions({ networks: { "base-sepolia": { rpcUrl: "https://sepolia.base.org", settler: "0x…" } } })
 */
export function readGatewayOptions(
  options: GatewayOptions = {},
  env: Environment = process.env,
  { networks: need = "required" }: ReadOptions = {},
): GatewaySettings {
  const problems = createProblems();
  const merged = readLayers(options, env, problems);
  const parsed = gatewaySchema.safeParse(merged.fields);
  if (!parsed.success) {
    const places = { pathOf: merged.nameOf, known: membersAt, secrets: SECRETS };
    reportIssues(parsed.error.issues, merged.fields, places, problems);
  }
  const fields = parsed.success ? parsed.data : {};
  checkWalletPassphrase(fields.passphrase, merged, problems);
  const networks = need === "unread" ? [] : readNetworks(merged, problems);
  const plans = readPlans(fields.plans, merged, problems);
  throwProblems(problems, need, merged);
  return Object.freeze({
    port: fields.port ?? DEFAULTS.port,
    host: fields.host ?? DEFAULTS.host,
    publicUrl: fields.publicUrl && withoutSlash(fields.publicUrl),
    database: toDatabase(fields.database),
    redisUrl: fields.redisUrl,
    passphrase: fields.passphrase,
    networks: Object.freeze(networks),
    plans,
    facilitatorUrls: Object.freeze([...new Set((fields.facilitatorUrls ?? []).map(withoutSlash))]),
    eventOrigins: Object.freeze([...new Set((fields.eventOrigins ?? []).map((origin) => origin.toLowerCase()))]),
    sponsored: Object.freeze({
      perAccount: fields.sponsored?.perAccount ?? DEFAULTS.sponsoredPerAccount,
      perPayer: fields.sponsored?.perPayer ?? DEFAULTS.sponsoredPerPayer,
    }),
    adminToken: fields.adminToken,
    dashboard: fields.dashboard ?? true,
    metricsToken: fields.metricsToken,
    trustProxy: fields.trustProxy ?? 0,
    shutdownMs: fields.shutdownMs ?? DEFAULTS.shutdownMs,
  });
}

/**
 * One secret of the environment, or of the file that `NAME_FILE` names; undefined where there is none.
 *
 * @throws PaywallConfigError where both are set, or the file cannot be read.
 */
export function readSecretSetting(env: Environment, name: string): string | undefined {
  const problems = createProblems();
  const secret = readSecret(env, name, problems);
  problems.throwIfAny();
  return secret?.text;
}

/** Options over environment over file. */
function readLayers(options: unknown, env: Environment, problems: Problems): Merged {
  const written = toLayer(options, (path) => optionPath("", path), problems);
  if (Object(options) !== options || Array.isArray(options)) {
    problems.add("options", "invalid", "expected an object of options");
  }
  const file = textOf(env, "TOLLGATE_CONFIG");
  const fromFile = file === undefined ? [] : [readFile(file, "TOLLGATE_CONFIG", problems)];
  const wanted = [written, ...fromFile].flatMap((layer) => [...layer.networks.values()]);
  const layers: readonly Layer[] = [written, readEnvironment(env, wanted, problems), ...fromFile];
  return mergeLayers(layers);
}

function checkWalletPassphrase(passphrase: string | undefined, merged: Merged, problems: Problems): void {
  if (passphrase === undefined) return;
  const path = merged.nameOf(["passphrase"]);
  try {
    checkPassphrase(passphrase, path);
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    problems.adopt(path, error);
  }
}

/** Commands that need no networks do not fail on them; where none is named, and none was refused, that is said in words. */
function throwProblems(problems: Problems, need: ReadOptions["networks"], merged: Merged): void {
  const all = problemsIn(problems).filter(({ path }) => need !== "unread" || !isAboutNetworks(path));
  // What was refused is not missing as well.
  const found = all.filter((one) => one.code !== "required" || !all.some((it) => it !== one && it.path === one.path));
  const none = merged.networks.length === 0 && !found.some(({ path }) => path === "options" || isAboutNetworks(path));
  if (need === "required" && none) found.push({ path: "networks", code: "required", message: NO_NETWORKS });
  if (found.length > 0) throw new PaywallConfigError(found, "gateway");
}

function problemsIn(problems: Problems): ConfigProblem[] {
  try {
    problems.throwIfAny();
    return [];
  } catch (error) {
    if (error instanceof PaywallConfigError) return [...error.problems];
    throw error;
  }
}

const isAboutNetworks = (path: string): boolean =>
  /(?:^|: )networks\b|^TOLLGATE_(?:RPC_URL|SETTLER_KEY|CONFIRMATIONS|NETWORKS|ASSETS)/.test(path);

const NO_NETWORKS =
  "no network is served: set TOLLGATE_RPC_URL_<NETWORK> to the URL of a node, for example " +
  "TOLLGATE_RPC_URL_BASE_SEPOLIA=https://sepolia.base.org or TOLLGATE_RPC_URL_SOLANA_DEVNET=https://api.devnet.solana.com, " +
  "and TOLLGATE_SETTLER_KEY_EVM or TOLLGATE_SETTLER_KEY_SOLANA to a key that pays for settlements; or name them in the " +
  "options: networks: { … }";

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(gatewaySchema.shape),
  database: ["file", "url"],
  plans: ["perMinute", "endpoints", "events"],
  sponsored: ["perAccount", "perPayer"],
};
const membersAt = ([field = ""]: readonly PropertyKey[]): readonly string[] => MEMBERS[String(field)] ?? [];

/** The built-in plans, and those that are named over them. */
function readPlans(
  written: GatewayOptions["plans"],
  merged: Merged,
  problems: Problems,
): Readonly<Record<string, Plan>> {
  const own = Object.entries(written ?? {}).map(([name, plan]): [string, Plan] => {
    if (!PLAN_NAME.test(name)) {
      const message = "expected a name of at most 32 lower-case letters, digits, - and _, with a letter first";
      problems.add(merged.nameOf(["plans", name]), "invalid", message);
    }
    const { perMinute, endpoints = ENDPOINTS, events = USUAL_EVENTS } = plan;
    return [name, Object.freeze({ perMinute, endpoints: Object.freeze(endpoints), events })];
  });
  return Object.freeze({ ...BUILT_IN_PLANS, ...Object.fromEntries(own) });
}

function toDatabase(written: GatewayOptions["database"]): GatewaySettings["database"] {
  if (written?.url !== undefined) return { url: written.url };
  return { file: written?.file ?? DEFAULTS.file };
}

const withoutSlash = (url: string): string => new URL(url).href.replace(/\/+$/, "");
