// What a doctor finds, row by row, as a table for people and as JSON for programs.
import { hideKeys } from "../../secret.js";
import type { Io } from "../io.js";
import { bold, columns, printable } from "../print.js";

/** `note`: nothing is wrong, and worth knowing. */
export type State = "ok" | "wrong" | "unreachable" | "note";

export interface Row {
  /** What it is about: a network, `store`, `clock`. */
  readonly part: string;
  readonly check: string;
  readonly state: State;
  /** What was found; beside `wrong` what was expected, too. */
  readonly found: string;
  /** What to do. */
  readonly remedy?: string;
}

const WORDS: Readonly<Record<State, string>> = {
  ok: "ok",
  wrong: "WRONG",
  unreachable: "NOT REACHABLE",
  note: "note",
};

export const isBad = ({ state }: Row): boolean => state === "wrong" || state === "unreachable";

/** One check that was made for several reasons is told once, and by whom it was made first. */
export function withoutTwins(rows: readonly Row[]): Row[] {
  const once = new Map(rows.map((row) => [[row.part, row.check, row.state, row.found].join("\n"), row]));
  const bad = rows.filter(isBad);
  // Who asked a dead node later only puts his own words before it.
  const repeats = ({ state, found }: Row) =>
    (state === "unreachable" || state === "note") &&
    bad.some((row) => found.endsWith(row.found) && found.length > row.found.length);
  return [...once.values()].filter((row) => !repeats(row));
}

/** Prints all rows. Neither form holds a key or a control character of somebody else's. */
export function printRows(io: Io, asJson: boolean | undefined, of: "seller" | "gateway", rows: readonly Row[]): void {
  const clean = (text: string) => printable(hideKeys(text));
  if (asJson || !io.stdout.isTTY) {
    const replace = (_key: string, value: unknown) => (typeof value === "string" ? clean(value) : value);
    return void io.stdout.write(`${JSON.stringify({ ok: !rows.some(isBad), of, rows }, replace, 2)}\n`);
  }
  const table = columns(rows.map(({ state, part, check, found }) => [WORDS[state], part, check, found].map(clean)));
  for (const [at, line] of table.entries()) {
    const row = rows[at];
    io.stdout.write(`${row && isBad(row) ? bold(line, io.stdout, io.env) : line}\n`);
    if (row?.remedy !== undefined && row.state !== "ok") io.stdout.write(`    ${clean(row.remedy)}\n`);
  }
}
