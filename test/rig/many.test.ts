// Many distinct proofs through one process: what it holds of them is bounded by what lives at one time, not by how many there were.
// 20,000 with real signatures; by command a million without, and a heap of its own size:
// `RIG_PROOFS=1000000 npx vitest run test/rig/many.test.ts`. Needs a build.
import { join } from "node:path";
import { expect, it } from "vitest";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";

const LONG = process.env.RIG_PROOFS;
const PROOFS = Number(LONG ?? 20_000);
/** A payment is kept for 25 minutes of the process's clock: a few seconds here, a little more than one minute of the long run. */
const SPEED = LONG ? "20" : "250";
/** Milliseconds that one proof may take on a slow machine. */
const PROOF_MS = 15;

interface Line {
  readonly sold: number;
  readonly checked: number;
  readonly heap: number;
  readonly rss: number;
  readonly seconds: number;
}

it(`${PROOFS} distinct proofs leave no more behind than the last minutes' ones`, {
  timeout: PROOFS * PROOF_MS,
}, async () => {
  const env = { PROOFS: `${PROOFS}`, SPEED, ...(!LONG && { CHECKS: "signatures" }) };
  const run = await runNode(["--expose-gc", join(root, "test/rig/many.mjs")], env);
  expect(run.code, run.stderr).toBe(0);
  const lines = run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const last = lines.at(-1);
  if (LONG) process.stdout.write(run.stdout);
  expect(last).toMatchObject({ sold: PROOFS, checked: LONG ? 0 : PROOFS });
  // Both halves of the run, each at its highest: the second one had twice as many proofs before it.
  const most = (some: readonly Line[]) => Math.max(...some.map(({ heap }) => heap));
  const [first, second] = [most(lines.slice(0, 5)), most(lines.slice(5))];
  expect(second).toBeLessThan(1.25 * first + 10_000_000);
});
