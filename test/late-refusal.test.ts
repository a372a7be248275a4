// A process that slept through its lease hears that its settlement was refused. By then others were told that the outcome is unknown,
// and a buyer who was told so is asked for no other payment before the chain has decided.
import { expect, it } from "vitest";
import type { Settlement } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import { codeOf, createWorld, TRANSACTION } from "./support/world.js";

const refused: Settlement = { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" };

/** A settlement of a process whose own clock stands still, which is refused when the lease is over by the store's. */
async function refuseLate() {
  const [asleep, awake] = [createFakeClock(), createFakeClock()];
  const store = memoryStore({}, awake);
  const sleeper = createWorld({ clock: asleep, store });
  const other = createWorld({ clock: awake, store });
  let answer = (_: Settlement) => {};
  sleeper.receiver.settlements.push(
    () =>
      new Promise<Settlement>((resolve) => {
        answer = resolve;
      }),
  );
  const headers = await sleeper.sign();
  const first = sleeper.send({ headers });
  await settle();
  await awake.advance(30_000);
  const told = codeOf(await other.send({ headers }));
  answer(refused);
  return { first: codeOf(await first), told, other, headers };
}

it("a refusal that comes when others were told of an unknown outcome makes no bill, for nobody", async () => {
  const { first, told, other, headers } = await refuseLate();
  expect(told).toEqual([503, "settlement_unknown"]);
  expect(first).toEqual([503, "settlement_unknown"]);
  expect(codeOf(await other.send({ headers }))).toEqual([503, "settlement_unknown"]);
});

it("the chain decides then: what was taken after all buys the goods", async () => {
  const { other, headers } = await refuseLate();
  other.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await other.clock.advance(10_000);
  expect((await other.send({ headers })).answer.status).not.toBe(402);
  expect(other.receiver.calls.settle).toBe(0);
});
