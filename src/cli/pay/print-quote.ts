// What a request would cost: a table for people, JSON for programs. Nothing is signed.
import type { Quote } from "../../client/quote.js";
import { CliError, type Io } from "../io.js";
import { bold, columns, printable } from "../print.js";
import { toPlainJson } from "./json-answer.js";
import { toCliError } from "./outcome.js";

/** Prints it; gives what a payment would end in, where that is no payment. */
export function printQuote(io: Io, asJson: boolean | undefined, quote: Quote, host: string): CliError | undefined {
  const { error, ...facts } = quote;
  const ended = error && toCliError(error, { host, isNobodyThere: false, isOld: false });
  // What would be refused is no failure of the question.
  const refusal = ended && new CliError(ended.message, 3);
  if (asJson || !io.stdout.isTTY) {
    io.stdout.write(
      `${toPlainJson({ ...facts, ...(refusal && { error: { code: error?.code, message: refusal.message } }) })}\n`,
    );
    return refusal;
  }
  if (quote.free) io.stdout.write(`${printable(quote.url)} answers ${quote.status} and asks for no payment.\n`);
  if (quote.offers.length > 0) {
    const rows = quote.offers.map(({ index, price, network, payTo, payable }) => [
      index === quote.chosen ? "*" : "",
      price ?? "-",
      network ?? "-",
      payTo ?? "-",
      payable === true ? "can be paid" : payable,
    ]);
    const [head = "", ...lines] = columns(
      [["", "PRICE", "NETWORK", "TO", ""], ...rows].map((row) => row.map(printable)),
    );
    io.stdout.write(`${[bold(head, io.stdout, io.env), ...lines].join("\n")}\n`);
  }
  if (quote.description !== undefined) io.stdout.write(`It says: "${printable(quote.description)}"\n`);
  return refusal;
}
