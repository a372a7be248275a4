// The last line of `.ci/run`: every test and every step is counted, and nothing that went wrong ends as a pass.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-count-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (status: string, ...outcomes: string[]) => ({
  status,
  assertionResults: outcomes.map((outcome) => ({ status: outcome })),
});

/** Counts a report; `undefined` = there is none. */
async function count(report: object | undefined, steps: [passed: number, failed: number], exitCode: number) {
  const path = join(folder, report ? "report.json" : "missing.json");
  if (report) writeFileSync(path, JSON.stringify(report));
  const run = await runNode([join(root, "scripts/count-tests.mjs"), path, ...[...steps, exitCode].map(String)]);
  return { line: run.stdout.trim(), code: run.code };
}

describe("the count of a check", () => {
  it("adds the steps to the tests", async () => {
    const report = { testResults: [file("passed", "passed", "passed", "skipped"), file("passed", "passed")] };
    expect(await count(report, [5, 0], 0)).toEqual({ line: "8 passed, 0 failed", code: 0 });
  });

  it("fails for a failed test", async () => {
    const report = { testResults: [file("failed", "passed", "failed")] };
    expect(await count(report, [5, 0], 1)).toEqual({ line: "6 passed, 1 failed", code: 1 });
  });

  it("fails for a failed step although every test passed", async () => {
    const report = { testResults: [file("passed", "passed")] };
    expect(await count(report, [4, 1], 0)).toEqual({ line: "5 passed, 1 failed", code: 1 });
  });

  it("counts a file that did not load as one failure", async () => {
    const report = { testResults: [file("passed", "passed"), file("failed")] };
    expect(await count(report, [5, 0], 1)).toEqual({ line: "6 passed, 1 failed", code: 1 });
  });

  it("fails when the tests ended badly although none is reported as failed", async () => {
    const report = { testResults: [file("passed", "passed")] };
    expect(await count(report, [4, 1], 1)).toEqual({ line: "5 passed, 2 failed", code: 1 });
  });

  it("fails without a report and for a report without tests", async () => {
    expect(await count(undefined, [5, 0], 0)).toEqual({ line: "5 passed, 1 failed", code: 1 });
    expect(await count({ testResults: [] }, [5, 0], 0)).toEqual({ line: "5 passed, 1 failed", code: 1 });
  });
});
