// Every place at which a value breaks the protocol's schema, with what was expected there. What must not be repeated (a
// signature, a secret, a signed transaction) is described by its length.
import type * as z from "zod/mini";
import { issueText } from "../../wire/issue.js";
import { came, type Findings } from "./findings.js";

const UNSPOKEN = new Set(["signature", "secret", "transaction"]);

/** True where the value has the form of the schema; else each place is a flaw. `at`: where the value stands. */
export function hasShape(schema: z.ZodMiniType, value: unknown, at: string, out: Findings): boolean {
  const parsed = schema.safeParse(value);
  for (const issue of parsed.error?.issues ?? []) {
    const place = joined(at, issue.path);
    const got = issue.path.reduce<unknown>((here, key) => memberOf(here, key), value);
    const last = issue.path.at(-1);
    const hidden = typeof last === "string" && UNSPOKEN.has(last) && typeof got === "string";
    const expected = issueText(issue).replace(/^expected /, "");
    out.flaw(place, expected, hidden ? `a text of ${got.length} characters (not shown)` : came(got));
  }
  return parsed.success;
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

/** `accepts[0].extra.name` */
export function joined(at: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((place, key) => {
    if (typeof key === "number") return `${place}[${key}]`;
    return place === "" ? String(key) : `${place}.${String(key)}`;
  }, at);
}
