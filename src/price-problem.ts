// What is wrong with a price, in words, and the bounds that every form of a price shares.
import type { ConfigCode } from "./errors.js";
import { MAX_UINT64, MAX_UINT256, type Parsed } from "./money.js";
import type { Network, Token } from "./networks.js";
import { mayBeSecret, NOT_SHOWN } from "./secret.js";

export interface PriceProblem {
  readonly ok: false;
  readonly code: ConfigCode;
  /** What came, what was expected, what to do. */
  readonly problem: string;
}

/** A token of the table that can only be moved through Permit2. */
export function permit2Only(token: Token, network: Network): PriceProblem {
  const what = `${token.symbol} on ${network.name} can only be moved through Permit2`;
  const remedy = `choose another token or network, or write { amount, asset: "${token.address}", network, transferMethod: "transaction" }`;
  return problem("not_available_yet", `${what}, which is not available yet: ${remedy}`);
}

/** Refuses what no payment on this network could carry, and 0, which must never open a route by accident. */
export function atLeastOneUnit(parsed: Parsed, { family }: Network): Parsed {
  if (!parsed.ok) return parsed;
  if (parsed.amount === 0n) return { ok: false, problem: 'is 0: write "free" to open the route' };
  const most = family === "solana" ? MAX_UINT64 : MAX_UINT256;
  return parsed.amount > most ? { ok: false, problem: "is more than any account can hold" } : parsed;
}

/** A problem as a value. */
export const problem = (code: ConfigCode, problem: string): PriceProblem => ({ ok: false, code, problem });

/** A value for a message, cut short. */
export function show(value: unknown): string {
  if (typeof value === "string" && mayBeSecret(value)) return NOT_SHOWN;
  const text =
    typeof value === "string"
      ? JSON.stringify(value)
      : typeof value === "object" && value
        ? "an object"
        : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
