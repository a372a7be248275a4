// The route table against the real routers: whatever one of them dispatches to a priced handler, the table must have priced,
// and with that very entry.
import express5 from "express";
import express4 from "express4";
import fc from "fast-check";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { compileRoutes } from "../src/routes.js";
import { table } from "./support/route-tables.js";
import { createExpress, createHono, type RouterUnderTest } from "./support/routers.js";

const PRICES = {
  "GET /docs/*": "free",
  "GET /paid": "$1",
  "GET /Report/Daily": "$1",
  "GET /items/:id": "$1",
  "GET /a/b/c/:leaf": "$1",
  "GET /files/*": "$1",
  "GET /shop/sale": "$1",
  "GET /shop/:id": "$5",
  "GET /it's,a-b.c": "$1",
};
const PATHS = [
  "/paid",
  "/Report/Daily",
  "/items/7",
  "/a/b/c/d",
  "/files",
  "/files/x/y.txt",
  "/shop/sale",
  "/shop/9",
  "/it's,a-b.c",
  "/docs/x",
];
const GLUE = [
  "/",
  "//",
  "%2F",
  "%2f",
  "%252F",
  "\\",
  "%5C",
  "/./",
  "/x/../",
  "/%2e/",
  "/x/%2E%2e/",
  "/x/.%2e/",
  ";a=1/",
  "/.;/",
  "%5c../",
];
const TAILS = [
  "/",
  "//",
  "/.",
  "/x/..",
  "?q=/docs/x",
  "#f",
  ";v=1",
  "%20",
  "%",
  "%zz",
  "%c0",
  "%09",
  "\t",
  "\u00a0",
  "\f",
  "%00",
  "?",
  "\\",
  "%2f",
  ".json",
  "%3f",
  "%23",
];
const HEADS = [
  "/",
  "//",
  "/.",
  "/x/..",
  "/docs/..",
  "/docs/%2e%2e",
  "/docs/..%2f",
  "\\",
  "http://localhost",
  "http://h:80",
  "HTTP://H",
  "//h",
];

type Change = { kind: "case" | "escape" | "double" | "glue" | "tail" | "head"; at: number; pick: number };
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("case", "escape", "double", "glue", "tail", "head"),
  at: fc.nat(40),
  pick: fc.nat(1000),
});

function applyChange(path: string, { kind, at, pick }: Change): string {
  const i = at % path.length;
  const character = path[i] ?? "";
  const swap = (text: string): string => path.slice(0, i) + text + path.slice(i + 1);
  const hex = character.charCodeAt(0).toString(16).padStart(2, "0");
  if (kind === "case")
    return swap(character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase());
  if (kind === "escape") return i === 0 || character > "\x7f" ? path : swap(`%${pick % 2 ? hex : hex.toUpperCase()}`);
  if (kind === "double") return i === 0 || character > "\x7f" ? path : swap(`%25${hex}`);
  if (kind === "tail") return path + TAILS[pick % TAILS.length];
  if (kind === "head") return HEADS[pick % HEADS.length] + path;
  const slashes = [...path.matchAll(/\//g)].map((found) => found.index);
  const slash = slashes[at % slashes.length] ?? 0;
  const glue = slash === 0 && !GLUE[pick % GLUE.length]?.startsWith("/") ? "//" : GLUE[pick % GLUE.length];
  return path.slice(0, slash) + glue + path.slice(slash + 1);
}

const variants = fc.sample(
  fc
    .tuple(fc.constantFrom(...PATHS), fc.array(change, { minLength: 0, maxLength: 4 }))
    .map(([path, changes]) => changes.reduce(applyChange, path)),
  { seed: 402, numRuns: 2000 },
);

const ROUTERS: [string, () => RouterUnderTest][] = [
  ["Express 5", () => createExpress(express5, {})],
  ["Express 5, strict routing", () => createExpress(express5, { strict: true })],
  ["Express 5, case sensitive", () => createExpress(express5, { caseSensitive: true })],
  ["Express 4", () => createExpress(express4, {})],
  ["Express 4, strict and case sensitive", () => createExpress(express4, { strict: true, caseSensitive: true })],
  ["Hono", () => createHono(new Hono())],
  ["Hono, not strict", () => createHono(new Hono({ strict: false }))],
];

describe("against the real routers, on 2,000 variants", () => {
  const { match } = compileRoutes(table(PRICES), { strict: false });

  it.each(ROUTERS)("%s reaches a priced handler only where the table says priced", async (_name, create) => {
    const router = create();
    const missed: string[] = [];
    const reached = new Set<string>();
    for (const target of variants) {
      for (const key of await router.dispatch(target)) {
        if (key === "GET /docs/*") continue;
        reached.add(target);
        const result = match("GET", target);
        const covered = result.kind === "undecodable" || (result.kind === "priced" && result.entry.key === key);
        if (!covered)
          missed.push(`${JSON.stringify(target)} reached ${key}, table says ${JSON.stringify(result.kind)}`);
      }
    }
    expect(missed).toEqual([]);
    // The comparison is worth nothing if the router answers only the plain spellings.
    expect([...reached].filter((target) => !PATHS.includes(target)).length).toBeGreaterThan(100);
  });
});
