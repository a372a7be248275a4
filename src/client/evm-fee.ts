// The most that the gas of one own transaction may cost. A budget counts what a seller gets; gas goes to the chain, so its bound
// stands here, in the chain's own currency.
import { type Problems, show } from "../config-problems.js";
import { formatDecimal, parseDecimal } from "../money.js";
import { NETWORKS, type Network } from "../networks.js";

/** Wei by the symbol of the currency. */
export type FeeBounds = ReadonlyMap<string, bigint>;

/** What a plain transfer never costs in quiet times, and nobody misses much: about a dollar or two. */
const DEFAULTS: FeeBounds = new Map([
  ["ETH", 5n * 10n ** 14n],
  ["POL", 10n ** 18n],
  ["AVAX", 5n * 10n ** 16n],
]);
/** Of the native currency of every EVM chain. */
const DECIMALS = 18;

/** The bounds of `maxFee`, above those that stand by themselves. */
export function readFeeBounds(maxFee: string | readonly string[] | undefined, problems: Problems): FeeBounds {
  const named = new Map<string, bigint>();
  for (const text of [maxFee ?? []].flat()) {
    const read = readFee(text);
    if (typeof read === "string") problems.add(PATH, "invalid", `${read}; got ${show(text)}`);
    else if (named.has(read.symbol)) problems.add(PATH, "contradiction", `${read.symbol} stands there twice: keep one`);
    else named.set(read.symbol, read.amount);
  }
  return new Map([...DEFAULTS, ...named]);
}

const PATH = "evmWallet.maxFee";

function readFee(text: string): { readonly symbol: string; readonly amount: bigint } | string {
  const [number = "", symbol = "", ...rest] = text.split(" ");
  const parsed = parseDecimal(number, DECIMALS);
  const expected = 'expected an amount in a chain\'s own currency, for example "0.0005 ETH"';
  if (!parsed.ok) return `${expected}; the number ${parsed.problem}`;
  if (rest.length > 0 || !SYMBOLS.has(symbol)) return `${expected}; no known EVM chain has that currency`;
  return { symbol, amount: parsed.amount };
}

/** `native` is that of a chain beyond the table. */
const SYMBOLS: ReadonlySet<string> = new Set([
  "native",
  ...NETWORKS.filter(({ family }) => family === "evm").map(({ native }) => native.symbol),
]);

/** The bound on a network, or the sentence that says what to add. */
export function feeBoundOf(bounds: FeeBounds, { name, native }: Network): bigint | string {
  const bound = bounds.get(native.symbol);
  if (bound !== undefined) return bound;
  return `name what the gas of one payment may cost on ${name}: evmWallet(…, { maxFee: "0.01 ${native.symbol}" })`;
}

/** `0.0005 ETH`. */
export const feeInWords = (wei: bigint, { native }: Network): string =>
  `${formatDecimal(wei, native.decimals)} ${native.symbol}`;
