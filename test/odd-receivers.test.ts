// A receiver of one's own that throws, at once or later, or whose answer is none: it decides nothing. The payment stays good before
// a settlement has begun and is unknown once it has, and nobody gets a new bill for it.
import { expect, it } from "vitest";
import { codeOf, createWorld, TRANSACTION } from "./support/world.js";

const oddly = (answer: unknown) => async () => answer as never;

const ODD: [what: string, answers: () => Promise<never>][] = [
  [
    "throws at once",
    () => {
      throw new Error("boom");
    },
  ],
  ["rejects", () => Promise.reject(new Error("boom"))],
  ["answers nothing", oddly(undefined)],
  ["answers null", oddly(null)],
  ["answers an empty object", oddly({})],
  ["answers a word of no contract", oddly({ outcome: "pending" })],
  ["says that it is settled, and by no transaction", oddly({ outcome: "settled" })],
];

it.each(ODD)("a settlement is unknown where its receiver %s", async (_what, answers) => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.settle = answers;
  for (let tries = 0; tries < 2; tries += 1) {
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
  }
  expect(world.runs.length).toBe(1);
  world.context.lookups.close();
});

it.each(ODD)("a payment stays good where the receiver that is to verify it %s", async (_what, answers) => {
  const world = createWorld();
  const headers = await world.sign();
  const { verify } = world.receiver;
  world.receiver.verify = answers;
  expect(codeOf(await world.send({ headers }))).toEqual([503, "receiver_unreachable"]);
  expect(world.runs.length).toBe(0);
  world.receiver.verify = verify;
  expect((await world.send({ headers })).answer.status).toBe(200);
});

it.each(ODD)("what is unknown stays so where its lookup %s", async (_what, answers) => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "the answer was lost" }));
  await world.send({ headers });
  const { lookup } = world.receiver;
  world.receiver.lookup = answers;
  await world.clock.advance(2_000);
  const again = await world.send({ headers });
  expect(codeOf(again)).toEqual([503, "settlement_unknown"]);
  expect(again.json()).not.toHaveProperty("accepts");
  world.receiver.lookup = lookup;
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(60_000);
  expect((await world.send({ headers })).answer.status).toBe(200);
  world.context.lookups.close();
});

it.each([{ outcome: "pending" }, {}])("a record is not held to be over by what is no finding: %j", async (found) => {
  const world = createWorld();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "the answer was lost" }));
  await world.send({ headers: await world.sign() });
  world.context.lookups.close();
  const id = world.runs[0]?.proofId ?? "";
  expect(await world.claims.resolve(id, found as never)).toMatchObject({
    changed: false,
    record: { settlement: "unknown" },
  });
});
