// docs/gateway.md as data: its endpoints with their fields and codes, and the rows of its other tables. For tests that compare it
// with what the gateway does.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/sources.js";

export interface DocumentedEndpoint {
  /** `POST /payment/send`. */
  readonly endpoint: string;
  /** Rows of the table before the answer, by field. */
  readonly request: readonly Row[];
  readonly answer: readonly Row[];
  /** `400 INVALID_REQUEST`. */
  readonly codes: readonly string[];
}

/** One row of a table, by the heads of its columns. */
export type Row = Readonly<Record<string, string>>;

export const gatewayDocument = (): string => readFileSync(join(root, "docs/gateway.md"), "utf8");

/** The tables of a text, in order. */
export function tablesOf(text: string): readonly (readonly Row[])[] {
  const blocks = text.match(/^\|.*\|\n\|[-|]+\|\n(?:\|.*\|\n?)*/gm) ?? [];
  return blocks.map((block) => {
    const [head = [], , ...rows] = block.trim().split("\n").map(cellsOf);
    return rows.map((cells) => Object.fromEntries(head.map((name, index) => [name, cells[index] ?? ""])));
  });
}

const cellsOf = (line: string): string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** What stands in backticks, in order. */
export const wordsOf = (text = ""): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? "");

/** The part under a heading, without those beside it. */
export function sectionOf(text: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0;
  const from = text.indexOf(`\n${heading}\n`);
  if (from < 0) throw new Error(`docs/gateway.md has no heading ${heading}`);
  const rest = text.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, "m"));
  return end < 0 ? rest : rest.slice(0, end);
}

/** Every endpoint that has a heading of its own. */
export function documentedEndpoints(text: string): readonly DocumentedEndpoint[] {
  const section = sectionOf(text, "## Endpoints");
  return section.split(/^### /m).flatMap((part) => {
    const endpoint = /^([A-Z]+ \/\S+)/.exec(part)?.[1];
    if (endpoint === undefined) return [];
    const [before = "", after = ""] = part.split("Answer 200:");
    const errors = /^Errors: (.*)\.$/m.exec(part)?.[1] ?? "";
    const codes = errors.split(", ").map((one) => one.replaceAll("`", ""));
    return [{ endpoint, request: tablesOf(before).flat(), answer: tablesOf(after).flat(), codes }];
  });
}

/** `name` of a row whose first column names one thing. */
export const nameOf = (row: Row): string => wordsOf(row.field ?? row.code ?? row.endpoint ?? row.command)[0] ?? "";
