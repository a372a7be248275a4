// Reads options and environment once, at construction: schema, defaults, and every problem in one PaywallConfigError.
import { type ChosenReceiver, chooseReceiver, nothingReceivesOn } from "./choose-receiver.js";
import { createProblems, optionPath, type Problems } from "./config-problems.js";
import { checkNames, type Environment, listOf, payToOf, textOf } from "./environment.js";
import { consoleLogger, harmless } from "./logger.js";
import type { Network } from "./networks.js";
import type { OfferingReceiver } from "./offers.js";
import {
  type PaywallOptions,
  type Read,
  type RouteOptions,
  readPaywallOptions,
  readRouteOptions,
  type TableOptions,
} from "./option-schema.js";
import type { Price, PriceFunction } from "./price.js";
import { checkPrice, checkTaken } from "./price-check.js";
import { checkMeaning, type Written } from "./price-terms.js";
import type { Receiver } from "./receive/receiver.js";
import { checkTableTaken, readTable } from "./route-table.js";
import type { RouteEntry, Settings, Terms } from "./settings.js";
import { readLimits, readPublicUrl, readStore } from "./shared-settings.js";
import {
  baseOf,
  checkTimes,
  DEFAULT_TERMS,
  mergeTerms,
  type Origins,
  resolveNetworks,
  type TermsBase,
} from "./terms.js";

export type { PaywallOptions, RouteOptions, RouteTable, RouteValue, TableOptions } from "./option-schema.js";

/** Where the price of a call comes from, where it is not a table. */
export type PriceSource =
  /** `createPaywall(options)`: each `pay(price)` brings its own; TOLLGATE_PRICE may stand by. */
  | { readonly from: "later" }
  /** `paywall(price, options)`: the environment's price is not read. */
  | { readonly from: "argument"; readonly price: unknown }
  /** `paywall()`: TOLLGATE_PRICE must be set. */
  | { readonly from: "environment" };

/**
 * Complete settings from what the seller wrote and the environment, which fills whatever the options leave out. Nothing
 * is started or called.
 *
 * @throws PaywallConfigError with every problem.
 * @example resolveOptions({ payTo: "0x…", network: "base-sepolia" }, globalThis.process?.env ?? {})
 */
export function resolveOptions(input: unknown, env: Environment, price: PriceSource = { from: "later" }): Settings {
  const problems = createProblems();
  checkNames(env, problems);
  const read = readPaywallOptions(input ?? {}, problems);
  const { options } = read;
  if (!read.readable) problems.throwIfAny();
  const { base, origins } = readEnvironmentTerms(read, env, problems);
  const terms = mergeTerms(withoutShared(read), base, "", problems, origins);
  const inherited: TermsBase = terms ? baseOf(terms) : { ...base, broken: true };
  const routes = options.routes && readTable(options.routes, inherited, pathIn("routes"), problems);
  const ownPrice = options.routes ? undefined : readPrice(price, env, terms?.networks, problems);
  const publicUrl = readPublicUrl(options.publicUrl, env, problems);
  const store = readStore(options.store, env, problems);
  const logger = options.logger ? harmless(options.logger) : consoleLogger;
  const given: ChosenReceiver | undefined = options.receive && { receiver: options.receive };
  const chosen =
    given ?? (read.bad.has("receive") ? undefined : chooseReceiver(env, networksOf(terms, routes), logger, problems));
  if (terms) checkTimes(terms, settleTime(chosen?.receiver), "", problems);
  if (chosen) checkNetworks(networksOf(terms, routes), chosen.receiver, "receive", problems);
  checkTableTimes(routes ?? [], terms, settleTime(chosen?.receiver), pathIn("routes"), problems);
  if (chosen && terms) checkTaken(ownPrice, terms.networks, chosen.receiver, pricePath(price), problems);
  // Where each route brings its own price, the options are meant for many.
  if (terms && ownPrice !== undefined && price.from !== "later")
    checkMeaning(ownPrice, terms.networks, options, "", problems);
  if (chosen) checkTableTaken(routes ?? [], options.routes ?? {}, chosen.receiver, pathIn("routes"), problems);

  problems.throwIfAny();
  if (!terms || !chosen) throw new TypeError("a configuration without problems has terms and a receiver");
  return Object.freeze({
    receiver: chosen.receiver,
    store,
    logger,
    publicUrl,
    trustProxy: options.trustProxy ?? false,
    cors: options.cors,
    limits: readLimits(options.limits),
    terms,
    price: ownPrice,
    routes: routes && Object.freeze(routes),
    strict: options.strict ?? false,
    notices: Object.freeze(chosen.notice === undefined ? [] : [chosen.notice]),
    ...(chosen.testNetworksOnly ? { testNetworksOnly: true } : {}),
  });
}

/**
 * The terms of one route: its own options over those of the paywall.
 *
 * @throws PaywallConfigError with every problem, under `path`.
 */
export function resolveTerms(base: Settings | Terms, input: unknown, path: string): Terms {
  const problems = createProblems();
  const shared = "receiver" in base ? base.terms : base;
  const terms = mergeTerms(readRouteOptions(input, path, problems), baseOf(shared), path, problems);
  if (terms && "receiver" in base) checkReceives(terms, base, path, problems);
  if (terms) checkTimes(terms, settleTime("receiver" in base ? base.receiver : undefined), path, problems);
  problems.throwIfAny();
  if (!terms) throw new TypeError("options without problems have terms");
  return terms;
}

/**
 * The lines of a table given after construction, in table order.
 *
 * @throws PaywallConfigError with every problem of every line, under `path`.
 */
export function resolveTable(settings: Settings, table: unknown, path: string): readonly RouteEntry[] {
  const problems = createProblems();
  const { options } = readPaywallOptions({ routes: table ?? null }, problems);
  const entries = readTable(options.routes ?? {}, baseOf(settings.terms), pathIn(path), problems);
  for (const { key, terms } of entries) checkReceives(terms, settings, pathIn(path)(key), problems);
  checkTableTimes(entries, settings.terms, settleTime(settings.receiver), pathIn(path), problems);
  checkTableTaken(entries, options.routes ?? {}, settings.receiver, pathIn(path), problems);
  problems.throwIfAny();
  return Object.freeze(entries);
}

/**
 * A price that stands in code or in the environment, checked for the networks of its route, for who receives it, and for the
 * options that stand beside it.
 *
 * @throws PaywallConfigError with the problem of the price, under `path`, or of its `options`.
 */
export function resolvePriceArgument(
  price: unknown,
  terms: Terms,
  path: string,
  receiver: OfferingReceiver,
  written: Written = {},
): Price | PriceFunction {
  const problems = createProblems();
  const isPrice = checkPrice(price, terms.networks, path, problems);
  checkTaken(price, terms.networks, receiver, path, problems);
  checkMeaning(price, terms.networks, written, "options", problems);
  problems.throwIfAny();
  if (!isPrice) throw new TypeError("a price without problems is a price");
  return price;
}

const pricePath = ({ from }: PriceSource): string => (from === "argument" ? "price" : "TOLLGATE_PRICE");

const pathIn = (path: string) => (key: string) => optionPath(path, [key]);

const settleTime = (receiver: Receiver | undefined) => (network: Network) =>
  receiver?.settleMs(network.id) ?? network.settleMs;

type SharedRead = Read<PaywallOptions | TableOptions>;

/** What the options inherit from the environment, and the names under which it stands there. */
function readEnvironmentTerms(
  { options, bad }: SharedRead,
  env: Environment,
  problems: Problems,
): { base: TermsBase; origins: Origins } {
  const namesNetworks = ["network", "networks"].some((name) => bad.has(name)) || options.network || options.networks;
  const list = namesNetworks ? [] : listOf(textOf(env, "TOLLGATE_NETWORKS") ?? "");
  const networks = list.length > 0 ? resolveNetworks(list, () => "TOLLGATE_NETWORKS", problems) : undefined;
  const payTo = options.payTo || bad.has("payTo") ? undefined : payToOf(env, problems);
  return {
    base: { ...DEFAULT_TERMS, networks, payTo },
    origins: {
      ...(networks ? { networks: "TOLLGATE_NETWORKS" } : {}),
      ...(payTo ? { payTo: "TOLLGATE_PAY_TO" } : {}),
    },
  };
}

/** The part of shared options that is about routes. */
function withoutShared({ options, ...read }: SharedRead): Read<RouteOptions> {
  const { receive, store, logger, publicUrl, trustProxy, cors, limits, strict, routes, ...own } = options;
  return { ...read, options: own };
}

function networksOf(terms: Terms | undefined, routes: readonly RouteEntry[] | undefined): Network[] {
  const all = [...(terms?.networks ?? []), ...(routes ?? []).flatMap((entry) => entry.terms.networks)];
  return [...new Map(all.map((network) => [network.id, network])).values()];
}

/** Times of table lines; what a line inherits is reported once, at its source. */
function checkTableTimes(
  entries: readonly RouteEntry[],
  shared: Terms | undefined,
  settleMs: (network: Network) => number,
  pathOf: (key: string) => string,
  problems: Problems,
): void {
  for (const { key, terms } of entries) {
    const inherits =
      shared !== undefined &&
      terms.flow === shared.flow &&
      terms.handlerTimeoutMs === shared.handlerTimeoutMs &&
      terms.maxTimeoutSeconds === shared.maxTimeoutSeconds &&
      terms.networks.every((network) => shared.networks.includes(network));
    if (!inherits) checkTimes(terms, settleMs, pathOf(key), problems);
  }
}

/** A receiver that was set up for some networks cannot receive on others. */
function checkNetworks(networks: readonly Network[], receiver: Receiver, path: string, problems: Problems): void {
  const { networks: known, name } = receiver;
  for (const network of known ? networks.filter(({ id }) => !known.includes(id)) : []) {
    const message =
      `${name}() is not set up for ${network.name}, which is to be paid on: add ` +
      `networks: { "${network.name}": { rpcUrl, settler } } to it, or take ${network.name} out of the networks`;
    problems.add(path, "contradiction", message);
  }
}

/** What comes after the receiver was chosen may not ask for what it was not chosen for. */
function checkReceives(terms: Terms, settings: Settings, path: string, problems: Problems): void {
  checkNetworks(terms.networks, settings.receiver, optionPath(path, ["network"]), problems);
  if (!settings.testNetworksOnly) return;
  const main = terms.networks.filter(({ testnet }) => !testnet).map(({ name }) => name);
  if (main.length > 0) problems.add(optionPath(path, ["network"]), "required", nothingReceivesOn(main));
}

function readPrice(
  source: PriceSource,
  env: Environment,
  networks: readonly Network[] | undefined,
  problems: Problems,
): Price | PriceFunction | undefined {
  if (source.from === "argument")
    return checkPrice(source.price, networks, pricePath(source), problems) ? source.price : undefined;
  const price = textOf(env, "TOLLGATE_PRICE");
  if (price === undefined) {
    if (source.from === "environment") problems.add("TOLLGATE_PRICE", "required", NO_PRICE);
    return undefined;
  }
  return checkPrice(price, networks, "TOLLGATE_PRICE", problems) ? price : undefined;
}

const NO_PRICE = 'there is no price: set TOLLGATE_PRICE, for example to $0.01, or write paywall("$0.01")';
