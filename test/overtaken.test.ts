// A payment that is sold elsewhere while a copy of it is verified here: what the chain shows then is the settlement of this very
// payment. Nobody gets a new bill for it, nor hears that it is used up.
import { expect, it } from "vitest";
import type { Verification } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import { withoutKey } from "./e2e/world.js";
import { createFakeClock } from "./support/fake-clock.js";
import { codeOf, createWorld, scriptedReceiver } from "./support/world.js";

const KEY = "retry-key-0123456789";
const POOR: Verification = { outcome: "invalid", code: "insufficient_funds" };
const USED: Verification = { outcome: "used" };

/** Two processes on one store; the second one's next look at the chain comes to an end after `meanwhile`, with what is seen then. */
function twoProcesses(seen: Verification, meanwhile: () => Promise<unknown>) {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const first = createWorld({ clock, store });
  const receiver = scriptedReceiver();
  const second = createWorld({ clock, store, receiver });
  let overtaken = false;
  receiver.verify = async () => {
    if (!overtaken) await meanwhile();
    overtaken = true;
    return seen;
  };
  return { first, second };
}

it.each([
  ["the money is gone from its payer", POOR],
  ["the payment is used", USED],
])("a copy that is overtaken, so that %s, gets the goods like any repeat", async (_what, seen) => {
  const { first, second } = twoProcesses(seen, async () => {
    expect((await first.send({ headers })).answer.status).toBe(200);
  });
  const headers = await first.sign({ retryKey: KEY });
  const again = await second.send({ headers });
  expect([again.answer.status, again.header("Payment-Replayed")]).toEqual([200, "true"]);
  expect([first.runs.length, second.runs.length, first.receiver.calls.settle]).toEqual([1, 0, 1]);
});

it.each([
  ["the money is gone from its payer", POOR],
  ["the payment is used", USED],
])("a copy that is overtaken by one that is still at work, so that %s, waits its turn", async (_what, seen) => {
  let settle = () => {};
  const { first, second } = twoProcesses(seen, async () => {
    const settling = new Promise<void>((resolve) => {
      first.receiver.settlements.push(async ({ payer }) => {
        resolve();
        await new Promise<void>((go) => {
          settle = go;
        });
        return { outcome: "settled", transaction: `0x${"ab".repeat(32)}`, payer };
      });
    });
    sold = first.send({ headers });
    await settling;
  });
  let sold: ReturnType<typeof first.send> | undefined;
  const headers = await first.sign({ retryKey: KEY });
  expect(codeOf(await second.send({ headers }))).toEqual([409, "payment_in_progress"]);
  settle();
  expect((await sold)?.answer.status).toBe(200);
  expect(second.runs).toEqual([]);
});

it("a copy without the retry key that is overtaken is used up, as it says", async () => {
  const { first, second } = twoProcesses(POOR, async () => {
    expect((await first.send({ headers })).answer.status).toBe(200);
  });
  const headers = await first.sign({ retryKey: KEY });
  const copy = await second.send({ headers: withoutKey(headers) });
  expect(codeOf(copy)).toEqual([409, "payment_already_used"]);
  expect(copy.json().expected).toBe("the retry key of the first request");
});

it.each([
  ["is poor", POOR, [402, "insufficient_funds"]],
  ["is used", USED, [409, "payment_already_used"]],
])("a payment that %s and that nobody is at work on is refused at once", async (_what, seen, code) => {
  const { first, second } = twoProcesses(seen, async () => {});
  expect(codeOf(await second.send({ headers: await first.sign() }))).toEqual(code);
});
