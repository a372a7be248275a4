// Thousands of due proofs that are none of this process's, of a network whose own process is down for instance, stand before its
// own ones: it comes to each of them all the same, and asks for no more than a hundred at a time.
import { expect, it } from "vitest";
import { createReconciler } from "../src/reconciler.js";
import { createFakeClock } from "./support/fake-clock.js";

const SECOND = 1000;

/** A process with one own proof, or some, behind a crowd of others. */
function createScene(crowd: number, own: readonly string[] = ["own"]) {
  const clock = createFakeClock();
  const list = [...Array.from({ length: crowd }, (_, at) => `other-${at}`), ...own];
  const looked: string[] = [];
  const asked: (readonly [limit: number, skip: number])[] = [];
  const warnings: string[] = [];
  const note = (message: string) => void warnings.push(message);
  const reconciler = createReconciler({
    async due(limit, skip) {
      asked.push([limit, skip]);
      return list.slice(skip, skip + limit);
    },
    async look(id) {
      if (id.startsWith("other-")) return false;
      looked.push(id);
      // Looked up is due no more.
      list.splice(list.indexOf(id), 1);
      return true;
    },
    clock,
    logger: { debug: note, info: note, warn: note, error: note },
  });
  return { clock, list, looked, asked, warnings, reconciler };
}

it.each([99, 100, 1_000, 5_000])("behind %i that are not its own it comes to its own", async (crowd) => {
  const { clock, looked, asked, warnings, reconciler } = createScene(crowd);
  reconciler.start();
  await clock.advance((crowd / 100 + 2) * SECOND);
  expect(looked).toEqual(["own"]);
  expect(asked.every(([limit]) => limit === 100)).toBe(true);
  expect(warnings).toEqual([]);
  reconciler.close();
});

it("begins anew after the last one, so that what becomes due in front is come to as well", async () => {
  const { clock, list, looked, reconciler } = createScene(1_000, []);
  reconciler.start();
  await clock.advance(6 * SECOND);
  list.unshift("early");
  list.push("late");
  await clock.advance(30 * SECOND);
  expect(looked.sort()).toEqual(["early", "late"]);
  reconciler.close();
});

it("what it has looked up is due no more: those that stood behind are the next, and none of them is left for later", async () => {
  const { clock, list, looked, reconciler } = createScene(2_000, []);
  const own = Array.from({ length: 250 }, (_, at) => `own-${at}`);
  list.unshift(...own);
  reconciler.start();
  await clock.advance(2 * SECOND);
  expect([...looked].sort()).toEqual([...own].sort());
  reconciler.close();
});

it("asks every five seconds where nothing is left but a few that are not its own", async () => {
  const { clock, asked, reconciler } = createScene(30, []);
  reconciler.start();
  await clock.advance(60 * SECOND);
  expect(asked.length).toBeLessThan(15);
  reconciler.close();
});
