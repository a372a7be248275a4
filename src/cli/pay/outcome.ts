// How a run ended: its exit code, and the sentence that says what became of the money and what to do next.
import { BUYER_ERRORS, BuyerError, type BuyerErrorCode, toSellersLine } from "../../client/errors.js";
import type { Purchase } from "../../client/purchase.js";
import { reasonOf } from "../fetch-words.js";
import { CliError, type ExitCode } from "../io.js";
import { printable } from "../print.js";

export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "the answer came (2xx), free or paid for"],
  ["1", "it failed otherwise, for example the host does not answer"],
  ["2", "the command line or the configuration is wrong; nothing was asked"],
  ["3", "not paid: too dear, declined, nothing that this wallet can pay, or refused by the seller for the second time"],
  ["4", "paid, and not served: the message says whether the same command can still collect the answer"],
  ["5", "nobody knows yet whether it was paid: run the same command again, it sends the same payment"],
  ["6", "the seller answered with an error, and nothing was paid"],
];

const AGAIN = "Run the same command again: it sends the same payment, and nothing is paid anew";

/** Where a sentence of the library names its options, the command line has words of its own. */
const REMEDIES: Partial<Record<BuyerErrorCode, string>> = {
  insecure_url: "Use https, or say --allow-http if the network between is yours",
  redirected: "Ask the final URL directly if you trust it",
  no_payable_offer:
    "See tollgate pay --quote: it takes a wallet of the family (TOLLGATE_WALLET_KEY), a node (TOLLGATE_RPC_URL_<NETWORK>), or a --max of that money",
  over_cap: "Say a higher --max if the price is right",
  over_budget: "Wait until earlier payments are a day old, or say a higher --per-day",
  not_approved: "Nothing was signed",
  signing_failed:
    "Nothing was paid. Mend what the reason names: the wallet's key, its node (TOLLGATE_RPC_URL_<NETWORK>) or the gateway (TOLLGATE_API_KEY)",
  charged_without_goods: `${AGAIN}. Then ask the seller, with the receipt`,
  outcome_unknown: AGAIN,
  payment_refused: `${AGAIN}. The signed proof stays counted, because it may be settled until it expires`,
  store_failed: "Nothing was paid. Mend the file, or move it away: then the day's budget begins anew",
};

const NEVER_LEFT: ReadonlySet<BuyerErrorCode> = new Set(["signed_wrong", "store_failed"]);

const REFUSED_TWICE =
  "It was refused twice, so the same command would pay anew. This payment stays counted, because it may be settled until it expires";

export interface Ended {
  readonly host: string;
  /** Nobody could be asked whether to pay. */
  readonly isNobodyThere: boolean;
  /** The payment was signed by an earlier run. */
  readonly isOld: boolean;
}

/** The end of a call that was refused or broke off. */
export function toCliError(error: unknown, { host, isNobodyThere, isOld }: Ended): CliError {
  if (!(error instanceof BuyerError)) return new CliError(`${host} does not answer: ${printable(reasonOf(error))}`);
  const { code, money, facts } = error;
  // The buyer's memory lets go of it then: whoever runs it in a loop until it succeeds must be told.
  const isFinal = isOld && code === "payment_refused";
  const nobody = `Nobody can be asked here, and ${host} was never paid before: say --yes, or run it once at a terminal`;
  const usual = isFinal ? REFUSED_TWICE : (REMEDIES[code] ?? BUYER_ERRORS[code].remedy);
  const remedy = isNobodyThere && code === "not_approved" ? nobody : usual;
  const { expected, got, price, reason, offers = [], status } = facts;
  const details = [
    expected && `expected ${expected}`,
    got && `got ${got}`,
    price,
    reason && `reason: ${reason}`,
    status !== undefined && status !== 402 && `status ${status}`,
    causeOf(error, reason),
  ].filter(Boolean);
  const head = `${BUYER_ERRORS[code].title}${details.length > 0 ? ` (${details.join("; ")})` : ""}.`;
  const lines = [head, ...[toSellersLine(facts) ?? [], offers].flat().map((line) => `  ${line}`), `${remedy}.`];
  return new CliError(lines.map(printable).join("\n"), isFinal ? 3 : exitCodeOf(code, money));
}

const causeOf = ({ code, cause }: BuyerError, reason: string | undefined): string | undefined =>
  code === "store_failed" || (cause !== undefined && reason === undefined) ? reasonOf(cause) : undefined;

function exitCodeOf(code: BuyerErrorCode, money: BuyerError["money"]): Exclude<ExitCode, 0> {
  if (NEVER_LEFT.has(code)) return 1;
  return money === "none" ? 3 : money === "settled" ? 4 : 5;
}

/** An answer that is no 2xx, and what became of the money. */
export function unserved(status: number, purchase: Purchase | undefined): CliError {
  const said = `The seller answered ${status}`;
  if (!purchase) return new CliError(`${said}, and nothing was paid.`, 6);
  if (purchase.status === "settled") return new CliError(`${said} although the payment was taken. ${AGAIN}.`, 4);
  return new CliError(`${said}, and does not say whether the payment was taken. ${AGAIN}.`, 5);
}

/** The answer began and did not end. */
export function brokenOff(cause: unknown, purchase: Purchase | undefined): CliError {
  const said = `The answer broke off: ${printable(reasonOf(cause))}`;
  return purchase ? new CliError(`${said}. ${AGAIN}.`, 4) : new CliError(`${said}.`);
}

/** Somebody has stopped it. */
export function interrupted(isSent: boolean): CliError {
  return isSent
    ? new CliError(`Interrupted while a payment is on its way. ${AGAIN}.`, 5)
    : new CliError("Interrupted: nothing was paid.");
}
