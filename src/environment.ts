// What the environment says: every TOLLGATE_ name, read once, as text. It fills what the options leave out.
// An empty value counts as absent, as compose files and shells produce it by accident.

import { addressOfSecret } from "./chains/solana/settlers.js";
import type { Problems } from "./config-problems.js";
import { environmentName, findNetwork, NETWORKS, type Network } from "./networks.js";
import { familyOf, type PayTo } from "./payees.js";
import { keyProblem, solanaKeyProblem, urlProblem } from "./receive/option-words.js";
import { nearest } from "./suggestion.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The ways to receive that the environment can name. */
export type ReceiveWay =
  | { readonly way: "gateway"; readonly baseUrl: string; readonly apiKey: string }
  | { readonly way: "facilitator"; readonly url: string }
  | { readonly way: "local"; readonly settlers: SettlerKeys };

/** The keys that send settlements and pay for them, by chain family. */
export interface SettlerKeys {
  readonly evm: `0x${string}` | undefined;
  readonly solana: string | undefined;
}

/** Where each of them stands. */
export const KEY_NAMES = { evm: "TOLLGATE_SETTLER_KEY_EVM", solana: "TOLLGATE_SETTLER_KEY_SOLANA" } as const;

const NAMES = [
  "TOLLGATE_PAY_TO",
  "TOLLGATE_NETWORKS",
  "TOLLGATE_PRICE",
  "TOLLGATE_GATEWAY_URL",
  "TOLLGATE_API_KEY",
  "TOLLGATE_FACILITATOR_URL",
  "TOLLGATE_SETTLER_KEY_EVM",
  "TOLLGATE_SETTLER_KEY_SOLANA",
  "TOLLGATE_STORE_URL",
  "TOLLGATE_PUBLIC_URL",
];
/** Read by the command-line tool, not by a paywall. */
const OTHER_NAMES = ["TOLLGATE_RPC_URL", "TOLLGATE_WALLET_KEY", "TOLLGATE_WALLET_KEY_FILE"];
export const RPC_PREFIX = "TOLLGATE_RPC_URL_";

/** Read by a gateway, so that one file of settings can serve a seller and a gateway. */
export const GATEWAY_NAMES: readonly string[] = [
  ..."PORT HOST CONFIG DATABASE_FILE WALLET_PASSPHRASE WALLET_PASSPHRASE_FILE ASSETS PLANS".split(" "),
  ..."FACILITATOR_URLS EVENT_ORIGINS SPONSORED_PER_ACCOUNT SPONSORED_PER_PAYER ADMIN_TOKEN METRICS_TOKEN".split(" "),
  ..."DASHBOARD TRUST_PROXY SHUTDOWN_MS WALLET_PASSPHRASE_NEW WALLET_PASSPHRASE_NEW_FILE".split(" "),
].map((name) => `TOLLGATE_${name}`);
/** What a gateway reads for each network; the network's name follows. */
export const GATEWAY_PREFIXES = { key: "TOLLGATE_SETTLER_KEY_", confirmations: "TOLLGATE_CONFIRMATIONS_" } as const;
/** Every name that something of this package reads. */
export const KNOWN_NAMES: readonly string[] = [...NAMES, ...OTHER_NAMES, ...GATEWAY_NAMES];

/** A value without the spaces around it; undefined where there is none. */
export function textOf(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

/** The parts of a comma list. */
export const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** A name that nobody reads, and that differs from a known one by a slip, was meant to be read. */
export function checkNames(env: Environment, problems: Problems): void {
  for (const name of Object.keys(env)) {
    if (!name.startsWith("TOLLGATE_") || name.startsWith(RPC_PREFIX)) continue;
    if (KNOWN_NAMES.includes(name) || namesNetwork(name)) continue;
    const meant = nearest(name, NAMES, 2);
    if (meant) problems.add(name, "unknown_option", `nothing reads ${name}: did you mean ${meant}?`);
  }
}

/** Is it what a gateway reads for one network? */
const namesNetwork = (name: string): boolean =>
  Object.values(GATEWAY_PREFIXES).some(
    (prefix) => name.startsWith(prefix) && networkOfSuffix(name.slice(prefix.length)) !== undefined,
  );

/** `TOLLGATE_PAY_TO`: one address, or one for each chain family, told apart by their form. */
export function payToOf(env: Environment, problems: Problems): PayTo | undefined {
  const name = "TOLLGATE_PAY_TO";
  const addresses = listOf(textOf(env, name) ?? "");
  const [only] = addresses;
  if (only === undefined || addresses.length === 1) return only;
  const byFamily: Record<string, string> = {};
  for (const address of addresses) {
    const family = familyOf(address) ?? "evm";
    if (byFamily[family] !== undefined)
      problems.add(name, "contradiction", `it holds two addresses of the family ${family}: keep one`);
    byFamily[family] ??= address;
  }
  return byFamily;
}

/** The one way to receive that is named, or a problem for two ways and for half of one. */
export function receiveWayOf(env: Environment, problems: Problems): ReceiveWay | "problem" | undefined {
  const before = problems.count;
  const url = textOf(env, "TOLLGATE_FACILITATOR_URL");
  const [baseUrl, apiKey] = [textOf(env, "TOLLGATE_GATEWAY_URL"), textOf(env, "TOLLGATE_API_KEY")];

  const rpcNames = Object.keys(env).filter((name) => name.startsWith(RPC_PREFIX) && textOf(env, name));
  const keyNames = Object.values(KEY_NAMES).filter((name) => textOf(env, name) !== undefined);
  const gateway = baseUrl ? "TOLLGATE_GATEWAY_URL" : apiKey && "TOLLGATE_API_KEY";
  const ways = [gateway, url && "TOLLGATE_FACILITATOR_URL", keyNames.join(" and ")];
  const named = ways.filter((name) => name !== undefined && name !== "");
  if (named.length > 1) {
    problems.add(named[0] ?? "", "contradiction", `${named.join(" and ")} are different ways to receive: keep one`);
  }
  if (named.length <= 1 && gateway && (!baseUrl || !apiKey)) {
    const missing = baseUrl ? "TOLLGATE_API_KEY" : "TOLLGATE_GATEWAY_URL";
    problems.add(missing, "required", `${gateway} alone receives nothing: set ${missing} to ${GATEWAY_FORMS[missing]}`);
  }
  const settlers = { evm: evmKeyOf(env, problems), solana: solanaKeyOf(env, problems) };
  if (problems.count > before) return "problem";
  if (baseUrl !== undefined && apiKey !== undefined) return { way: "gateway", baseUrl, apiKey };
  if (url !== undefined) return { way: "facilitator", url };
  return keyNames.length > 0 || rpcNames.length > 0 ? { way: "local", settlers } : undefined;
}

const GATEWAY_FORMS = {
  TOLLGATE_API_KEY: "a key of the gateway with the scope receive",
  TOLLGATE_GATEWAY_URL: "the gateway's base URL",
} as const;

function evmKeyOf(env: Environment, problems: Problems): `0x${string}` | undefined {
  const key = textOf(env, KEY_NAMES.evm);
  if (key === undefined) return undefined;
  if (/^0x[0-9a-f]{64}$/i.test(key)) return `0x${key.slice(2)}`;
  problems.add(KEY_NAMES.evm, "invalid", `${keyProblem(key)} (not shown)`);
  return undefined;
}

function solanaKeyOf(env: Environment, problems: Problems): string | undefined {
  const key = textOf(env, KEY_NAMES.solana);
  if (key === undefined || addressOfSecret(key) !== undefined) return key;
  problems.add(KEY_NAMES.solana, "invalid", `${solanaKeyProblem(key)} (not shown)`);
  return undefined;
}

/** The RPC URLs by CAIP-2 id. A suffix that names no network is a problem, as are two URLs for one network. */
export function rpcUrlsOf(env: Environment, problems: Problems): ReadonlyMap<string, { name: string; url: string }> {
  const urls = new Map<string, { name: string; url: string }>();
  for (const name of Object.keys(env)) {
    const url = textOf(env, name);
    if (!name.startsWith(RPC_PREFIX) || url === undefined) continue;
    const network = networkOfSuffix(name.slice(RPC_PREFIX.length));
    const other = network && urls.get(network.id);
    if (!network) {
      const meant = nearest(
        name,
        NETWORKS.map((listed) => RPC_PREFIX + environmentName(listed)[0]),
      );
      problems.add(name, "unknown_network", `its ending names no network${meant ? `: did you mean ${meant}?` : ""}`);
    } else if (other && other.url !== url) {
      problems.add(name, "contradiction", `it names the same network as ${other.name} with another URL: keep one`);
    } else if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      // An RPC URL often holds an access key, so it is not shown.
      problems.add(name, "invalid", `${urlProblem(url, "a JSON-RPC node", "https://rpc.example")} (not shown)`);
    } else {
      urls.set(network.id, { name, url });
    }
  }
  return urls;
}

const bySuffix = new Map<string, Network>();
for (const network of NETWORKS) for (const suffix of environmentName(network)) bySuffix.set(suffix, network);

/** The network of `BASE_SEPOLIA`, `EIP155_84532` and the like. */
export function networkOfSuffix(suffix: string): Network | undefined {
  return bySuffix.get(suffix) ?? findNetwork(suffix.replace(/^EIP155_/, "eip155:"));
}

/** The three ways, for messages. */
export const WAYS =
  "set receive to local({ networks: { … } }), hosted({ baseUrl, apiKey }) or facilitator({ url }); or set " +
  "TOLLGATE_RPC_URL_<NETWORK> and TOLLGATE_SETTLER_KEY_EVM or TOLLGATE_SETTLER_KEY_SOLANA, or TOLLGATE_GATEWAY_URL and " +
  "TOLLGATE_API_KEY, or TOLLGATE_FACILITATOR_URL";
