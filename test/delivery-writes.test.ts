// That goods were delivered is said to the store until it has heard it: one lost write is no second sale of the same payment.
import { expect, it } from "vitest";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import { codeOf, createWorld } from "./support/world.js";

/** A shop whose store loses so many writes that say `delivered`, before they act or after. */
function shopThatLoses(count: number, when: "before" | "after") {
  const clock = createFakeClock();
  const inner = memoryStore({}, clock);
  let lost = 0;
  const store: Store = {
    ...inner,
    async commit(transaction) {
      const isLost = JSON.stringify(transaction).includes('"delivery":"delivered"') && lost < count;
      if (!isLost) return inner.commit(transaction);
      lost += 1;
      if (when === "after") await inner.commit(transaction);
      throw new Error("the connection was reset");
    },
  };
  const world = createWorld({ clock, store });
  const told: string[] = [];
  world.events.on("delivered", ({ proofId }) => void told.push(proofId));
  return { clock, world, told };
}

it.each([
  [1, "before"],
  [3, "before"],
  [1, "after"],
  [3, "after"],
] as const)("%i lost writes, lost %s they acted: the payment buys nothing a second time", async (count, when) => {
  const { clock, world, told } = shopThatLoses(count, when);
  const headers = await world.sign();
  expect((await world.send({ headers })).answer.status).toBe(200);
  await clock.advance(90_000);
  expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_already_used"]);
  expect([world.runs.length, world.receiver.calls.settle, told.length]).toEqual([1, 1, 1]);
  expect(world.log.join()).not.toContain("could not be stored");
});

it("a store that does not hear it within the lease leaves the goods to be asked for again, and the log says so", async () => {
  const { clock, world, told } = shopThatLoses(100, "before");
  const headers = await world.sign();
  expect((await world.send({ headers })).answer.status).toBe(200);
  await clock.advance(90_000);
  expect(told).toEqual([]);
  expect(world.log.join()).toContain("the end of a delivery could not be stored");
});
