// What a buyer is told when a call ends without its answer: one frozen table of codes, one class. Each says whether money
// moved, so that a program knows whether asking again can cost anything.
import type { Purchase } from "./purchase.js";

/** Whether this call's money moved. `unknown`: the signed proof left, and what became of it is not known yet. */
export type BuyerMoney = "none" | "unknown" | "settled";

interface BuyerErrorKind {
  readonly title: string;
  readonly money: BuyerMoney;
  /** What to do next. */
  readonly remedy: string;
}

const table = <Code extends string>(kinds: Record<Code, BuyerErrorKind>): Readonly<Record<Code, BuyerErrorKind>> =>
  Object.freeze(kinds);

export const BUYER_ERRORS = table({
  challenge_invalid: {
    title: "The 402 holds no x402 challenge that can be read",
    money: "none",
    remedy: "Nothing was paid. Tell the seller, or look at the answer: tollgate explain URL",
  },
  challenge_too_large: {
    title: "The 402 is larger than any honest challenge",
    money: "none",
    remedy: "Nothing was paid. Do not buy there",
  },
  insecure_url: {
    title: "The seller is asked over plain http",
    money: "none",
    remedy: "Use https, or name the host in allowHttp if the network between is yours",
  },
  host_not_allowed: {
    title: "The host is not one of those that may be paid",
    money: "none",
    remedy: "Add it to hosts if you trust it",
  },
  redirected: {
    title: "The 402 comes from another place than was asked",
    money: "none",
    remedy: "Ask the final URL directly if you trust it",
  },
  body_not_repeatable: {
    title: "The request's body cannot be sent a second time",
    money: "none",
    remedy: "Send a body of known length, or raise maxBodyBytes",
  },
  no_payable_offer: {
    title: "None of the offers can be paid with these wallets and caps",
    money: "none",
    remedy: "Add a wallet for one of the offered networks, or a cap for one of the offered assets",
  },
  over_cap: {
    title: "The price is above what one request may cost",
    money: "none",
    remedy: "Raise budget.perRequest if the price is right",
  },
  over_budget: {
    title: "The payment would exceed the budget",
    money: "none",
    remedy: "Wait until earlier payments have left the window, or raise the budget",
  },
  payee_not_pinned: {
    title: "The seller asks for money to another address than the pinned one",
    money: "none",
    remedy: "Ask the seller whether the address changed; then change payTo",
  },
  not_approved: { title: "The payment was not approved", money: "none", remedy: "Nothing was signed" },
  insufficient_funds: {
    title: "The wallet does not hold enough",
    money: "none",
    remedy: "Fill the wallet, or add another one",
  },
  signing_failed: {
    title: "The wallet did not sign",
    money: "none",
    remedy: "Nothing left this program. See the cause",
  },
  signed_wrong: {
    title: "The wallet signed something else than the offer",
    money: "unknown",
    remedy: "The proof was not sent. Check the wallet, and whether it moved money by itself",
  },
  host_stopped: {
    title: "Too many paid requests to this host failed: it is not paid for now",
    money: "none",
    remedy: "Find out why they failed. It is paid again after the pause",
  },
  payment_refused: {
    title: "The seller refused the payment",
    money: "unknown",
    remedy: "See the reason. The signed proof may still be settled until it expires, so it stays counted",
  },
  charged_without_goods: {
    title: "The seller took the money and did not serve",
    money: "settled",
    remedy:
      "Make the same request again: the same proof is sent, and nothing is paid anew. Then ask the seller, with the receipt",
  },
  payment_already_used: {
    title: "The proof was used already and its answer is no longer kept",
    money: "settled",
    remedy: "The goods were delivered once. A new request is a new payment",
  },
  outcome_unknown: {
    title: "It is not known whether the payment was taken",
    money: "unknown",
    remedy: "Make the same request again: the same proof is sent, and nothing is paid anew",
  },
  store_failed: {
    title: "The record of what was spent cannot be read or written",
    money: "none",
    remedy: "Nothing was paid. See the cause, and mend the store",
  },
});

export type BuyerErrorCode = keyof typeof BUYER_ERRORS;

/** Facts beside a code. None of them holds a signature or a key. */
export interface BuyerErrorFacts {
  readonly url?: string;
  readonly expected?: string;
  readonly got?: string;
  /** What was asked for, where nothing is wrong with it. */
  readonly price?: string;
  /** The seller's own words, printable and cut short. */
  readonly reason?: string;
  /** `code` of the seller's answer, where it has one: what stands in docs/errors.md of a paywall of ours. Untrusted, as `reason` is. */
  readonly sellerCode?: string;
  /** `message` beside it: what the seller says is wrong, and what to do. */
  readonly sellerMessage?: string;
  /** One sentence for each offer that was not taken. */
  readonly offers?: readonly string[];
  /** Status of the answer that ended it. */
  readonly status?: number;
  /** Whether money moved, where it is known better than the code says. */
  readonly money?: BuyerMoney;
  /** What was bought or tried, once a proof was signed. */
  readonly purchase?: Purchase;
}

/**
 * A paid call that ended without its answer.
 *
 * @example
 * try { await pay(url); } catch (error) {
 *   if (error instanceof BuyerError && error.money !== "none") log(error.code, error.purchase);
 * }
 */
export class BuyerError extends Error {
  override readonly name = "BuyerError";
  readonly code: BuyerErrorCode;
  readonly money: BuyerMoney;
  readonly facts: BuyerErrorFacts;
  constructor(code: BuyerErrorCode, facts: BuyerErrorFacts = {}, options?: ErrorOptions) {
    super(messageOf(code, facts), options);
    this.code = code;
    this.money = facts.money ?? BUYER_ERRORS[code].money;
    this.facts = facts;
  }
  /** What was bought or tried, with the receipt where there is one. */
  get purchase(): Purchase | undefined {
    return this.facts.purchase;
  }
}

function messageOf(code: BuyerErrorCode, facts: BuyerErrorFacts): string {
  const { url, expected, got, price, reason, offers = [] } = facts;
  const { title, remedy } = BUYER_ERRORS[code];
  const detail = [expected && `expected ${expected}`, got && `got ${got}`, price, reason && `reason: ${reason}`]
    .filter(Boolean)
    .join(", ");
  const head = `${title}${detail ? ` (${detail})` : ""}${url ? `: ${url}` : ""}`;
  const lines = [toSellersLine(facts), ...offers].filter((line) => line !== undefined);
  return [head, ...lines.map((line) => `  ${line}`), `${remedy}.`].join("\n");
}

/** What the seller says himself, said to be his. */
export const toSellersLine = ({ sellerCode, sellerMessage }: BuyerErrorFacts): string | undefined => {
  const words = [sellerCode, sellerMessage].filter(Boolean).join(": ");
  return words === "" ? undefined : `the seller says ${words}`;
};
