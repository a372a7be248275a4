// How the money of a price will move, from the members of a price object. A member that belongs to another way of paying
// is a contradiction, never ignored: the seller expects something of it.
import { type Network, TOKEN_2022, TOKEN_PROGRAM, type Token } from "./networks.js";
import type { Transfer } from "./price.js";
import { type PriceProblem, permit2Only, problem, show } from "./price-problem.js";
import { NATIVE } from "./requirement.js";

/** What a price object says about it, unchecked. */
export interface TransferMembers {
  readonly domain?: unknown;
  readonly tokenProgram?: unknown;
  readonly transferMethod?: unknown;
  readonly confirmations?: unknown;
}

export type ReadTransfer = { readonly ok: true; readonly value: Transfer } | PriceProblem;

/** How a token of the table moves. */
export function transferOf({ transferMethod, domain, tokenProgram, symbol }: Token): Transfer {
  if (transferMethod === "spl") return { method: "spl", ...(tokenProgram !== undefined && { tokenProgram }) };
  if (!domain) throw new TypeError(`the table has no EIP-712 domain for ${symbol}`);
  return { method: "eip3009", domain };
}

/** `token`: of the table, where the asset is in it. */
export function readTransfer(
  members: TransferMembers,
  asset: string,
  network: Network,
  token: Token | undefined,
): ReadTransfer {
  const { transferMethod } = members;
  if (transferMethod !== undefined && transferMethod !== "transaction") {
    const expected = 'write "transaction" for what the buyer pays by a transaction of his own, or leave it out';
    return problem("invalid", `the price's transferMethod is ${show(transferMethod)}: ${expected}`);
  }
  if (asset === NATIVE) return byTransaction(members, network.native.symbol);
  if (network.family === "solana") {
    if (transferMethod === undefined) return bySpl(members, token);
    const why = "on Solana a token is never paid by a transaction of the buyer's own";
    return problem("contradiction", `the price's transferMethod is "transaction", but ${why}: leave it out`);
  }
  if (transferMethod !== undefined) return byTransaction(members, "a token by a transaction");
  if (token?.transferMethod === "permit2") return permit2Only(token, network);
  return byAuthorization(members, token);
}

/** Refuses members that mean nothing for what is `paid`. */
function foreign(
  members: TransferMembers,
  names: readonly (keyof TransferMembers)[],
  paid: string,
): PriceProblem | undefined {
  const name = names.find((one) => members[one] !== undefined);
  return name && problem("contradiction", `the price has ${name}, which means nothing for ${paid}: leave it out`);
}

function byTransaction(members: TransferMembers, paid: string): ReadTransfer {
  const { confirmations } = members;
  const other = foreign(members, ["domain", "tokenProgram"], paid);
  if (other) return other;
  if (confirmations === undefined) return { ok: true, value: { method: "transaction" } };
  if (
    typeof confirmations !== "number" ||
    !Number.isInteger(confirmations) ||
    confirmations < 1 ||
    confirmations > 10_000
  ) {
    const expected = "expected a whole number of blocks from 1 to 10000";
    return problem("invalid", `the price's confirmations are ${show(confirmations)}: ${expected}`);
  }
  return { ok: true, value: { method: "transaction", confirmations } };
}

function bySpl(members: TransferMembers, token: Token | undefined): ReadTransfer {
  const other = foreign(members, ["domain", "confirmations"], "a token on Solana");
  if (other) return other;
  const { tokenProgram } = members;
  if (tokenProgram === undefined) return { ok: true, value: token ? transferOf(token) : { method: "spl" } };
  if (tokenProgram !== TOKEN_PROGRAM && tokenProgram !== TOKEN_2022) {
    const expected = `expected ${TOKEN_PROGRAM} or ${TOKEN_2022} (Token-2022)`;
    return problem("invalid", `the price's tokenProgram is ${show(tokenProgram)}: ${expected}`);
  }
  const known = token && (token.tokenProgram ?? TOKEN_PROGRAM);
  if (known !== undefined && known !== tokenProgram) {
    const what = `the price's tokenProgram is ${show(tokenProgram)}, but ${token?.symbol} is a mint of ${known}`;
    return problem("contradiction", `${what}: leave it out`);
  }
  // Offers name the program only where it is not the one that buyers assume.
  return { ok: true, value: tokenProgram === TOKEN_2022 ? { method: "spl", tokenProgram } : { method: "spl" } };
}

/** The seller's own domain stands before the table's, for a token that was upgraded under our feet. */
function byAuthorization(members: TransferMembers, token: Token | undefined): ReadTransfer {
  const other = foreign(members, ["tokenProgram", "confirmations"], "a token that is paid by an authorization");
  if (other) return other;
  const { domain } = members;
  if (domain === undefined && token) return { ok: true, value: transferOf(token) };
  const expected = "expected { name, version }, the strings of the token contract's EIP-712 domain";
  if (domain === undefined) {
    const remedy = `${expected}; or, for a token without EIP-3009, write transferMethod: "transaction"`;
    return problem("required", `the price's asset is no known token, so it needs a domain: ${remedy}`);
  }
  const { name, version } = typeof domain === "object" && domain !== null ? (domain as Record<string, unknown>) : {};
  if (typeof name === "string" && name !== "" && typeof version === "string" && version !== "") {
    return { ok: true, value: { method: "eip3009", domain: Object.freeze({ name, version }) } };
  }
  return problem("invalid", `the price's domain is ${show(domain)}: ${expected}`);
}
