// No row of the specification is without a test, and no test is of a row that the specification does not have. The names of
// the rows are a list of their own: whoever takes a case away, or adds one, changes it here as well.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod";
import { ALL } from "./all.js";

const rowSchema = z.strictObject({ table: z.string().min(1), row: z.string().min(1) });
const rows = z.array(rowSchema).parse(JSON.parse(readFileSync(new URL("rows.json", import.meta.url), "utf8")));

const nameOf = ({ table, row }: z.infer<typeof rowSchema>) => `${table}: ${row}`;
const named = rows.map(nameOf);
const tested = [...new Set(ALL.map(nameOf))];

it("every row of the specification has a test", () => {
  expect(named.filter((name) => !tested.includes(name))).toEqual([]);
});

it("every test has a row of the specification", () => {
  expect(tested.filter((name) => !named.includes(name))).toEqual([]);
});

it("no row stands twice, and no two tests of a row have one name", () => {
  const sentences = ALL.map((one) => `${nameOf(one)} ${one.shows}`);
  for (const names of [named, sentences]) expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});
