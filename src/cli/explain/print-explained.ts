// Explanations as lines for people and as JSON for programs. Whatever a stranger wrote reaches neither with its control
// characters.
import type { Io } from "../io.js";
import { bold, columns, printable } from "../print.js";
import { type Explained, flawsOf } from "./findings.js";
import { countWrong } from "./words.js";

const LABELS: Readonly<Record<string, string>> = {
  price: "Price",
  accepted: "Accepted",
  network: "Network",
  payTo: "To",
  payer: "From",
  asset: "Asset",
  flow: "By",
  within: "Within",
  validFrom: "Valid from",
  validUntil: "Valid until",
  retryKey: "Retry key",
  signature: "Signature",
  transaction: "Transaction",
  feePayer: "Fee payer",
  fee: "Network fee",
  nonce: "Account nonce",
  resource: "For",
  description: "Described as",
  extensions: "Extensions",
  reason: "Reason",
  message: "Message",
  amount: "Amount",
  status: "Status",
  location: "Leads to",
};

/** Prints all of it: JSON in a pipe or where it is asked for. */
export function printExplained(io: Io, asJson: boolean | undefined, found: readonly Explained[]): void {
  if (asJson || !io.stdout.isTTY) {
    const clean = (_key: string, value: unknown) => (typeof value === "string" ? printable(value) : value);
    const ok = found.every((one) => flawsOf(one).length === 0);
    return void io.stdout.write(`${JSON.stringify({ ok, found: found.map(toJson) }, clean, 2)}\n`);
  }
  const lines = found.flatMap((one, at): Line[] => [...(at > 0 ? [[0, ""] as const] : []), ...linesOf(one, io)]);
  io.stdout.write(`${lines.map(printLine).join("\n")}\n`);
}

const toJson = ({ facts, offers, ...one }: Explained): object => ({
  ...one,
  facts: Object.fromEntries(facts.map(({ name, text }) => [name, text])),
  offers: offers.map(toJson),
});

/** A line of ours may be bold; everything else in it is made printable piece by piece. */
type Line = readonly [indent: number, text: string, strong?: (text: string) => string];

function linesOf(one: Explained, io: Io): Line[] {
  const strong = (text: string) => bold(text, io.stdout, io.env);
  const where = one.where === "body" || one.where === "value" ? "" : `${one.where}: `;
  const lines: Line[] = [[0, `${where}${one.says}`, strong], ...factLines(one, 2)];
  for (const [at, offer] of one.offers.entries()) {
    if (one.offers.length > 1) lines.push([2, `Offer ${at + 1}: ${offer.says.replace(/^Asks /, "")}`]);
    lines.push(...factLines(offer, one.offers.length > 1 ? 4 : 2));
  }
  const notes = [...new Set([one, ...one.offers].flatMap((each) => each.notes))];
  if (notes.length > 0) lines.push([2, "Worth knowing"], ...notes.map((note): Line => [4, `- ${note}`]));
  const flaws = flawsOf(one);
  if (flaws.length > 0) lines.push([2, countWrong(flaws.length), strong]);
  for (const { place, expected, got } of flaws) {
    lines.push([4, place], [6, `expected ${expected}`], [6, `got ${got}`]);
  }
  return lines;
}

const ORDER = Object.keys(LABELS);

const factLines = ({ facts }: Explained, indent: number): Line[] =>
  columns(
    facts
      .toSorted((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name))
      .map(({ name, text }) => [LABELS[name] ?? name, text]),
  ).map((line) => [indent, line]);

const printLine = ([indent, text, strong = (same: string) => same]: Line): string =>
  `${" ".repeat(indent)}${strong(printable(text))}`;
