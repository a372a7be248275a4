// `--max` and `--per-day` as a budget. Dollars may stand without their sign, because a shell takes `$0` for itself.
import { readCaps } from "../../client/caps.js";
import { createProblems } from "../../config-problems.js";
import { usage } from "../io.js";

/** What one request may cost unless `--max` says otherwise. */
export const DEFAULT_MAX = "$0.10";
/** What a day may cost at least; a higher `--max` counts as the day's, too. */
const DEFAULT_DAY = "$5";
/** A day of money other than dollars. */
const REQUESTS_A_DAY = 10n;

export interface Limits {
  readonly perRequest: readonly string[];
  readonly perDay: readonly string[];
}

/** @throws CliError (2), or PaywallConfigError with every problem. */
export function readLimits(max: readonly string[] | undefined, perDay: readonly string[] | undefined): Limits {
  const problems = createProblems("buyer");
  const perRequest = (max ?? [DEFAULT_MAX]).map((text) => readAmount(text, "--max"));
  const caps = readCaps(oneOrMany(perRequest), "--max", problems);
  const given = (perDay ?? []).map((text) => readAmount(text, "--per-day"));
  const days = readCaps(given.length > 0 ? oneOrMany(given) : undefined, "--per-day", problems);
  const least = readCaps(DEFAULT_DAY, "--per-day", problems);
  problems.throwIfAny();
  const usual = [...caps.values()].flatMap(({ unit, amount }) => {
    if (days.has(unit.id)) return [];
    const dollars = least.get(unit.id)?.amount;
    return [unit.format(dollars === undefined ? amount * REQUESTS_A_DAY : larger(amount, dollars))];
  });
  return { perRequest, perDay: [...given, ...usual] };
}

/** A single one has no place in a list. */
const oneOrMany = (amounts: readonly string[]) => (amounts.length === 1 ? amounts[0] : amounts);

function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one;
  return other;
}

/** `0.10`, `$0.10`, `0.001 SOL` */
function readAmount(text: string, option: string): string {
  const amount = text.trim();
  // In double quotes and in none `$0.10` is the shell's name and `.10`.
  if (/(?:^|[/-])[a-z]*sh\.?\d*$/.test(amount))
    throw usage(`${option}: the shell has put its own name in place of $0: write ${option} 0.10, or '$0.10'`);
  return /^[0-9]+(?:\.[0-9]+)?$/.test(amount) ? `$${amount}` : amount;
}
