// Takes each money rule out in turn and demands that a test goes red. A rule is a line of the source; its control is a small
// patch in test/controls/*.json that removes it and names the tests that must notice. Everything runs on copies.
// node scripts/controls.mjs [--only TEXT]     TEXT = a part of the rule's name
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const WORKERS = 2;
/** What the tests named by controls read. Packages are found in the repository, above the copies. */
const COPIED = ["src", "adapters", "test", "package.json", "tsconfig.json", "vitest.config.ts"];

// A run takes long and loads the machine: nothing but what is meant begins one.
const [option, only = "", ...rest] = process.argv.slice(2);
if ((option !== undefined && option !== "--only") || (option && !only) || rest.length > 0) {
  console.log("node scripts/controls.mjs [--only TEXT]   TEXT = a part of a rule's name; without it every rule");
  process.exit(option === "--help" ? 0 : 2);
}
const folder = join(root, "test/controls");
const controls = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")))
  .filter(({ rule }) => rule.includes(only));

mkdirSync(join(root, ".cache"), { recursive: true });
const place = mkdtempSync(join(root, ".cache/controls-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

function makeCopy(name) {
  const copy = join(place, name);
  const filter = (path) => basename(path) !== "node_modules";
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true, filter });
  return copy;
}

/** Runs a tool of the repository in a copy; resolves with its exit code and all it printed. */
function run(copy, script, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, "node_modules", script), ...args], {
      cwd: copy,
      env: { ...process.env, NO_COLOR: "1" },
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ code, output }));
  });
}

const compile = (copy) => run(copy, "typescript/bin/tsc", ["-p", "tsconfig.json", "--noEmit"]);

/** The tests of some files whose names fit a pattern: each with its status, and files that could not even be loaded. */
async function test(copy, files, names, more = []) {
  const report = join(copy, "report.json");
  rmSync(report, { force: true });
  const args = ["run", ...files, "-t", names, "--reporter=json", `--outputFile=${report}`, ...more];
  const { output } = await run(copy, "vitest/vitest.mjs", args);
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8"));
    const tests = testResults.flatMap((file) => file.assertionResults.map((one) => ({ ...one, file: file.name })));
    return {
      tests,
      unloaded: testResults.filter(({ status, assertionResults }) => status === "failed" && !assertionResults.length),
    };
  } catch (error) {
    // Vitest writes no report when it ends badly; what it printed is then the reason.
    return { tests: [], unloaded: [{ message: `${error.message}\n${output}` }] };
  }
}

/** Applies a patch; gives what takes it back, or why it cannot be applied. */
function patch(copy, edits) {
  const originals = new Map();
  for (const { file, find, replace } of edits) {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    if (!originals.has(path)) originals.set(path, text);
    if (text.split(find).length !== 2)
      return { restore: () => restore(originals), problem: `${file} does not hold its text once` };
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
  }
  return { restore: () => restore(originals), problem: undefined };
}

function restore(originals) {
  for (const [path, text] of originals) writeFileSync(path, text);
}

/** Patches of different files are compiled together, which saves most of the time; one by one where that fails. */
async function findUncompilable(copies) {
  const batches = [];
  for (const control of controls) {
    const files = control.edits.map(({ file }) => file);
    const fitting = batches.find((one) => !files.some((file) => one.files.has(file)));
    const batch = fitting ?? { files: new Set(), controls: [] };
    if (!fitting) batches.push(batch);
    for (const file of files) batch.files.add(file);
    batch.controls.push(control);
  }
  const problems = new Map();
  await share(batches, copies, async (batch, copy) => {
    if ((await compilePatched(copy, batch.controls)) === undefined) return;
    for (const control of batch.controls) {
      const error = await compilePatched(copy, [control]);
      if (error) problems.set(control, `it does not compile: ${error}`);
    }
  });
  return problems;
}

/** The first error of the compiler, if there is one. */
async function compilePatched(copy, patches) {
  const applied = patches.map(({ edits }) => patch(copy, edits));
  const { code, output } = await compile(copy);
  for (const { restore } of applied.reverse()) restore();
  return code === 0 ? undefined : output.trim().split("\n", 1)[0];
}

/** Does all the work, one piece at a time in each copy. */
async function share(pieces, copies, work) {
  const queue = [...pieces];
  const workIn = async (copy) => {
    for (let piece = queue.shift(); piece; piece = queue.shift()) await work(piece, copy);
  };
  await Promise.all(copies.map(workIn));
}

/** Red only where a test failed by its own judgement: code that cannot run, or hangs, proves nothing. */
async function judge(copy, { edits, tests: files, names }) {
  const { restore, problem } = patch(copy, edits);
  if (problem) return { problem };
  const { tests, unloaded } = await test(copy, files, names, ["--maxWorkers=1", "--bail=1"]);
  restore();
  const failed = tests.filter(({ status }) => status === "failed");
  const judged = failed.find(({ failureMessages }) => !/timed out in \d+ ?ms/.test(failureMessages[0] ?? ""));
  if (judged) return { red: judged.fullName };
  if (failed.length > 0) return { problem: `it hangs: ${failed[0].fullName}` };
  if (unloaded.length > 0) return { problem: `its tests do not load: ${unloaded[0].message}` };
  return { problem: "every test stayed green" };
}

/** Every control needs tests that pass without it; a pattern that fits none would look like a green rule. */
async function checkBaseline(copy) {
  const types = await compile(copy);
  if (types.code !== 0) return [`the source does not compile:\n${types.output}`];
  const files = [...new Set(controls.flatMap(({ tests }) => tests))];
  const names = [...new Set(controls.map((control) => control.names))].join("|");
  const { tests, unloaded } = await test(copy, files, names, [`--maxWorkers=${WORKERS}`]);
  const problems = unloaded.map(({ message }) => `a test file does not load: ${message}`);
  for (const { fullName, status } of tests)
    if (status === "failed") problems.push(`it fails without a patch: ${fullName}`);
  for (const control of controls) {
    const fits = ({ file, fullName, status }) =>
      status === "passed" &&
      control.tests.some((path) => file.replaceAll("\\", "/").endsWith(path)) &&
      new RegExp(control.names).test(fullName);
    if (!tests.some(fits))
      problems.push(`${control.rule}: no test fits ${control.names} in ${control.tests.join(", ")}`);
  }
  return problems;
}

const startedAt = Date.now();
const copies = Array.from({ length: WORKERS }, (_, at) => makeCopy(String(at)));
const problems = controls.length === 0 ? [`no rule is named like ${only}`] : await checkBaseline(copies[0]);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}

const uncompilable = await findUncompilable(copies);
const green = [];
await share(controls, copies, async (control, copy) => {
  const unusable = uncompilable.get(control);
  const { red, problem } = unusable ? { problem: unusable } : await judge(copy, control);
  const title = `${control.rule}: ${control.removes}`;
  if (problem) green.push(title);
  console.log(red ? `red    ${title}\n       ${red}` : `GREEN  ${title}\n       ${problem}`);
});

if (green.length > 0) console.log(`\nNo test notices when these are removed:\n  ${green.join("\n  ")}`);
console.log(`${((Date.now() - startedAt) / 1000).toFixed(0)} s`);
console.log(`${controls.length} controls, ${controls.length - green.length} red, ${green.length} green`);
process.exitCode = green.length > 0 ? 1 : 0;
