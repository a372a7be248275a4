// The options of `local()` with a gateway: read once, every problem collected with its place and its remedy. No message holds
// a key or a whole URL.
import type * as z from "zod/mini";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { suggestNetwork } from "../network-suggestion.js";
import { findNetwork, type Network } from "../networks.js";
import { mayBeSecret, NOT_SHOWN } from "../secret.js";
import {
  entriesOf,
  type LocalGatewayOptions,
  localGatewaySchema,
  type OwnWallets,
  readWallet,
  urlsSchema,
} from "./local-gateway-schema.js";
import { type LocalNetwork, pathOf } from "./local-options.js";

export type { LocalGatewayOptions } from "./local-gateway-schema.js";

/** For one call to the gateway, which asks the chain before it answers. */
export const DEFAULT_GATEWAY_MS = 5_000;

export interface LocalGatewaySettings {
  readonly options: LocalGatewayOptions;
  readonly gatewayMs: number;
  /** CAIP-2 ids; undefined where one URL serves whatever is sold on. */
  readonly networks: readonly string[] | undefined;
  /** By CAIP-2 id: the entry that `local({ networks })` would have, with the wallet as its settler. */
  find(network: string): LocalNetwork | undefined;
}

const NAMES = ["gateway", "wallet", "rpcUrl"] as const;

/** Is this form meant? */
export const isOverGateway = (input: unknown): input is LocalGatewayOptions =>
  NAMES.some((name) => memberOf(input, name) !== undefined);

/** Reads the options. Throws one PaywallConfigError with all problems. */
export function readLocalGatewayOptions(input: unknown): LocalGatewaySettings {
  const problems: ConfigProblem[] = [];
  const { networks: both, ...rest } = Object(input) as Readonly<Record<string, unknown>>;
  if (both !== undefined) {
    const message =
      "it is local() with a settler, and gateway, wallet and rpcUrl are local() with a gateway: keep one of the two";
    problems.push({ path: pathOf(["networks"]), code: "contradiction", message });
  }
  const parsed = localGatewaySchema.safeParse(rest);
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap((issue) => toProblems(issue, rest)));
  const wallet = readWallet(rest.wallet);
  const wallets = wallet.ok ? wallet.wallets : undefined;
  const urls = readUrls(rest.rpcUrl, wallets, problems);
  if (problems.length > 0 || !parsed.success || !wallets) throw new PaywallConfigError(problems);
  const options = parsed.data;
  const gatewayMs = options.gateway.timeoutMs ?? DEFAULT_GATEWAY_MS;
  return {
    options,
    gatewayMs,
    networks: urls instanceof Map ? [...urls.keys()] : undefined,
    find(id) {
      const network = findNetwork(id);
      const own = urls instanceof Map ? urls.get(id) : urls;
      return network && own && toEntry(network, own, wallets, options, gatewayMs);
    },
  };
}

/** The URLs of each network, or those of any. */
function readUrls(
  given: unknown,
  wallets: OwnWallets | undefined,
  problems: ConfigProblem[],
): ReadonlyMap<string, readonly string[]> | readonly string[] | undefined {
  const entries = entriesOf(given);
  if (!entries) {
    const parsed = urlsSchema.safeParse(given);
    return parsed.success ? [parsed.data].flat() : undefined;
  }
  const urls = new Map<string, readonly string[]>();
  const say = (name: string, code: ConfigProblem["code"], message: string) =>
    problems.push({ path: pathOf(["rpcUrl", name]), code, message });
  if (entries.length === 0) {
    problems.push({
      path: "local.rpcUrl",
      code: "required",
      message: 'expected at least one network: { base: "https://…" }',
    });
  }
  for (const [name, value] of entries) {
    const network = findNetwork(name);
    const parsed = urlsSchema.safeParse(value);
    if (!network) {
      const got = mayBeSecret(name) ? NOT_SHOWN : JSON.stringify(name);
      say(name, "unknown_network", `expected a known network or a CAIP-2 id, got ${got}: ${suggestNetwork(name)}`);
    } else if (urls.has(network.id)) {
      say(name, "contradiction", `${network.id} has a URL already: keep one of the two entries`);
    } else if (!parsed.success) {
      say(name, "invalid", parsed.error.issues.map(({ message }) => message).join("; "));
    } else {
      urls.set(network.id, [parsed.data].flat());
      if (wallets && !wallets[network.family]) {
        const message = `there is no wallet for ${network.name}: write { evm, solana }, or take its URL out of rpcUrl`;
        problems.push({ path: pathOf(["wallet", network.family]), code: "required", message });
      }
    }
  }
  return urls;
}

function toEntry(
  network: Network,
  urls: readonly string[],
  { evm, solana }: OwnWallets,
  { tokens = [], maxFeePerGas, settleMs = network.settleMs }: LocalGatewayOptions,
  gatewayMs: number,
): LocalNetwork | undefined {
  const rpcUrl = [...urls];
  // The gateway is asked within the time of the settlement.
  const time = { settleMs: settleMs + gatewayMs };
  if (network.family === "solana") {
    if (solana === undefined) return undefined;
    return { family: "solana", network, urls, settlers: [solana], options: { rpcUrl, settler: solana, ...time } };
  }
  if (evm === undefined) return undefined;
  const own = tokens.filter((token) => findNetwork(token.network)?.id === network.id);
  return {
    family: "evm",
    network: { ...network, chainId: Number(network.id.slice("eip155:".length)) },
    urls,
    settlers: [evm],
    options: {
      ...{ rpcUrl, settler: evm, ...time },
      tokens: own.map(({ address, decimals }) => ({ address, decimals })),
      ...(maxFeePerGas !== undefined && { maxFeePerGas }),
    },
  };
}

function toProblems(issue: z.core.$ZodIssue, input: unknown): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    const known =
      issue.path[0] === "gateway" ? "baseUrl, apiKey, timeoutMs" : Object.keys(localGatewaySchema.shape).join(", ");
    return issue.keys.map((key) => ({
      path: pathOf([...issue.path, key]),
      code: "unknown_option",
      message: `no such option: it has ${known}`,
    }));
  }
  const given = issue.path.reduce<unknown>((value, key) => memberOf(value, key), input);
  const code = given === undefined ? "required" : "invalid";
  const wallet = issue.path[0] === "wallet" ? readWallet(given) : undefined;
  const inner = wallet?.ok === false && wallet.family ? [wallet.family] : [];
  return [{ path: pathOf([...issue.path, ...inner]), code, message: issue.message }];
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
