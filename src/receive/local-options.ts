// The options of `local()`: read once, every problem collected with its place and its remedy. No message holds a key or a
// whole RPC URL.
import * as z from "zod/mini";
import { type Hex, isHex } from "../chains/evm/hex.js";
import type { SettlerAccount } from "../chains/evm/settlers.js";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { findNetwork, isAddressOf, type Network } from "../networks.js";
import { mayBeSecret, NOT_SHOWN } from "../secret.js";
import type { Logger } from "../settings.js";
import { keyProblem, urlProblem } from "./option-words.js";

const isUrl = (value: unknown): value is string =>
  typeof value === "string" && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
const url = z.custom<string>(isUrl, {
  error: ({ input }) => urlProblem(input, "a JSON-RPC node", "https://rpc.example"),
});
const address = z
  .string("expected an address")
  .check(
    z.refine((value) => isAddressOf("evm", value), "expected 0x and 40 hex digits (check the mixed-case checksum)"),
  );

const isAccount = (value: unknown): value is SettlerAccount =>
  typeof value === "object" &&
  value !== null &&
  isHex(Reflect.get(value, "address"), 20) &&
  typeof Reflect.get(value, "signTransaction") === "function";

const settler = z.custom<Hex | SettlerAccount>((value) => isHex(value, 32) || isAccount(value), {
  error: ({ input }) => keyProblem(input),
});

const listOf = <T extends z.ZodMiniType>(item: T, what: string) =>
  z.union([item, z.array(item).check(z.minLength(1, `expected at least one ${what}, got an empty list`))], {
    error: (issue) => formProblem(issue.input, issue.errors) ?? `expected one ${what} or a list of them`,
  });

const issuesOfForms = z.array(z.array(z.object({ message: z.string(), path: z.array(z.unknown()) })));

/** The first problem that the form which was written has: one value, or a list of them. */
function formProblem(input: unknown, errors: unknown): string | undefined {
  const forms = issuesOfForms.safeParse(errors);
  const [issue] = (forms.success && forms.data[Array.isArray(input) ? 1 : 0]) || [];
  const [index] = issue?.path ?? [];
  return issue && (typeof index === "number" ? `entry ${index + 1}: ${issue.message}` : issue.message);
}

const networkSchema = z.strictObject({
  /** CAIP-2, where the key is a name of your own: see `evm()`. */
  id: z.optional(z.string("expected a CAIP-2 id")),
  rpcUrl: listOf(url, "RPC URL"),
  settler: listOf(settler, "settler"),
  /** ERC-6492 factories that may deploy a buyer's wallet at your cost; empty by default. */
  eip6492Factories: z.optional(z.array(address, "expected a list of addresses")),
  /** Tokens beyond the built-in table, for the start-up check of their decimals. */
  tokens: z.optional(
    z.array(
      z.object({ address, decimals: z.int("expected a whole number").check(z.minimum(0), z.maximum(77)) }),
      "expected a list of { address, decimals }",
    ),
  ),
  /** Wei. */
  maxFeePerGas: z.optional(z.bigint("expected a bigint of wei").check(z.positive())),
  /** Milliseconds between blocks, for chains beyond the built-in table. */
  blockMs: z.optional(z.int("expected whole milliseconds").check(z.minimum(1, "expected at least 1 ms"))),
});

const optionsSchema = z.strictObject({
  networks: z.record(z.string(), networkSchema, "expected { [network]: { rpcUrl, settler } }"),
  /** Milliseconds for one call to a node, 3,000. */
  timeoutMs: z.optional(z.int("expected whole milliseconds").check(z.minimum(100, "expected at least 100 ms"))),
  logger: z.optional(z.custom<Logger>((value) => typeof value === "object" && value !== null, "expected a logger")),
});

export type LocalOptions = z.infer<typeof optionsSchema>;
export type LocalNetworkOptions = z.infer<typeof networkSchema>;

/** One network of `local()`, every default filled in. */
export interface LocalNetwork {
  readonly network: Network & { readonly chainId: number };
  readonly urls: readonly string[];
  readonly settlers: readonly (Hex | SettlerAccount)[];
  readonly options: LocalNetworkOptions;
}

/** Reads the options. Throws one PaywallConfigError with all problems. */
export function readLocalOptions(input: unknown): { options: LocalOptions; networks: readonly LocalNetwork[] } {
  const parsed = optionsSchema.safeParse(input);
  if (!parsed.success) throw new PaywallConfigError(parsed.error.issues.flatMap((issue) => toProblems(issue, input)));
  const problems: ConfigProblem[] = [];
  const networks = new Map<string, LocalNetwork>();
  for (const [key, options] of Object.entries(parsed.data.networks)) {
    const network = findNetwork(options.id ?? key);
    const path = pathOf(["networks", key]);
    const problem = problemOf(network, options.id ?? key, networks);
    if (problem) problems.push({ path, ...problem });
    else if (network) networks.set(network.id, toLocal(network, options));
  }
  if (networks.size === 0 && problems.length === 0) {
    const message = 'expected at least one network, for example { "base-sepolia": { rpcUrl, settler } }';
    problems.push({ path: pathOf(["networks"]), code: "required", message });
  }
  if (problems.length > 0) throw new PaywallConfigError(problems);
  return { options: parsed.data, networks: [...networks.values()] };
}

function problemOf(
  network: Network | undefined,
  name: string,
  known: ReadonlyMap<string, unknown>,
): Omit<ConfigProblem, "path"> | undefined {
  if (!network) {
    const message = `expected a known network or a CAIP-2 id such as "eip155:84532", got ${mayBeSecret(name) ? NOT_SHOWN : JSON.stringify(name)}`;
    return { code: "unknown_network", message };
  }
  if (network.family !== "evm") {
    return { code: "not_available_yet", message: `local() settles on EVM chains only so far, got ${network.id}` };
  }
  return known.has(network.id)
    ? { code: "contradiction", message: `${network.id} is configured twice: keep one of the two entries` }
    : undefined;
}

function toLocal(network: Network, options: LocalNetworkOptions): LocalNetwork {
  const { rpcUrl, settler } = options;
  return {
    network: { ...network, chainId: Number(network.id.slice("eip155:".length)) },
    urls: Array.isArray(rpcUrl) ? rpcUrl : [rpcUrl],
    settlers: Array.isArray(settler) ? settler : [settler],
    options,
  };
}

function toProblems(issue: z.core.$ZodIssue, input: unknown): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys((issue.path.length === 0 ? optionsSchema : networkSchema).shape).join(", ");
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, key]),
      code: "unknown_option",
      message: `no such option: it has ${known}`,
    }));
  }
  const code = valueAt(input, issue.path) === undefined ? "required" : "invalid";
  return [{ path: pathOf(issue.path), code, message: issue.message }];
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    input,
  );
}

function pathOf(keys: readonly PropertyKey[]): string {
  let path = "local";
  for (const key of keys) {
    if (typeof key === "number") path += `[${key}]`;
    else if (mayBeSecret(String(key))) path += "[(not shown)]";
    else if (/^[A-Za-z_]\w*$/.test(String(key))) path += `.${String(key)}`;
    else path += `[${JSON.stringify(String(key))}]`;
  }
  return path;
}
