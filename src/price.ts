// A price as a seller writes it, to what it costs on each network, exactly. Only the text "free" opens a route;
// whatever else cannot be read is refused with what came, what was expected and what to do.
import { PaywallError } from "./errors.js";
import { formatDecimal, parseDecimal } from "./money.js";
import { NETWORKS, type Network, type Token } from "./networks.js";
import { costOfObject } from "./price-object.js";
import { atLeastOneUnit, type PriceProblem, permit2Only, problem, show } from "./price-problem.js";
import type { PaywallRequest } from "./request.js";

/** Any token by its address; `amount` is in atomic units. */
export interface PriceObject {
  readonly amount: string;
  /** The token contract. */
  readonly asset: string;
  /** May be left out where the paywall has one network. */
  readonly network?: string;
  /** For display only: amounts are atomic. */
  readonly decimals?: number;
  /** The token's EIP-712 domain; needed for a token that is not in the table. */
  readonly domain?: { readonly name: string; readonly version: string };
}
/** `"$0.01"`, `"0.01 USDC"`, `"free"`, or a token by its address. */
export type PriceChoice = string | PriceObject;
export type Price = PriceChoice | readonly PriceChoice[];
/** Runs once per request. A thrown error that carries a 4xx `status` is the buyer's, any other a 500. */
export type PriceFunction<Native = never> = (request: PaywallRequest, native: Native) => Price | Promise<Price>;

/** One way to pay a price. */
export interface Cost {
  readonly network: Network;
  /** The token contract, checksummed. */
  readonly asset: string;
  /** Atomic units, above 0. */
  readonly amount: bigint;
  readonly domain: { readonly name: string; readonly version: string };
  /** For display, with `decimals`. */
  readonly symbol: string;
  readonly decimals: number;
}

export type PriceResult =
  | { readonly ok: true; readonly free: true }
  | { readonly ok: true; readonly free: false; readonly costs: readonly Cost[] }
  | PriceProblem;

type Costs = { readonly ok: true; readonly costs: readonly Cost[] } | PriceProblem;

const DOLLARS = /^\$([0-9.]+)$/;
const SYMBOL = /^([0-9.]+) ([A-Za-z][A-Za-z0-9.-]*)$/;
const FORMS = 'write "$0.01", "0.01 USDC", "free" or { amount, asset, network }';

/**
 * Reads a price, given in options or returned by a price function, for the networks of its route.
 *
 * @example resolvePrice("$0.01", [base]) // { ok: true, free: false, costs: [{ amount: 10000n, … }] }
 */
export function resolvePrice(price: unknown, networks: readonly Network[]): PriceResult {
  if (price === "free") return { ok: true, free: true };
  const resolved = Array.isArray(price) ? costsOfList(price, networks) : costsOf(price, networks);
  return resolved.ok ? { ok: true, free: false, costs: resolved.costs } : resolved;
}

function costsOfList(prices: readonly unknown[], networks: readonly Network[]): Costs {
  if (prices.length === 0) return problem("invalid", `the price is an empty list: ${FORMS}`);
  const costs: Cost[] = [];
  const seen = new Set<string>();
  for (const [index, price] of prices.entries()) {
    const resolved = price === "free" ? problem("contradiction", freeInList) : costsOf(price, networks);
    if (!resolved.ok) return problem(resolved.code, `choice ${index + 1}: ${resolved.problem}`);
    for (const cost of resolved.costs) {
      const key = `${cost.network.id}/${cost.asset}`;
      if (seen.has(key)) {
        const what = `choice ${index + 1}: ${cost.symbol} on ${cost.network.name} has a price already`;
        return problem("contradiction", `${what}: leave one of the two out`);
      }
      seen.add(key);
      costs.push(cost);
    }
  }
  return { ok: true, costs };
}

const freeInList = 'the price is "free" beside others: write "free" alone to open the route, or leave it out';

function costsOf(price: unknown, networks: readonly Network[]): Costs {
  if (price === undefined) return problem("required", `there is no price: ${FORMS}`);
  if (typeof price !== "string" && (typeof price !== "object" || price === null || Array.isArray(price))) {
    return problem("invalid", `the price is ${show(price)}, which is not a text or an object: ${FORMS}`);
  }
  if (networks.length === 0) return problem("required", "the price has no network to be paid on: name one");
  const solana = networks.find((network) => network.family === "solana");
  if (solana) return problem("not_available_yet", `${solana.name} cannot be charged on yet: choose EVM networks`);
  return typeof price === "object" ? costOfObject(price, networks) : costsOfText(price, networks);
}

function costsOfText(price: string, networks: readonly Network[]): Costs {
  const dollars = DOLLARS.exec(price)?.[1];
  if (dollars !== undefined) return inTokens(price, dollars, networks.map(stablecoin));

  const [, number, symbol] = SYMBOL.exec(price) ?? [];
  if (number === undefined || symbol === undefined) {
    return problem("invalid", `the price is ${show(price)}, which has no known form: ${FORMS}`);
  }
  const choices = networks.flatMap((network) =>
    network.tokens.filter((token) => token.symbol === symbol).map((token) => ({ network, token })),
  );
  return choices.length > 0 ? inTokens(price, number, choices) : noSuchToken(price, symbol, networks);
}

interface Choice {
  readonly network: Network;
  readonly token: Token | undefined;
}

/** What `$` means on a network: the first token of its row. */
const stablecoin = (network: Network): Choice => ({ network, token: network.tokens[0] });

/** One cost for each choice. A choice that cannot be charged is a problem, not skipped: the seller named that network. */
function inTokens(price: string, number: string, choices: readonly Choice[]): Costs {
  const costs: Cost[] = [];
  for (const { network, token } of choices) {
    if (!token) {
      const what = `the price is ${show(price)}, but ${network.name} has no known stablecoin`;
      return problem("unknown_token", `${what}: write { amount, asset, network: "${network.id}", domain }`);
    }
    if (token.transferMethod !== "eip3009") return permit2Only(token, network);
    const parsed = atLeastOneUnit(parseDecimal(number, token.decimals));
    if (!parsed.ok) {
      return problem(
        "invalid",
        `the price is ${show(price)}, which ${parsed.problem} (${token.symbol} on ${network.name})`,
      );
    }
    const { address: asset, domain, symbol, decimals } = token;
    costs.push({ network, asset, amount: parsed.amount, domain, symbol, decimals });
  }
  return { ok: true, costs };
}

function noSuchToken(price: string, symbol: string, networks: readonly Network[]): PriceProblem {
  if (isNativeCurrency(symbol)) {
    return problem(
      "not_available_yet",
      `the price is ${show(price)}, but ${symbol} cannot be charged yet: use a stablecoin`,
    );
  }
  const known = [...new Set(networks.flatMap((network) => network.tokens.map((token) => token.symbol)))].join(", ");
  const names = networks.map((network) => network.name).join(", ");
  const remedy = `known there: ${known || "none"}; for US dollars write "$0.01", for another token { amount, asset, domain }`;
  return problem(
    "unknown_token",
    `the price is ${show(price)}, but ${symbol} is no known token on ${names}: ${remedy}`,
  );
}

/** Some chains name their own currency as others name a token; then the token is meant. */
function isNativeCurrency(symbol: string): boolean {
  const isToken = NETWORKS.some((network) => network.tokens.some((token) => token.symbol === symbol));
  return !isToken && NETWORKS.some((network) => network.native.symbol === symbol);
}

/**
 * Multiplies a price exactly, which `${0.002 * n}` does not. The factor is a whole number from 0; a product of 0 is
 * refused where the price is used.
 *
 * @example times("$0.002", 3) // "$0.006"
 * @throws PaywallError `price_invalid` for a price without an amount or another factor.
 */
export function times(price: string, factor: bigint | number): string {
  const whole = typeof factor === "bigint" || Number.isSafeInteger(factor) ? BigInt(factor) : -1n;
  if (whole < 0n) {
    throw new PaywallError("price_invalid", { expected: "a whole factor from 0", got: show(factor) });
  }
  const [, dollars] = DOLLARS.exec(price) ?? [];
  const [, number = dollars, symbol] = SYMBOL.exec(price) ?? [];
  const decimals = number?.split(".")[1]?.length ?? 0;
  const parsed = number === undefined ? undefined : parseDecimal(number, decimals);
  if (!parsed?.ok) {
    throw new PaywallError("price_invalid", { expected: 'a price such as "$0.01" or "0.01 USDC"', got: show(price) });
  }
  const product = formatDecimal(parsed.amount * whole, decimals);
  return symbol === undefined ? `$${product}` : `${product} ${symbol}`;
}
