// The map of faults and attacks is whole and true: every number has a test that exists, or says which part that is not built
// yet will bring it; and such a reason ends on the day on which that part stands in the tree.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { runNode } from "./support/process.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Every number by its class. F: seen in real paywalls, facilitators and buyers; A: done to them; S: done to a sign-in. */
const NUMBERS: Readonly<Record<string, string>> = {
  "race-replay": "F1 F2 F3 F4 F5 F9",
  "paid-not-served": "F12 F13 F14 F15 F17 F18",
  "served-not-paid": "F20 F22 F24 F25 F26 F27 F28",
  "route-bypass": "F30 F32 F33 F34 F35 F36 F39 F40",
  "headers-cors-cache": "F41 F43 F45 F46 F49 F50 F52 F53",
  "streaming-bodies": "F54 F55 F56 F57 F61 F62",
  "startup-serverless": "F65 F66 F67 F68",
  "amounts-tokens": "F70 F71 F72 F73 F74 F76 F77",
  "clock-skew": "F79",
  solana: "F82 F83 F85 F86 F87",
  "rpc-facilitator": "F89 F90 F91 F92 F93",
  "smart-wallets": "F96",
  "browser-paywall": "F97 F99",
  "runtime-packaging": "F100 F101 F102",
  "buyer-client": "F106 F107 F108 F110 F111",
  "memory-resources": "F112 F114",
  "race-finality": "A1 A2 A5 A6 A7",
  binding: "A8 A10 A11 A12 A13 A16 A18",
  "proof-cache": "A20 A21 A22",
  "svm-fee-payer": "A24 A25 A26 A27 A30",
  "evm-facilitator": "A33 A34 A35",
  "gateway-http": "A36 A37 A39 A41 A42 A44 A45",
  "parsing-web": "A46 A47 A49 A50 A51 A53",
  "buyer-attacks": "A55 A58 A59",
  // A login and a link that are shown again.
  "sign-in": "S1 S2",
};

/** The parts that are still to come, by the words of a reason, with the place where each will stand. */
const TO_COME: Readonly<Record<string, string>> = {
  "the dashboard": "src/gateway/dashboard",
};
/** Numbers of which the design itself decides otherwise: nothing will come. */
const DECIDED = ["F53"];
/** The only numbers of built classes that may have a reason in place of a test. */
const WITHOUT_A_TEST = [...DECIDED];
const UNBUILT_CLASSES: readonly string[] = [];

const entry = z.strictObject({
  class: z.string(),
  /** `file > full name`, or several; `*` stands for any text, such as the name of a framework. */
  test: z.optional(z.union([z.string(), z.array(z.string()).min(2)])),
  reason: z.optional(z.string().min(15)),
  /** What the test does not say. */
  note: z.optional(z.string().min(15)),
});
const faults = z.record(z.string(), entry).parse(JSON.parse(readFileSync(join(root, "test/faults.json"), "utf8")));
const all = Object.entries(faults);
const testsOf = ({ test = [] }: z.infer<typeof entry>) => (typeof test === "string" ? [test] : test);

describe("the map of faults", () => {
  it("has every number once, under its class, and no other", () => {
    const expected = Object.entries(NUMBERS).flatMap(([name, list]) => list.split(" ").map((n) => `${n} ${name}`));
    expect(all.map(([number, fault]) => `${number} ${fault.class}`).sort()).toEqual(expected.sort());
  });

  it("gives each a test or a reason, never both and never neither", () => {
    expect(all.filter(([, { test, reason }]) => (test === undefined) === (reason === undefined))).toEqual([]);
  });

  it("gives no reason for what is built", () => {
    const excused = all.filter(([, { reason }]) => reason !== undefined);
    const wrong = excused.filter(
      ([number, fault]) => !UNBUILT_CLASSES.includes(fault.class) && !WITHOUT_A_TEST.includes(number),
    );
    expect(wrong.map(([number]) => number)).toEqual([]);
  });

  it("names in each reason the part that will bring the test, which is not there yet", () => {
    for (const [number, { reason }] of all) {
      if (reason === undefined || DECIDED.includes(number)) continue;
      const parts = Object.keys(TO_COME).filter((part) => reason.includes(part));
      expect([number, parts.length > 0], reason).toEqual([number, true]);
      const built = parts.filter((part) => existsSync(join(root, TO_COME[part] ?? "")));
      expect([number, built], "the part is built: the number needs its test now").toEqual([number, []]);
    }
  });
});

describe("the tests that the map names", () => {
  let names: string[] = [];
  // The names come from the runner itself, because a name may be made of data. Its own environment decides none of them.
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "faults-"));
    const list = join(folder, "names.json");
    const files = [...new Set(all.flatMap(([, fault]) => testsOf(fault).map((name) => name.split(" > ")[0] ?? "")))];
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const { code, stdout, stderr } = await runNode([
      vitest,
      "list",
      "--no-isolate",
      `--root=${root}`,
      `--json=${list}`,
      ...files,
    ]);
    if (code !== 0) throw new Error(`the names of the tests cannot be had:\n${stdout}\n${stderr}`);
    const collected = z.array(z.object({ name: z.string(), file: z.string() }));
    names = collected
      .parse(JSON.parse(readFileSync(list, "utf8")))
      .map(({ name, file }) => `${relative(root, file)} > ${name}`);
    rmSync(folder, { recursive: true });
  }, 180_000);

  it.each(all.filter(([, { test }]) => test !== undefined))("of %s exist", (_number, fault) => {
    const missing = testsOf(fault).filter((name) => !names.some((existing) => toPattern(name).test(existing)));
    expect(missing).toEqual([]);
  });

  it("do not exist under a name that was changed", () => {
    const [first = ""] = testsOf(faults.F1 ?? { class: "" });
    const changed = toPattern(first.replace("F1:", "F1 :"));
    expect(names.length).toBeGreaterThan(100);
    expect(names.some((existing) => changed.test(existing))).toBe(false);
  });
});

function toPattern(name: string): RegExp {
  const literal = name.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s");
}
