// The specification as a list of cases: a row of one of its tables, a request, and what is answered. Data, so that one list runs
// on every database, and so that `complete.test.ts` can hold it against the names of the rows.
import { describe, expect, it } from "vitest";
import type { GatewayErrorCode } from "../../../src/gateway/errors.js";
import { type Answer, type CallOptions, detailsOf } from "../call.js";
import type { Ground } from "./ground.js";

export interface Ask extends CallOptions {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object | string;
}
export type Make = (ground: Ground) => Ask | Promise<Ask>;

export interface Expected {
  readonly status: number;
  readonly code?: GatewayErrorCode;
  /** The place of the request that is blamed. */
  readonly field?: string;
  /** Members that the answer has, beside others. */
  readonly body?: object;
}

interface Named {
  readonly table: string;
  readonly row: string;
  /** The rest of the sentence that the test's name is. */
  readonly shows: string;
  /** Milliseconds, where the row itself takes time. */
  readonly takes?: number;
}
interface Asked extends Named {
  readonly ask: Make;
  readonly answers: Expected;
  /** What else must be so afterwards. */
  readonly after?: (ground: Ground, answer: Answer, asked: Ask) => void | Promise<void>;
}
/** Where one request does not show it. */
interface Checked extends Named {
  readonly check: (ground: Ground) => Promise<void>;
}
export type SpecCase = Asked | Checked;

/** A case without its place. */
export type Part = Omit<Asked, "table" | "row"> | Omit<Checked, "table" | "row">;

/** @example row("History query parameters", "limit | number | no | default 50; maximum 500", [{ shows, ask, answers }]) */
export const row = (table: string, name: string, parts: readonly Part[]): readonly SpecCase[] =>
  parts.map((part) => ({ table, row: name, ...part }));

export const ok = (body: object = {}): Expected => ({ status: 200, body });
export const refused = (status: number, code: GatewayErrorCode, field?: string): Expected => ({
  ...{ status, code },
  ...(field !== undefined && { field }),
});
export const invalid = (field: string): Expected => refused(400, "INVALID_REQUEST", field);

/** One case for each value that a field does not take. */
export const notTaken = (field: string, values: readonly unknown[], make: (change: object) => Make): readonly Part[] =>
  values.map((value) => ({
    shows: `refuses ${value === undefined ? "its absence" : shorten(JSON.stringify(value))}`,
    ask: make({ [field]: value }),
    answers: invalid(field),
  }));

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);

/** Whatever is no text, and what is no number. */
export const NO_TEXT: readonly unknown[] = [7, null, true, {}, []];
export const NO_NUMBER: readonly unknown[] = ["x", "", null, true, {}, []];

/** Makes the tests, by tables and rows. */
export function specify(cases: readonly SpecCase[], ground: () => Ground): void {
  for (const table of new Set(cases.map((one) => one.table))) {
    describe(table, () => {
      for (const name of new Set(cases.filter((one) => one.table === table).map((one) => one.row))) {
        describe(name, () => {
          for (const one of cases) if (one.table === table && one.row === name) run(one, ground);
        });
      }
    });
  }
}

function run(one: SpecCase, ground: () => Ground): void {
  it(
    one.shows,
    async () => {
      if ("check" in one) return one.check(ground());
      const asked = await one.ask(ground());
      const answer = await ground().ask(asked);
      expectAnswer(answer, one.answers);
      await one.after?.(ground(), answer, asked);
    },
    one.takes ?? 60_000,
  );
}

export function expectAnswer(answer: Answer, { status, code, field, body }: Expected): void {
  // The text shows in a failure why it was refused.
  expect([answer.status, answer.status === status ? "" : answer.text]).toEqual([status, ""]);
  if (status === 200) expect(answer.body).toMatchObject({ success: true, ...body });
  else expect(answer.body).toMatchObject({ success: false, ...(code && { error: { code } }), ...body });
  if (field === undefined) return;
  const paths = detailsOf(answer).map(({ path }) => path.split(".")[0]);
  expect([...new Set(paths)]).toEqual([field]);
}
