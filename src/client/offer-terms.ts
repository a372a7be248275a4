// How an offer wants to be paid, from its `extra`: the way the money moves, when the seller takes it, and whether what it says
// of the token is what we know of it. What is not implemented here is unpayable, never guessed at. Spec: protocol §1.7, §3.1, §4.1.
import { isAddressOf, type Network, TOKEN_PROGRAM, type Token } from "../networks.js";
import { NATIVE, type TransferMethod } from "../requirement.js";
import type { Offer } from "./offer.js";
import { quote } from "./seller-words.js";

interface Asked {
  readonly network: Network;
  /** `native`, a checksummed contract, or a mint. */
  readonly asset: string;
  readonly token: Token | undefined;
  readonly extra: Readonly<Record<string, unknown>>;
}

export type Terms =
  | { readonly ok: true; readonly method: TransferMethod; readonly flow: Offer["flow"] }
  | { readonly ok: false; readonly reason: string };

const unpayable = (reason: string) => ({ ok: false, reason }) as const;

/** The terms of an offer, or the first of them that cannot be met. */
export function readTerms(asked: Asked): Terms {
  const method = readMethod(asked);
  if (!method.ok) return method;
  const flow = readFlow(asked.extra.paymentFlow, method.method);
  if (flow === undefined) return unpayable(`the payment flow ${quote(asked.extra.paymentFlow)} is not known here`);
  const wrong = findFalseFact(asked) ?? FINDERS[method.method](asked);
  return wrong === undefined ? { ok: true, method: method.method, flow } : unpayable(wrong);
}

function readMethod({ network, asset, token, extra }: Asked) {
  const named = extra.assetTransferMethod ?? undefined;
  if (named === "transaction") {
    // A token of Solana in a transaction of the buyer's own would need rules that nobody has written.
    if (network.family === "solana" && asset !== NATIVE)
      return unpayable("tokens of Solana are not paid by transaction");
    return { ok: true, method: "transaction" } as const;
  }
  if (named !== undefined && named !== "eip3009")
    return unpayable(`the transfer method ${quote(named)} is not known here`);
  if (asset === NATIVE)
    return unpayable(`${network.native.symbol} itself is paid by transaction only, and the offer does not say so`);
  if (network.family === "solana") return { ok: true, method: "spl" } as const;
  if (token !== undefined && token.transferMethod !== "eip3009") {
    return unpayable(`${token.symbol} on ${network.name} takes no signed authorizations`);
  }
  return { ok: true, method: "eip3009" } as const;
}

/** A transaction of the buyer's own is money that has left before anybody serves, whatever the offer calls it. */
function readFlow(given: unknown, method: TransferMethod): Offer["flow"] | undefined {
  if (given !== undefined && given !== null && given !== "authorization" && given !== "upfront") return undefined;
  return given === "upfront" || method === "transaction" ? "upfront" : "authorization";
}

/**
 * Invariant: token, decimals and program are those of our own table. An offer that says otherwise of them is another token's, a
 * mistake or a trap; whatever was signed for it would be worth something else than was agreed.
 */
function findFalseFact({ network, asset, token, extra }: Asked): string | undefined {
  const known = asset === NATIVE ? network.native : token;
  const { decimals, tokenProgram } = extra;
  if (known && isGiven(decimals) && String(decimals) !== String(known.decimals)) {
    return `wrong decimals: ${known.symbol} has ${known.decimals}, the offer says ${quote(decimals)}`;
  }
  if (network.family === "evm" || !token || !isGiven(tokenProgram)) return undefined;
  const program = token.tokenProgram ?? TOKEN_PROGRAM;
  return tokenProgram === program
    ? undefined
    : `wrong token program: ${token.symbol} is of ${program}, the offer says ${quote(tokenProgram)}`;
}

const FINDERS: Readonly<Record<TransferMethod, (asked: Asked) => string | undefined>> = {
  eip3009: findDomainFlaw,
  spl: findSplFlaw,
  transaction: () => undefined,
};

const MAX_DOMAIN_LENGTH = 100;

/** The domain of a token of our table is the table's; of another one it is the seller's, which then must be there. */
function findDomainFlaw({ network, token, extra }: Asked): string | undefined {
  for (const member of ["name", "version"] as const) {
    const given = extra[member];
    const expected = token?.domain?.[member];
    if (expected !== undefined) {
      if (!isGiven(given) || given === expected) continue;
      return `wrong domain: the ${member} of ${token?.symbol} on ${network.name} is ${quote(expected)}, the offer says ${quote(given)}`;
    }
    if (typeof given === "string" && given !== "" && given.length <= MAX_DOMAIN_LENGTH) continue;
    return `no domain: extra.${member} must be the token's own, got ${quote(given)}`;
  }
  return undefined;
}

const MAX_MEMO_BYTES = 256;

function findSplFlaw({ extra: { feePayer, memo } }: Asked): string | undefined {
  if (typeof feePayer !== "string" || !isAddressOf("solana", feePayer)) {
    return `extra.feePayer must be the address of who pays the network fee, got ${quote(feePayer)}`;
  }
  if (!isGiven(memo)) return undefined;
  if (typeof memo !== "string") return `extra.memo must be text, got ${quote(memo)}`;
  const bytes = new TextEncoder().encode(memo).length;
  return bytes <= MAX_MEMO_BYTES
    ? undefined
    : `extra.memo has ${bytes} bytes where at most ${MAX_MEMO_BYTES} are taken`;
}

/** Optional members may be null, which means absent. */
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
