// The options of `local()`: read once, every problem collected with its place and its remedy. No message holds a key or a
// whole RPC URL.
import type * as z from "zod/mini";
import type { Hex } from "../chains/evm/hex.js";
import type { SettlerAccount } from "../chains/evm/settlers.js";
import type { SolanaAccount } from "../chains/solana/settlers.js";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { suggestNetwork } from "../network-suggestion.js";
import { findNetwork, type Network } from "../networks.js";
import { mayBeSecret, NOT_SHOWN } from "../secret.js";
import {
  evmSchema,
  type LocalNetworkOptions,
  type LocalOptions,
  type LocalSolanaOptions,
  localSchema,
  solanaSchema,
  tokenSchema,
} from "./local-schema.js";

export type { LocalNetworkOptions, LocalOptions, LocalSolanaOptions } from "./local-schema.js";

/** One network of `local()`, its lists made lists. */
export type LocalNetwork = LocalEvmNetwork | LocalSolanaNetwork;

export interface LocalEvmNetwork {
  readonly family: "evm";
  readonly network: Network & { readonly chainId: number };
  readonly urls: readonly string[];
  readonly settlers: readonly (Hex | SettlerAccount)[];
  readonly options: LocalNetworkOptions;
}

export interface LocalSolanaNetwork {
  readonly family: "solana";
  readonly network: Network;
  readonly urls: readonly string[];
  /** The first one pays the network fee. */
  readonly settlers: readonly (string | SolanaAccount)[];
  readonly options: LocalSolanaOptions;
}

/** Reads the options. Throws one PaywallConfigError with all problems. */
export function readLocalOptions(input: unknown): { options: LocalOptions; networks: readonly LocalNetwork[] } {
  const outer = localSchema.safeParse(input);
  const problems: ConfigProblem[] = [];
  const networks = new Map<string, LocalNetwork>();
  const entries = Object.entries(outer.success ? outer.data.networks : entriesOf(input));
  for (const [key, entry] of entries) readEntry(key, entry, networks, problems);
  if (!outer.success) problems.push(...outer.error.issues.flatMap((issue) => toProblems(issue, input, [])));
  if (outer.success && entries.length === 0) {
    const message = 'expected at least one network, for example { "base-sepolia": { rpcUrl, settler } }';
    problems.push({ path: pathOf(["networks"]), code: "required", message });
  }
  if (problems.length > 0 || !outer.success) throw new PaywallConfigError(problems);
  const options = Object.fromEntries([...networks].map(([id, one]) => [id, one.options]));
  return { options: { ...outer.data, networks: options }, networks: [...networks.values()] };
}

/** Entries that can be judged although something beside them is wrong. */
function entriesOf(input: unknown): Record<string, object> {
  const given = valueAt(input, ["networks"]);
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {};
  const isEntry = (one: [string, unknown]): one is [string, object] =>
    typeof one[1] === "object" && one[1] !== null && !Array.isArray(one[1]);
  return Object.fromEntries(Object.entries(given).filter(isEntry));
}

function readEntry(key: string, entry: object, known: Map<string, LocalNetwork>, problems: ConfigProblem[]): void {
  const id: unknown = Reflect.get(entry, "id");
  const name = typeof id === "string" ? id : key;
  const network = findNetwork(name);
  const problem = id === undefined || typeof id === "string" ? problemOf(network, name, known) : undefined;
  if (problem) {
    problems.push({ path: pathOf(["networks", key]), ...problem });
    return;
  }
  const read = readNetwork(network, entry);
  if (Array.isArray(read)) problems.push(...read.flatMap((issue) => toProblems(issue, entry, ["networks", key])));
  else known.set(read.network.id, read);
}

/** By the schema of its family. */
function readNetwork(network: Network | undefined, entry: object): LocalNetwork | z.core.$ZodIssue[] {
  if (network?.family === "solana") {
    const { success, data, error } = solanaSchema.safeParse(entry);
    if (!success) return error.issues;
    return { family: "solana", network, urls: [data.rpcUrl].flat(), settlers: [data.settler].flat(), options: data };
  }
  const { success, data, error } = evmSchema.safeParse(entry);
  if (!success) return error.issues;
  if (!network) throw new TypeError("an entry without a network has a problem");
  const chainId = Number(network.id.slice("eip155:".length));
  return {
    family: "evm",
    network: { ...network, chainId },
    urls: [data.rpcUrl].flat(),
    settlers: [data.settler].flat(),
    options: data,
  };
}

function problemOf(
  network: Network | undefined,
  name: string,
  known: ReadonlyMap<string, unknown>,
): Omit<ConfigProblem, "path"> | undefined {
  if (!network) {
    const got = mayBeSecret(name) ? NOT_SHOWN : JSON.stringify(name);
    const message = `expected a known network or a CAIP-2 id such as "eip155:84532", got ${got}: ${suggestNetwork(name)}`;
    return { code: "unknown_network", message };
  }
  return known.has(network.id)
    ? { code: "contradiction", message: `${network.id} is configured twice: keep one of the two entries` }
    : undefined;
}

/** The members that exist at a place, where another one was found. */
function membersAt(input: unknown, place: readonly PropertyKey[]): string {
  if (place.length === 0) return Object.keys(localSchema.shape).join(", ");
  if (place.length > 2) return Object.keys(tokenSchema.shape).join(", ");
  const [, key] = place;
  const id = valueAt(input, ["id"]);
  const network = findNetwork(typeof id === "string" ? id : String(key));
  return Object.keys((network?.family === "solana" ? solanaSchema : evmSchema).shape).join(", ");
}

/** `above`: where the input stands. */
function toProblems(issue: z.core.$ZodIssue, input: unknown, above: readonly PropertyKey[]): ConfigProblem[] {
  const place = [...above, ...issue.path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: pathOf([...place, key]),
      code: "unknown_option",
      message: `no such option: it has ${membersAt(input, place)}`,
    }));
  }
  const code = valueAt(input, issue.path) === undefined ? "required" : "invalid";
  return [{ path: pathOf(place), code, message: issue.message }];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}

/** A place in the options of `local()`; a key in it that may be a secret is not shown. */
export function pathOf(keys: readonly PropertyKey[]): string {
  let path = "local";
  for (const key of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else if (mayBeSecret(String(key))) path += "[(not shown)]";
    else if (/^[A-Za-z_]\w*$/.test(String(key))) path += `.${String(key)}`;
    else path += `[${JSON.stringify(String(key))}]`;
  }
  return path;
}
