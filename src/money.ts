// Decimal text to atomic bigint amounts and back, exactly. Nothing here rounds and no float is ever calculated with.

/** The largest amount an EVM token can hold. */
export const MAX_UINT256 = 2n ** 256n - 1n;
/** The largest amount that Solana can hold, in lamports or in units of a token. */
export const MAX_UINT64 = 2n ** 64n - 1n;

const DECIMAL = /^([0-9]+)(?:\.([0-9]+))?$/;
/** 2^256 has 78 digits; the rest is room for decimals. Bounds the cost of a bigint conversion. */
const MAX_TEXT = 160;

export type Parsed =
  | { readonly ok: true; readonly amount: bigint }
  /** What was wrong with the text, to stand after what was being read. */
  | { readonly ok: false; readonly problem: string };

const refused = (problem: string): Parsed => ({ ok: false, problem });

/**
 * Reads decimal text in whole units as an amount in atomic units of an asset with `decimals` decimals.
 * Strict: ASCII digits with at most one point, no sign, exponent, separator or leading zero; more decimals than the
 * asset has are refused, never rounded.
 *
 * @example parseDecimal("0.01", 6) // { ok: true, amount: 10000n }
 */
export function parseDecimal(text: string, decimals: number): Parsed {
  if (text.length > MAX_TEXT) return refused(`has more than ${MAX_TEXT} characters`);
  const match = DECIMAL.exec(text);
  if (!match) return refused("is not a decimal number: digits with at most one point, such as 0.01");
  const [, whole = "", fraction = ""] = match;
  if (whole.length > 1 && whole.startsWith("0")) return refused("has leading zeros");
  if (fraction.length > decimals) {
    return refused(`has ${fraction.length} decimals where the asset has ${decimals}`);
  }
  return { ok: true, amount: BigInt(whole + fraction.padEnd(decimals, "0")) };
}

/**
 * Writes an amount in atomic units as decimal text in whole units, without trailing zeros: the inverse of `parseDecimal`.
 *
 * @example formatDecimal(10000n, 6) // "0.01"
 */
export function formatDecimal(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, "");
  return sign + digits.slice(0, point) + (fraction && `.${fraction}`);
}

/**
 * The decimal text that a number prints as, with exponent form expanded exactly. `NaN` and infinities stay words, which
 * `parseDecimal` refuses.
 *
 * @example expandNumber(1e-7) // "0.0000001"
 */
export function expandNumber(n: number): string {
  const text = String(n);
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?e([+-][0-9]+)$/.exec(text);
  if (!match) return text;
  const [, sign = "", whole = "", fraction = "", exponent = ""] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * Reads an integer of the wire: ASCII digits, no sign, exponent, hex or leading zero, at most `max`.
 * One value has one spelling, so equal payments cannot look different (protocol §2.2).
 */
export function parseInteger(text: string, max: bigint = MAX_UINT256): Parsed {
  if (!isIntegerText(text)) return refused("is not a whole number in decimal digits without leading zeros");
  const amount = BigInt(text);
  return amount > max ? refused(`is larger than ${max}`) : { ok: true, amount };
}

/** Whether the text is the one spelling of an integer of the wire, and short enough to be a uint256. */
function isIntegerText(text: string): boolean {
  return text.length <= 78 && /^(?:0|[1-9][0-9]*)$/.test(text);
}
