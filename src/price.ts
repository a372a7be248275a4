// A price as a seller writes it, to what it costs on each network, exactly. Only the text "free" opens a route;
// whatever else cannot be read is refused with what came, what was expected and what to do.
import { PaywallError } from "./errors.js";
import { formatDecimal, parseDecimal } from "./money.js";
import { NETWORKS, type Network, type Token } from "./networks.js";
import { costOfObject } from "./price-object.js";
import { atLeastOneUnit, type PriceProblem, permit2Only, problem, show } from "./price-problem.js";
import { transferOf } from "./price-transfer.js";
import type { PaywallRequest } from "./request.js";
import { NATIVE } from "./requirement.js";

interface InAtomicUnits {
  readonly amount: string;
  /** The token contract, the mint, or `"native"`: the chain's own currency. */
  readonly asset: string;
  /** May be left out where the paywall has one network. */
  readonly network?: string;
  /** For display only, as amounts are atomic; on Solana part of the payment, and needed for a mint that is not in the table. */
  readonly decimals?: number;
}

/** A token that the buyer signs an authorization for; on Solana any mint. */
interface TokenPrice extends InAtomicUnits {
  /** The token's EIP-712 domain; needed for an EVM token that is not in the table. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** Address of the program of a mint that is not in the table, where it is Token-2022. */
  readonly tokenProgram?: string;
  readonly transferMethod?: never;
  readonly confirmations?: never;
}

/** What the buyer pays by a transaction of his own. */
type TransactionPrice = InAtomicUnits & {
  /** Blocks that must stand on it, 1 to 10,000; the route's `confirmations` by default. */
  readonly confirmations?: number;
  readonly domain?: never;
  readonly tokenProgram?: never;
} & (
    | { readonly asset: "native"; readonly transferMethod?: "transaction" }
    /** For an ERC-20 without EIP-3009. */
    | { readonly transferMethod: "transaction" }
  );

/** Any token by its address, or the chain's own currency; `amount` is in atomic units. */
export type PriceObject = TokenPrice | TransactionPrice;
/** `"$0.01"`, `"0.01 USDC"`, `"0.001 SOL"`, `"free"`, or an asset by its address. */
export type PriceChoice = string | PriceObject;
export type Price = PriceChoice | readonly PriceChoice[];
/** Runs once per request. A thrown error that carries a 4xx `status` is the buyer's, any other a 500. */
export type PriceFunction<Native = never> = (request: PaywallRequest, native: Native) => Price | Promise<Price>;

/** One way to pay a price. */
export interface Cost {
  readonly network: Network;
  /** The token contract (checksummed), the mint, or `native`. */
  readonly asset: string;
  /** Atomic units, above 0. */
  readonly amount: bigint;
  /** How the money will move. */
  readonly transfer: Transfer;
  /** For display, with `decimals`. */
  readonly symbol: string;
  readonly decimals: number;
}

export type Transfer =
  | { readonly method: "eip3009"; readonly domain: { readonly name: string; readonly version: string } }
  | { readonly method: "spl"; readonly tokenProgram?: string }
  /** `confirmations`: where the price itself names them. */
  | { readonly method: "transaction"; readonly confirmations?: number };

export type PriceResult =
  | { readonly ok: true; readonly free: true }
  | { readonly ok: true; readonly free: false; readonly costs: readonly Cost[] }
  | PriceProblem;

type Costs = { readonly ok: true; readonly costs: readonly Cost[] } | PriceProblem;

const DOLLARS = /^\$([0-9.]+)$/;
const SYMBOL = /^([0-9.]+) ([A-Za-z][A-Za-z0-9.-]*)$/;
const FORMS = 'write "$0.01", "0.01 USDC", "0.001 SOL", "free" or { amount, asset, network }';

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
  return typeof price === "object" ? costOfObject(price, networks) : costsOfText(price, networks);
}

function costsOfText(price: string, networks: readonly Network[]): Costs {
  const dollars = DOLLARS.exec(price)?.[1];
  if (dollars !== undefined) return inAssets(price, dollars, networks.map(stablecoin));

  const [, number, symbol] = SYMBOL.exec(price) ?? [];
  if (number === undefined || symbol === undefined) {
    return problem("invalid", `the price is ${show(price)}, which has no known form: ${FORMS}`);
  }
  const choices = networks.flatMap((network) => onNetwork(symbol, network));
  return choices.length > 0 ? inAssets(price, number, choices) : noSuchAsset(price, symbol, networks);
}

interface Choice {
  readonly network: Network;
  readonly asset: Token | "native" | undefined;
}

/** What `$` means on a network: the first token of its row. */
const stablecoin = (network: Network): Choice => ({ network, asset: network.tokens[0] });

/** What a symbol means on a network: a token before the chain's own currency, because some chains call both the same. */
function onNetwork(symbol: string, network: Network): readonly Choice[] {
  const tokens = network.tokens.filter((token) => token.symbol === symbol);
  if (tokens.length > 0) return tokens.map((asset) => ({ network, asset }));
  return network.native.symbol === symbol ? [{ network, asset: NATIVE }] : [];
}

/** One cost for each choice. A choice that cannot be charged is a problem, not skipped: the seller named that network. */
function inAssets(price: string, number: string, choices: readonly Choice[]): Costs {
  const costs: Cost[] = [];
  for (const { network, asset } of choices) {
    if (asset === undefined) {
      const what = `the price is ${show(price)}, but ${network.name} has no known stablecoin`;
      const more = memberOf(network);
      const remedy = `write { amount, asset, network: "${network.id}", ${more} }, or asset: "native" for the chain's own currency`;
      return problem("unknown_token", `${what}: ${remedy}`);
    }
    if (asset !== NATIVE && asset.transferMethod === "permit2") return permit2Only(asset, network);
    const { symbol, decimals } = asset === NATIVE ? network.native : asset;
    const parsed = atLeastOneUnit(parseDecimal(number, decimals), network);
    if (!parsed.ok) {
      return problem("invalid", `the price is ${show(price)}, which ${parsed.problem} (${symbol} on ${network.name})`);
    }
    const { amount } = parsed;
    costs.push({
      ...{ network, amount, symbol, decimals },
      ...(asset === NATIVE
        ? { asset: NATIVE, transfer: { method: "transaction" } }
        : { asset: asset.address, transfer: transferOf(asset) }),
    });
  }
  return { ok: true, costs };
}

function noSuchAsset(price: string, symbol: string, networks: readonly Network[]): PriceProblem {
  const names = networks.map((network) => network.name).join(", ");
  const own = NETWORKS.filter((network) => onNetwork(symbol, network).length > 0).map((network) => network.name);
  if (own.length > 0) {
    const elsewhere = own.slice(0, 4).join(", ") + (own.length > 4 ? ", …" : "");
    const what = `the price is ${show(price)}, but ${symbol} is not known on ${names}, only on ${elsewhere}`;
    return problem("unknown_token", `${what}: add such a network, or choose what is known there: ${knownOn(networks)}`);
  }
  const meant = [...networks, ...NETWORKS].flatMap(symbolsOf).find((one) => isSameWord(one, symbol));
  if (meant !== undefined) {
    const what = `the price is ${show(price)}, but ${symbol} is no symbol`;
    return problem("unknown_token", `${what}: write ${meant}, letter for letter in this case`);
  }
  const members = [...new Set(networks.map(memberOf))].join(" or ");
  const remedy = `known there: ${knownOn(networks)}; for US dollars write "$0.01", for another token { amount, asset, ${members} }`;
  return problem(
    "unknown_token",
    `the price is ${show(price)}, but ${symbol} is no known token on ${names}: ${remedy}`,
  );
}

/** What an object says of a token that we do not know. */
const memberOf = ({ family }: Network): string => (family === "solana" ? "decimals" : "domain");

const symbolsOf = ({ tokens, native }: Network): readonly string[] => [
  ...tokens.map(({ symbol }) => symbol),
  native.symbol,
];

const isSameWord = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Symbols, those of tokens first. */
function knownOn(networks: readonly Network[]): string {
  const tokens = networks.flatMap((network) => network.tokens.map(({ symbol }) => symbol));
  return [...new Set([...tokens, ...networks.map(({ native }) => native.symbol)])].join(", ");
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
