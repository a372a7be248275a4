// From offers and an answer of the guard to what the page knows. Symbols and decimals are those of the requirement itself.
import { EXTENSIONS } from "../challenge.js";
import { ERRORS, type ErrorCode } from "../errors.js";
import { formatDecimal } from "../money.js";
import { findNetwork } from "../networks.js";
import type { Offers } from "../offers.js";
import { paidCookie, paymentCookie } from "../page-cookie.js";
import type { Answer } from "../request.js";
import { NATIVE, type Requirement } from "../requirement.js";
import type { Terms } from "../settings.js";
import { decodeHeader } from "../wire/header.js";
import { isRecord } from "../wire/json.js";
import { toOfferV2 } from "../wire/v2.js";
import type { PageData, PageOffer, PageProblem } from "./page-data.js";

interface Known {
  readonly url: string;
  readonly target: string;
  readonly terms: Pick<Terms, "description" | "mimeType">;
  readonly offers: Offers | undefined;
  readonly answered: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

export function toPageData({ url, target, terms, offers, answered, now }: Known, answer: Answer): PageData {
  const problem = readProblem(answer);
  return {
    url,
    description: terms.description,
    mimeType: terms.mimeType,
    offers: offers?.requirements.map((one, at) => toPageOffer(one, offers.units?.[at])) ?? [],
    extensions: EXTENSIONS,
    cookie: paymentCookie(target),
    paid: paidCookie(target),
    now: Math.floor(now / 1000),
    answered,
    ...(problem && { problem }),
  };
}

type Unit = NonNullable<Offers["units"]>[number];

function toPageOffer(requirement: Requirement, unit: Unit | undefined): PageOffer {
  const { amount, method, asset } = requirement;
  const { symbol, decimals } = unit ?? { symbol: `atomic units of ${asset}`, decimals: 0 };
  const network = findNetwork(requirement.network);
  const number = formatDecimal(amount, decimals);
  const isDollar = network?.tokens.some((token) => token.address === asset && /^USD/.test(token.symbol)) === true;
  return {
    given: toOfferV2(requirement),
    method,
    native: asset === NATIVE,
    price: `${number} ${symbol}`,
    symbol,
    decimals,
    ...(isDollar && { dollars: `$${withCents(number)}` }),
    network: inWords(network?.name ?? requirement.network),
    ...(network?.chainId !== undefined && { chainId: network.chainId }),
  };
}

/** `0.5` is written as prices are. */
const withCents = (number: string): string => {
  const [whole = "0", fraction = ""] = number.split(".");
  return `${whole}.${fraction.padEnd(2, "0")}`;
};

/** `base-sepolia` as people write it. */
const inWords = (name: string): string => {
  if (name.includes(":") || /^eip155-/.test(name)) return `chain ${name.replace(/^eip155[:-]/, "")}`;
  return name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => (dash && " ") + letter.toUpperCase());
};

/** What the answer says, where it says more than the price. */
function readProblem({ body, headers }: Answer): PageProblem | undefined {
  const json: unknown = typeof body === "string" && body !== "" ? JSON.parse(body) : undefined;
  if (!isRecord(json) || typeof json.code !== "string" || !(json.code in ERRORS)) return undefined;
  const code = json.code as ErrorCode;
  if (code === "payment_required") return undefined;
  const { retry, payment, title } = ERRORS[code];
  const after = Number(headerOf(headers, "retry-after"));
  const transaction = transactionOf(headerOf(headers, "payment-response"));
  return {
    code,
    message: typeof json.message === "string" ? json.message : title,
    retry,
    payment:
      json.payment === "settled" || json.payment === "unknown" || json.payment === "none" ? json.payment : payment,
    ...(typeof json.expected === "string" && { expected: json.expected }),
    ...(typeof json.got === "string" && { got: json.got }),
    ...(after > 0 && { retryAfter: after }),
    ...(transaction && { transaction }),
  };
}

export const headerOf = (headers: Answer["headers"], name: string): string | undefined =>
  headers.find(([key]) => key.toLowerCase() === name)?.[1];

/** Of a receipt of ours. */
export function transactionOf(header: string | undefined): string | undefined {
  const receipt = header === undefined ? undefined : decodeHeader(header);
  const transaction = receipt?.ok && isRecord(receipt.value) ? receipt.value.transaction : undefined;
  return typeof transaction === "string" && transaction !== "" ? transaction : undefined;
}
