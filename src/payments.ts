// `tollgate/payments`: payments as text, line by line, for files and for other programs. Nothing is held back: a list of any
// length is written in constant memory.
import type { ListedPayment } from "./payment-list.js";

export type { ListedPayment, PaymentQuery, Payments } from "./payment-list.js";

/** The payments to write, as `pay.payments()` gives them. */
export type PaymentSource = AsyncIterable<ListedPayment> | Iterable<ListedPayment>;

/**
 * Writes one JSON object a line: amounts are decimal text, times epoch milliseconds, and what is not known is left out.
 *
 * @example await writeFile("payments.jsonl", toJsonLines(pay.payments()));
 */
export async function* toJsonLines(payments: PaymentSource): AsyncIterableIterator<string> {
  for await (const payment of payments) {
    yield `${JSON.stringify(payment, (_name, value) => (typeof value === "bigint" ? value.toString() : value))}\n`;
  }
}

/** The columns, in order: a new one comes last. */
const COLUMNS = [
  "proofId",
  "payer",
  "payTo",
  "network",
  "asset",
  "amount",
  "received",
  "settlement",
  "delivery",
  "transaction",
  "code",
  "claimedAt",
  "settledAt",
] as const satisfies readonly (keyof ListedPayment)[];

/**
 * Writes CSV (RFC 4180) with a line of names: amounts in atomic units, times as ISO 8601. A field that a spreadsheet would take
 * for a formula gets an apostrophe in front. Import amounts as text: spreadsheets keep fifteen digits.
 *
 * @example await writeFile("payments.csv", toCsv(pay.payments({ since: Date.now() - 86_400_000 })));
 */
export async function* toCsv(payments: PaymentSource): AsyncIterableIterator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const payment of payments) yield `${COLUMNS.map((name) => toField(name, payment[name])).join(",")}\r\n`;
}

/** What spreadsheets take for the beginning of a formula, the wide forms too, whatever white space stands before it. */
const FORMULA = /^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u;

function toField(name: (typeof COLUMNS)[number], value: string | number | bigint | undefined): string {
  if (value === undefined) return "";
  if (name === "claimedAt" || name === "settledAt") return new Date(Number(value)).toISOString();
  const text = String(value);
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
