// Amounts of a budget as a person writes them: "$0.10", "0.001 SOL", or a token by its address. One asset has one way of being
// written, so that it is counted in one unit only. Whatever else comes is a problem that says what to write.
import { optionPath, type Problems, show } from "../config-problems.js";
import { parseDecimal } from "../money.js";
import { NETWORKS } from "../networks.js";
import { suggestion } from "../suggestion.js";
import { type CapObject, readCapObject } from "./cap-object.js";
import { DOLLARS, dollars, hasSharedSymbol, native, SCALE, type Unit } from "./unit.js";

/** `"$0.10"`: all dollar stablecoins of our own table together. `"0.001 SOL"`: a native currency, on all its networks. */
export type Cap = string | CapObject;
/** One amount, or one for each kind of money. */
export type Caps = Cap | readonly Cap[];

/** An amount as it is counted. */
export interface Amount {
  readonly unit: Unit;
  /** In the unit's smallest part. */
  readonly amount: bigint;
}

/** One amount with the place where it stands. */
export interface ReadCap extends Amount {
  readonly path: string;
}

const FORMS = 'write "$0.10", "0.001 SOL", or { amount, asset, network } for another token';

/** The amounts by unit. What cannot be read is a problem and missing; so is a second amount of a unit. */
export function readCaps(given: unknown, path: string, problems: Problems): ReadonlyMap<string, ReadCap> {
  const caps = new Map<string, ReadCap>();
  if (given === undefined) return caps;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0) problems.add(path, "invalid", `the list is empty: ${FORMS}`);
  for (const [index, one] of list.entries()) {
    const at = Array.isArray(given) ? optionPath(path, [index]) : path;
    const read = readCap(one, at, problems);
    const other = read && caps.get(read.unit.id);
    if (other) {
      const message = `${other.unit.format(other.amount)} stands in the list already: keep one of the two`;
      problems.add(at, "contradiction", message);
    } else if (read) caps.set(read.unit.id, { ...read, path: at });
  }
  return caps;
}

function readCap(given: unknown, path: string, problems: Problems): Amount | undefined {
  if (typeof given === "string") return readText(given, path, problems);
  if (Object(given) === given && !Array.isArray(given)) return readCapObject(given, path, problems);
  problems.add(path, "invalid", `expected an amount of money; got ${show(given)}: ${FORMS}`);
  return undefined;
}

function readText(text: string, path: string, problems: Problems): Amount | undefined {
  const [, inDollars] = /^\$([0-9.]+)$/.exec(text) ?? [];
  const [, number = inDollars, symbol] = /^([0-9.]+) ([A-Za-z][A-Za-z0-9.-]*)$/.exec(text) ?? [];
  if (number === undefined) {
    const meant = parseDecimal(text, SCALE).ok ? `write "$${text}" if these are dollars` : FORMS;
    problems.add(path, "invalid", `${show(text)} is no amount of money: ${meant}`);
    return undefined;
  }
  const kind =
    symbol === undefined ? { unit: dollars(SCALE), decimals: SCALE } : kindOf(symbol, number, path, problems);
  if (!kind) return undefined;
  const parsed = parseDecimal(number, kind.decimals);
  if (parsed.ok) return { unit: kind.unit, amount: parsed.amount * kind.unit.factor };
  problems.add(path, "invalid", `${show(text)} ${parsed.problem}`);
  return undefined;
}

interface Kind {
  readonly unit: Unit;
  readonly decimals: number;
}

/** What a symbol means: a native currency. That of a stablecoin would count one of many that are worth the same. */
function kindOf(symbol: string, number: string, path: string, problems: Problems): Kind | undefined {
  const currencies = NETWORKS.filter(hasSharedSymbol).map((network) => network.native);
  const currency = currencies.find((one) => one.symbol === symbol);
  if (currency) return { unit: native(symbol, currency.decimals), decimals: currency.decimals };
  const isSymbol = (other: string) => other.toLowerCase() === symbol.toLowerCase();
  if ([...DOLLARS].some(isSymbol)) {
    problems.add(path, "invalid", `${symbol} is counted with the other dollar stablecoins: write "$${number}"`);
    return undefined;
  }
  const symbols = [...new Set(currencies.map((one) => one.symbol))];
  const meant = symbols.find(isSymbol);
  const remedy = meant
    ? `write "${number} ${meant}"`
    : `${suggestion(symbol, symbols)}; for a token write { amount, asset, network }`;
  problems.add(path, "unknown_token", `${symbol} is no native currency: ${remedy}`);
  return undefined;
}
