// A receiver of one's own that throws, at once or later, or whose answer is none: it decides nothing. The payment stays good before
// a settlement has begun and is unknown once it has, and nobody gets a new bill for it.
import { afterEach, expect, it } from "vitest";
import { silentLogger } from "../src/logger.js";
import { createFailover } from "../src/receive/failover.js";
import type { Readiness, Receiver } from "../src/receive/receiver.js";
import { signal, standIn, verifyBy } from "./receive/failover-world.js";
import { makeProof } from "./support/bound-proof.js";
import { handClock } from "./support/hand-clock.js";
import { codeOf, createWorld, TRANSACTION } from "./support/world.js";

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
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

it.each([
  { outcome: "refused" },
  { outcome: "refused", code: "banana", reason: "no" },
  { outcome: "refused", code: "toString", reason: "no" },
])("a settlement is unknown where its refusal is for no code of the table: %j", async (answer) => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.settle = oddly(answer);
  for (let tries = 0; tries < 2; tries += 1) {
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    expect(sent.json()).not.toHaveProperty("accepts");
  }
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(60_000);
  expect((await world.send({ headers })).answer.status).toBe(200);
  world.context.lookups.close();
});

it.each([
  { outcome: "invalid" },
  { outcome: "invalid", code: "banana" },
  { outcome: "invalid", code: "toString" },
  { outcome: "unavailable" },
  { outcome: "unavailable", code: 503, message: "down" },
  { outcome: "valid", balance: "12" },
  { outcome: "valid", balance: 1.5 },
  { outcome: "valid", balance: null },
])("a payment stays good where its verdict is half of one: %j", async (answer) => {
  const world = createWorld();
  const headers = await world.sign();
  const { verify } = world.receiver;
  world.receiver.verify = async ({ payer }) => ({ payer, ...answer }) as never;
  expect(codeOf(await world.send({ headers }))).toEqual([503, "receiver_unreachable"]);
  expect(world.runs.length).toBe(0);
  world.receiver.verify = verify;
  expect((await world.send({ headers })).answer.status).toBe(200);
});

/** What a rejection that nobody hears ends: a Node process. */
const unheard: unknown[] = [];
const hear = (error: unknown) => void unheard.push(error);
afterEach(() => {
  process.off("unhandledRejection", hear);
  unheard.length = 0;
});

const NOT_READY = [
  undefined,
  null,
  {},
  { state: "misconfigured" },
  { state: "misconfigured", problems: [null] },
  { state: "misconfigured", problems: [{ expected: "a check" }] },
];

it.each(NOT_READY)("a receiver whose start-up check answers %j is unreachable, and asked again", async (answer) => {
  process.on("unhandledRejection", hear);
  const world = createWorld();
  world.receiver.ready = oddly(answer);
  const sent = world.send({ headers: await world.sign() });
  await world.clock.advance(5_000);
  expect(codeOf(await sent)).toEqual([503, "not_ready"]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(30_000);
  await turn();
  expect(unheard).toEqual([]);
  expect(world.log.filter((line) => line.includes("could not be made")).length).toBeGreaterThan(0);
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
});

it.each(NOT_READY)(
  "a receiver of several whose late check answers %j stays left out, and is asked again",
  async (odd) => {
    process.on("unhandledRejection", hear);
    const clock = handClock();
    const proof = await makeProof();
    const answers: unknown[] = [{ state: "unreachable", message: "it starts" }, odd, { state: "ready" }];
    const asked: string[] = [];
    const place = (name: string, ready: Receiver["ready"]) => {
      const verify: Receiver["verify"] = async ({ payer }) => {
        asked.push(name);
        return { outcome: "valid", payer };
      };
      return standIn({ name, ready, verify });
    };
    const late = place("late", async () => answers.shift() as Readiness);
    const all = createFailover([late, place("up", async () => ({ state: "ready" }))], { logger: silentLogger }, clock);
    expect(await all.ready([proof.requirement], signal())).toEqual({ state: "ready" });
    for (let look = 0; look < 2; look += 1) {
      clock.advance(30_000);
      await verifyBy(all, proof);
      await turn();
    }
    expect(asked).toEqual(["up", "up"]);
    await verifyBy(all, proof);
    expect(asked.at(-1)).toBe("late");
    expect(unheard).toEqual([]);
  },
);
