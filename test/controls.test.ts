// The list of controls stays true to the source: each patch still fits, names tests that exist, and no money rule is left
// without one. Whether the tests notice a removed rule is asked by `npm run controls`.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { root } from "./support/sources.js";

const control = z.strictObject({
  rule: z.string(),
  /** What the patch takes away, for the reader of a run. */
  removes: z.string(),
  edits: z.array(z.strictObject({ file: z.string(), find: z.string().min(8), replace: z.string() })).min(1),
  tests: z.array(z.string()).min(1),
  /** Pattern of the names of the tests that must notice. */
  names: z.string(),
});

/** Every rule by which money is guarded. A new one gets a line here and a control. */
const RULES = [
  "dashboard",
  "dashboard attacks",
  "dashboard signatures",
  "shared settler nonces",
  "goods only to the fence's holder",
  "observers decide nothing",
  "figures name nobody",
  "lists of payments",
  "buyer flow under attack",
  "command line under attack",
  "claim",
  "transitions",
  "reconciler",
  "restarted empty",
  "passes",
  "amount",
  "payTo",
  "page transfer",
  "payment page",
  "network",
  "asset",
  "time window",
  "request binding",
  "body digest",
  "chain id",
  "start-up checks",
  "simulation",
  "event pairing",
  "retry key",
  "fencing",
  "settling before sending",
  "transaction known before sending",
  "unknown is never a bill",
  "goods only when settled",
  "no goods without a stored settlement",
  "failed answers are free",
  "HEAD and OPTIONS",
  "signature",
  "verification",
  "forged copy",
  "used on chain",
  "records outlive their proofs",
  "payer sum limit",
  "open claims limit",
  "uncharged runs limit",
  "three deliveries",
  "Set-Cookie",
  "undecodable paths",
  "exact free",
  "price function",
  "guard exception",
  "settled by a facilitator",
  "verified by a facilitator",
  "duplicate settlement reference",
  "own transaction",
  "what nobody can receive is not offered",
  "keys are never repeated",
  "identity of a transaction",
  "always upfront",
  "layout",
  "payer's signature",
  "fee payer",
  "fee payer isolation",
  "network fee",
  "memo",
  "what one payer can cost",
  "local: what a gateway builds",
  "buyer flow: where money may go",
  "buyer flow: redirects",
  "buyer flow: one payment a call",
  "buyer flow: the same proof again",
  "buyer flow: what left stays counted",
  "buyer flow: the request itself",
  "buyer: reading",
  "gateway: EVM transfers",
  "gateway: facilitator",
  "gateway: settler nonces",
  "gateway: database",
  "gateway: HTTP",
  "gateway: events",
  "gateway: operator",
  "gateway: wallet proof",
  "gateway: Solana transfers",
  "gateway: hosted receiver",
  "gateway: hosted wallets",
  "gateway: money attacks",
  "gateway: send",
  "gateway: watch",
  "store: guard",
  "store: postgres",
  "store: redis",
  "store: shared",
  "store: sql",
  "store: sqlite",
  "buyer budget: caps and limits",
  "buyer budget: counting",
  "buyer budget: file",
  "buyer budget: units",
  "buyer budget: what is refused",
  "buyer budget: writes",
  "buyer gateway: client",
  "buyer gateway: hosted wallet",
  "buyer gateway: local transactions",
  "buyer: Solana wallet",
  "buyer: authorizations",
  "buyer: own transactions",
  "command line pays safely",
  "doctor tells what is wrong",
  "explain tells what is wrong",
  "gateway: missing tokens",
  "gateway: reverted settlements",
  "failover: one settlement",
  "failover: over for certain",
  "failover: Solana stays",
  "failover: only who fits",
  "failover: open to everybody",
  "an unknown ends by its own receiver",
  "settlements stay or are sent again",
];

const folder = join(root, "test/controls");
const controls = readdirSync(folder).flatMap((name) =>
  z.array(control).parse(JSON.parse(readFileSync(join(folder, name), "utf8"))),
);

it("every rule has a control, and every control a rule", () => {
  expect([...new Set(controls.map(({ rule }) => rule))].sort()).toEqual([...RULES].sort());
});

it("no two controls are the same", () => {
  const titles = controls.map(({ rule, removes }) => `${rule}: ${removes}`);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
});

it("every patch still fits the source, at one place", () => {
  const misfits = controls.flatMap(({ rule, edits }) =>
    edits
      .filter(({ file, find, replace }) => countOf(file, find) !== 1 || find === replace)
      .map((edit) => [rule, edit]),
  );
  expect(misfits).toEqual([]);
});

it("every control names test files that exist, and a pattern that can be read", () => {
  for (const { tests, names } of controls) {
    expect(tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(() => new RegExp(names)).not.toThrow();
  }
});

function countOf(file: string, text: string): number {
  return readFileSync(join(root, file), "utf8").split(text).length - 1;
}
