// Reads the options of `payingFetch()` once, at construction: schema, defaults, and every problem in one PaywallConfigError.
// Nothing is asked over the network, and no wallet is used.
import { createProblems, optionPath, type Problems, show } from "../config-problems.js";
import { suggestNetwork } from "../network-suggestion.js";
import { checksumAddress, findNetwork, isAddressOf } from "../networks.js";
import { createBudget } from "./budget.js";
import { readScopes } from "./budget-options.js";
import { readHost } from "./host-name.js";
import { memoryBuyerStore } from "./memory-store.js";
import { checkOptions, memberOf, type PayingFetchOptions } from "./option-schema.js";
import type { BuyerSettings } from "./settings.js";
import { wait } from "./wait.js";

export type { Cap, Caps } from "./caps.js";
export type { PayingFetchOptions } from "./option-schema.js";

/** With the growing pauses longer than the 15 s after which another process takes over what a dead one had begun. */
const RESEND_TIMES = 7;

/** Time as the buyer sees it; tests bring their own. */
export type BuyerClock = Pick<BuyerSettings, "now" | "wait">;

/**
 * Complete settings.
 *
 * @throws PaywallConfigError with every problem: where it stands, what was expected, what came, what to do.
 */
export function readOptions(
  options: PayingFetchOptions,
  clock: BuyerClock = { now: () => Date.now(), wait },
): BuyerSettings {
  const problems = createProblems("buyer");
  checkOptions(options, problems);
  // Read one by one from what was given, so that one wrong option does not hide what is wrong with the others.
  const scopes = readScopes(memberOf(options, "budget"), "budget", problems);
  const networks = readNetworks(options, "networks", problems);
  const preferred = readNetworks(options, "prefer", problems) ?? [];
  checkPreferred(preferred, networks, problems);
  const hosts = readHosts(options, "hosts", "https:", problems);
  const allowHttp = readHosts(options, "allowHttp", "http:", problems) ?? new Set();
  const payTo = readPins(memberOf(options, "payTo"), problems);
  const fetch = memberOf(options, "fetch") ?? globalThis.fetch;
  if (typeof fetch !== "function") problems.add("fetch", "required", "this runtime has no fetch: bring one");
  problems.throwIfAny();

  const { wallets, store, maxValiditySeconds, maxBodyBytes, resend, breaker, approve, onPayment, onEvent } = options;
  return Object.freeze<BuyerSettings>({
    wallets: Object.freeze([...wallets]),
    budget: createBudget(scopes),
    store: store ?? memoryBuyerStore(),
    preferred,
    networks: networks && new Set(networks),
    hosts,
    allowHttp,
    payTo,
    maxValidityMs: (maxValiditySeconds ?? 600) * 1000,
    maxBodyBytes: maxBodyBytes ?? 1_048_576,
    resend: { times: resend?.times ?? RESEND_TIMES, maxDelayMs: resend?.maxDelayMs ?? 10_000 },
    breaker: { failures: breaker?.failures ?? 3, windowMs: breaker?.windowMs ?? 60_000 },
    // Taken now, lest a program that puts its paying fetch in the place of the global one asks itself; and called without a
    // `this`, which browsers refuse.
    fetch: unbound(options.fetch ?? globalThis.fetch),
    approve,
    onPayment,
    onEvent,
    ...clock,
  });
}

type Fetch = typeof globalThis.fetch;
const unbound =
  (fetch: Fetch): Fetch =>
  (...given) =>
    fetch(...given);

const isText = (value: unknown): value is string => typeof value === "string";
/** What can be read of a list; that the rest is no text was reported by the schema. */
const textsOf = (list: unknown): readonly (readonly [index: number, text: string])[] =>
  Array.isArray(list) ? [...list.entries()].filter((entry): entry is [number, string] => isText(entry[1])) : [];

/** CAIP-2 ids in the order given, each once; undefined where the option is not there. */
function readNetworks(options: unknown, name: string, problems: Problems): readonly string[] | undefined {
  const given = memberOf(options, name);
  if (given === undefined) return undefined;
  const ids = textsOf(given).flatMap(([index, text]) => {
    const network = findNetwork(text);
    if (network) return [network.id];
    const message = `${show(text)} is no known network: ${suggestNetwork(text)}`;
    problems.add(optionPath(name, [index]), "unknown_network", message);
    return [];
  });
  return Object.freeze([...new Set(ids)]);
}

function checkPreferred(
  preferred: readonly string[],
  allowed: readonly string[] | undefined,
  problems: Problems,
): void {
  const never = preferred.filter((id) => allowed && !allowed.includes(id)).map((id) => findNetwork(id)?.name ?? id);
  if (never.length === 0) return;
  const message = `${never.join(", ")} is preferred and not among the networks that may be paid on: add it to networks, or leave it out`;
  problems.add("prefer", "contradiction", message);
}

function readHosts(
  options: unknown,
  name: string,
  protocol: "https:" | "http:",
  problems: Problems,
): ReadonlySet<string> | undefined {
  const given = memberOf(options, name);
  if (given === undefined) return undefined;
  const hosts = textsOf(given).flatMap(([index, text]) => {
    const read = readHost(text, protocol);
    if (read.ok) return [read.host];
    problems.add(optionPath(name, [index]), "invalid", `${read.problem}; got ${show(text)}`);
    return [];
  });
  return new Set(hosts);
}

/** The pinned addresses by host, EVM addresses with their checksum. */
function readPins(given: unknown, problems: Problems): ReadonlyMap<string, ReadonlySet<string>> {
  const pins = new Map<string, ReadonlySet<string>>();
  for (const [name, pinned] of Object.entries(Object(given))) {
    const at = optionPath("payTo", [name]);
    const read = readHost(name);
    if (!read.ok) problems.add(at, "invalid", read.problem);
    else if (pins.has(read.host)) problems.add(at, "contradiction", `${read.host} stands there twice: keep one`);
    else pins.set(read.host, new Set(readAddresses(pinned, at, problems)));
  }
  return pins;
}

function readAddresses(given: unknown, path: string, problems: Problems): readonly string[] {
  return textsOf(isText(given) ? [given] : given).flatMap(([index, text]) => {
    if (isAddressOf("evm", text)) return [checksumAddress(text)];
    if (isAddressOf("solana", text)) return [text];
    const at = isText(given) ? path : optionPath(path, [index]);
    const forms = "0x and 40 hex digits with a right checksum, or base58 of 32 bytes";
    problems.add(at, "invalid", `expected the seller's address (${forms}); got ${show(text)}`);
    return [];
  });
}
