// Prints the one line that ends a check: `N passed, N failed`, and exits 1 when anything failed.
// node scripts/count-tests.mjs REPORT.json STEPS_PASSED STEPS_FAILED EXIT_CODE_OF_THE_TESTS
import { readFileSync } from "node:fs";

const [reportPath, stepsPassed, stepsFailed, exitCode] = process.argv.slice(2);
let passed = Number(stepsPassed);
let failed = Number(stepsFailed);

/** A report that cannot be read is told from one of no tests by the reason it prints. */
function readReport() {
  try {
    return JSON.parse(readFileSync(reportPath, "utf8"));
  } catch (error) {
    console.error(`The test report cannot be read: ${error.message}`);
    return undefined;
  }
}

const files = readReport()?.testResults ?? [];
for (const file of files) {
  const outcomes = file.assertionResults.map((test) => test.status);
  const failures = outcomes.filter((status) => status === "failed").length;
  passed += outcomes.filter((status) => status === "passed").length;
  // A file that does not load, or whose hooks fail, has no failed test of its own: the file counts as one.
  failed += file.status === "failed" ? Math.max(failures, 1) : failures;
}

const noTests = files.length === 0;
const silentFailure = Number(exitCode) !== 0 && failed === Number(stepsFailed);
if (noTests || silentFailure) failed += 1;

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
