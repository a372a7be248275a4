// What one route asks for beside its price: networks, addresses, flow and times, from its own options and the shared ones.
import { toPassTerms } from "./access.js";
import { optionPath, type Problems, show } from "./config-problems.js";
import { suggestNetwork } from "./network-suggestion.js";
import { findNetwork, type Network } from "./networks.js";
import type { Read, RouteOptions } from "./option-schema.js";
import { type PayTo, resolvePayTo } from "./payees.js";
import type { Terms } from "./settings.js";

/** What a route inherits where it says nothing. */
export type TermsBase = Omit<Terms, "networks" | "payTo" | "payToAsWritten"> & {
  readonly networks: readonly Network[] | undefined;
  readonly payTo: PayTo | undefined;
  /** The shared networks or addresses are wrong, which is reported already: what inherits them is not reported again. */
  readonly broken?: boolean;
};

export const DEFAULT_TERMS: TermsBase = Object.freeze({
  networks: undefined,
  payTo: undefined,
  flow: "authorization",
  description: "",
  // An offer always names a type, and most answers that are sold are JSON. Source: protocol §9.19.
  mimeType: "application/json",
  maxTimeoutSeconds: 60,
  handlerTimeoutMs: 30_000,
  confirmations: 1,
  replayMs: 60_000,
});

/** Where the values that the environment filled in came from, for the paths of problems. */
export interface Origins {
  readonly networks?: string;
  readonly payTo?: string;
}

/**
 * Networks by their names. An unknown name and one that is given twice are problems and are left out.
 */
export function resolveNetworks(
  names: readonly string[],
  pathOf: (index: number) => string,
  problems: Problems,
): Network[] {
  const networks: Network[] = [];
  for (const [index, name] of names.entries()) {
    const path = pathOf(index);
    const network = findNetwork(name);
    if (!network) {
      problems.add(path, "unknown_network", `there is no network ${show(name)}: ${suggestNetwork(name)}`);
    } else if (networks.includes(network)) {
      problems.add(path, "contradiction", `${show(name)} is a network that is listed already: leave it out`);
    } else {
      networks.push(network);
    }
  }
  return networks;
}

/** What the routes of these terms inherit. */
export function baseOf(terms: Terms): TermsBase {
  return { ...terms, payTo: terms.payToAsWritten ?? terms.payTo };
}

/** Merges the options of a route into what it inherits; undefined where its networks or addresses are missing or wrong. */
export function mergeTerms(
  { options, bad }: Read<RouteOptions>,
  base: TermsBase,
  path: string,
  problems: Problems,
  origins: Origins = {},
): Terms | undefined {
  const before = problems.count;
  const own = ownNetworks(options, path, problems);
  const networks = own ?? base.networks;
  const payTo = options.payTo ?? base.payTo;
  const place = (name: "payTo" | "networks") =>
    (options[name] === undefined && origins[name]) || optionPath(path, [name]);
  const unread = bad.has("payTo") || bad.has("network") || bad.has("networks");
  if (!networks && !unread && !base.broken) problems.add(place("networks"), "required", NO_NETWORK);
  if (!payTo && !unread && !base.broken) problems.add(place("payTo"), "required", NO_PAYEE);
  const inheritsBroken = base.broken && options.payTo === undefined;
  const addresses = payTo && !inheritsBroken ? resolvePayTo(payTo, networks ?? [], place("payTo"), problems) : {};
  if (!networks || !payTo || unread || inheritsBroken || problems.count > before) return undefined;
  return Object.freeze({
    networks: Object.freeze([...networks]),
    payTo: Object.freeze(addresses),
    payToAsWritten: payTo,
    flow: options.flow ?? base.flow,
    description: options.description ?? base.description,
    mimeType: options.mimeType ?? base.mimeType,
    maxTimeoutSeconds: options.maxTimeoutSeconds ?? base.maxTimeoutSeconds,
    handlerTimeoutMs: options.handlerTimeoutMs ?? base.handlerTimeoutMs,
    confirmations: options.confirmations ?? base.confirmations,
    replayMs: options.replay === undefined ? base.replayMs : options.replay * 1000,
    pass: options.access === undefined ? base.pass : toPassTerms(options.access),
    page: options.page ?? base.page,
  });
}

const NO_NETWORK = "no network is named: set network, networks or TOLLGATE_NETWORKS";
const NO_PAYEE = "nobody is named to be paid: set payTo or TOLLGATE_PAY_TO to your address";

function ownNetworks(options: RouteOptions, path: string, problems: Problems): readonly Network[] | undefined {
  if (options.networks) return resolveNetworks(options.networks, (i) => optionPath(path, ["networks", i]), problems);
  return options.network === undefined
    ? undefined
    : resolveNetworks([options.network], () => optionPath(path, ["network"]), problems);
}

/**
 * With `authorization` the handler runs while the buyer's signature is ageing: it must end, and the money must be taken,
 * before the signature expires. With `upfront` the money alone: on Solana a transaction's own life decides, and nobody waits.
 */
export function checkTimes(
  terms: Terms,
  settleMs: (network: Network) => number,
  path: string,
  problems: Problems,
): void {
  const isUpfront = terms.flow === "upfront";
  const left = (network: Network) => lifetimeMs(terms, network) - settleMs(network);
  const judged = terms.networks.filter(({ family }) => !isUpfront || family === "evm");
  // The strictest one: what fits there fits everywhere.
  const late = judged.sort((a, b) => left(a) - left(b))[0];
  const handler = isUpfront ? 0 : terms.handlerTimeoutMs;
  if (!late || handler <= left(late)) return;
  const [settle, lifetime] = [settleMs(late), lifetimeMs(terms, late)];
  const enough = `set it to ${Math.ceil((handler + settle) / 1000)} or more`;
  if (isUpfront) {
    const message = `${settle} ms to settle on ${late.name} do not fit in maxTimeoutSeconds ${terms.maxTimeoutSeconds}: ${enough}`;
    problems.add(optionPath(path, ["maxTimeoutSeconds"]), "contradiction", message);
    return;
  }
  const numbers = `handlerTimeoutMs ${handler} and ${settle} ms to settle on ${late.name} do not fit in`;
  const fits = lifetime - settle;
  const lower = fits > 0 ? `lower handlerTimeoutMs to ${fits} or less` : "leave more time";
  const upfront = 'set flow to "upfront"';
  const message =
    lifetime < terms.maxTimeoutSeconds * 1000
      ? `${numbers} the ${lifetime} ms that a transaction of Solana lives, whatever maxTimeoutSeconds says: ${lower}, or ${upfront}`
      : `${numbers} maxTimeoutSeconds ${terms.maxTimeoutSeconds}: ${enough}, ${lower}, or ${upfront}`;
  problems.add(optionPath(path, ["handlerTimeoutMs"]), "contradiction", message);
}

/** A blockhash is good for 150 blocks. */
const BLOCKHASH_MS = 60_000;

/** How long a payment can be settled after it was signed. */
const lifetimeMs = ({ maxTimeoutSeconds }: Terms, { family }: Network): number =>
  family === "solana" ? Math.min(maxTimeoutSeconds * 1000, BLOCKHASH_MS) : maxTimeoutSeconds * 1000;
