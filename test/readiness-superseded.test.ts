// Start-up checks that another run has taken the place of: what their receiver answers late, for a state of the chain that was
// looked at since, neither opens a shop nor shuts one.
import { afterEach, expect, it, vi } from "vitest";
import { createReadiness } from "../src/readiness.js";
import type { Readiness } from "../src/receive/receiver.js";
import { makeProof } from "./support/bound-proof.js";
import { settle } from "./support/fake-clock.js";
import { handClock } from "./support/hand-clock.js";

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const problem = (passing: boolean): Readiness => ({
  state: "misconfigured",
  problems: [{ check: "gas", expected: "some", got: "none", remedy: "send", passing }],
});

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** A gate whose receiver answers when it is told to, and takes no notice of the signal; two runs are under way. */
async function twoRuns() {
  const clock = handClock();
  const { requirement } = await makeProof();
  const runs: { readonly asked: number; answer(readiness: Readiness): void }[] = [];
  const ready = (requirements: readonly unknown[]) =>
    new Promise<Readiness>((answer) => void runs.push({ asked: requirements.length, answer }));
  const gate = createReadiness({ ready }, clock, logger);
  opened.push(() => gate.close());
  gate.cover([requirement]);
  const waiting = gate.settled([requirement]);
  await vi.waitUntil(() => runs.length === 2, { timeout: 10_000 });
  return { clock, gate, runs, waiting, state: () => gate.settled([requirement]) };
}

it("that pass late do not open a shop whose settler has no gas, nor leave its recheck without a question", async () => {
  const { clock, runs, waiting, state } = await twoRuns();
  runs[1]?.answer(problem(true));
  expect(await waiting).toBe("misconfigured");
  runs[0]?.answer({ state: "ready" });
  await settle();
  clock.advance(10_000);
  const later = state();
  await vi.waitUntil(() => runs.length === 3, { timeout: 10_000 });
  expect(runs[2]?.asked).toBe(1);
  runs[2]?.answer(problem(true));
  expect(await later).toBe("misconfigured");
});

it("that find a mismatch late do not shut a shop that has passed since", async () => {
  const { clock, runs, waiting, state } = await twoRuns();
  runs[1]?.answer({ state: "ready" });
  expect(await waiting).toBe("ready");
  runs[0]?.answer(problem(false));
  await settle();
  clock.advance(600_000);
  expect(await state()).toBe("ready");
});
