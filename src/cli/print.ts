// Tables for people, JSON for programs, boxes for what is shown once. Text that came from elsewhere reaches no terminal with
// its control characters.
import type { Environment } from "../environment.js";
import type { Io, Output } from "./io.js";

/** Lines of rows whose columns stand under each other. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** A list: a table on a terminal, JSON in a pipe or where it is asked for. */
export function printList<Item extends object>(
  io: Io,
  asJson: boolean | undefined,
  items: readonly Item[],
  headers: Readonly<Record<string, (item: Item) => string>>,
): void {
  if (asJson || !io.stdout.isTTY) return void io.stdout.write(`${JSON.stringify(items, null, 2)}\n`);
  if (items.length === 0) return void io.stderr.write("There are none.\n");
  const rows = items.map((item) => Object.values(headers).map((cell) => printable(cell(item)) || "-"));
  const [head = "", ...lines] = columns([Object.keys(headers), ...rows]);
  io.stdout.write(`${[bold(head, io.stdout, io.env), ...lines].join("\n")}\n`);
}

/** One thing that was made or changed: JSON in a pipe, a sentence on a terminal. */
export function printResult(io: Io, asJson: boolean | undefined, result: object, sentence: string): void {
  if (asJson || !io.stdout.isTTY) io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else io.stdout.write(`${printable(sentence)}\n`);
}

/** Lines in a frame. */
export function box(lines: readonly string[]): string[] {
  const width = Math.max(...lines.map((line) => line.length));
  const edge = (left: string, right: string) => `${left}${"─".repeat(width + 2)}${right}`;
  return [edge("┌", "┐"), ...lines.map((line) => `│ ${line.padEnd(width)} │`), edge("└", "┘")];
}

/** Bold on a terminal that shows it, unless NO_COLOR is set (no-color.org). */
export function bold(text: string, { isTTY }: Output, { NO_COLOR, TERM }: Environment): string {
  return isTTY && !NO_COLOR && TERM !== "dumb" ? `\u001b[1m${text}\u001b[22m` : text;
}

/** Without characters that a terminal would obey. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, "?");

/** An instant in Unix seconds, for people. */
export const formatInstant = (seconds: number | null): string =>
  seconds === null
    ? ""
    : new Date(seconds * 1000)
        .toISOString()
        .replace(/:\d\d\.\d{3}Z$/, "Z")
        .replace("T", " ");
