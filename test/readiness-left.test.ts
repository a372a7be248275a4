// A token of a price function that is no token shuts what else is sold on its network for as long as somebody asks for it; for
// good it shuts itself alone.
import { expect, it } from "vitest";
import { silentLogger } from "../src/logger.js";
import { createReadiness } from "../src/readiness.js";
import type { Readiness, Receiver } from "../src/receive/receiver.js";
import type { Requirement } from "../src/requirement.js";
import { makeProof } from "./support/bound-proof.js";
import { settle } from "./support/fake-clock.js";
import { handClock } from "./support/hand-clock.js";
import { codeOf, createWorld, scriptedReceiver } from "./support/world.js";

const MINUTE = 60_000;
const SHUT = [503, "misconfigured"];
const OFFERED = [402, "payment_required"];
const asset = `0x${"12".repeat(20)}`;
const MISMATCH: Readiness = {
  state: "misconfigured",
  problems: [{ check: `code of ${asset}`, expected: "a token", got: "nothing", remedy: "name a token" }],
};

/** A shop that has sold at `/report`, and whose `/bad` has been asked for since. */
async function shutShop() {
  const chain = { isBad: (one: Requirement) => one.asset.toLowerCase() === asset };
  const ready = async (requirements: readonly Requirement[]): Promise<Readiness> =>
    requirements.some(chain.isBad) ? MISMATCH : { state: "ready" };
  const bad = { amount: "10000", asset, network: "base-sepolia", domain: { name: "X", version: "1" } };
  const world = createWorld({
    receiver: { ...scriptedReceiver(), ready },
    price: ({ target }) => (target === "/bad" ? bad : "$0.01"),
  });
  const show = async (target: string) => world.send({ target, headers: await world.sign({ target }) });
  expect((await show("/report")).answer.status).toBe(200);
  await show("/bad");
  /** A request a minute: what the last one is told. */
  const ask = async (target: string, minutes: number) => {
    let told: unknown;
    for (let minute = 0; minute < minutes; minute += 1) {
      await world.clock.advance(MINUTE);
      await world.send({ target });
      await settle();
      told = codeOf(await world.send({ target }));
    }
    return told;
  };
  return { world, chain, show, ask };
}

it("shuts the network for five minutes after the last request for it", async () => {
  const { ask, show } = await shutShop();
  expect(await ask("/report", 4)).toEqual(SHUT);
  expect(await ask("/report", 1)).toEqual(OFFERED);
  expect((await show("/report")).answer.status).toBe(200);
});

it("shuts the network while it is asked for, whoever asks and for whatever else", async () => {
  const { world, ask } = await shutShop();
  for (let round = 0; round < 5; round += 1) {
    expect(await ask("/report", 3)).toEqual(SHUT);
    expect(codeOf(await world.send({ target: "/bad" }))).toEqual(SHUT);
  }
});

it("is not offered itself once the network is open again, before its own check is passed", async () => {
  const { world, chain, ask } = await shutShop();
  expect(await ask("/report", 5)).toEqual(OFFERED);
  expect(codeOf(await world.send({ target: "/bad" }))).toEqual(SHUT);
  chain.isBad = () => false;
  expect(await ask("/bad", 1)).toEqual(OFFERED);
});

it("is neither offered nor sold while its own check cannot be made, and what is sold beside it is", async () => {
  const clock = handClock();
  const { requirement: good } = await makeProof();
  const bad = { ...good, asset };
  const receiver: Pick<Receiver, "ready"> = {
    ready: async (asked) => (asked.includes(bad) ? MISMATCH : { state: "ready" }),
  };
  const gate = createReadiness(receiver, clock, silentLogger);
  expect(await gate.settled([good])).toBe("ready");
  expect(await gate.settled([bad])).toBe("misconfigured");
  clock.advance(5 * MINUTE);
  await gate.settled([good]);
  await settle();
  expect(await gate.settled([good])).toBe("ready");
  receiver.ready = async () => ({ state: "unreachable", message: "the node is down" });
  const state = gate.settled([bad]);
  expect(gate.isMisconfigured([bad])).toBe(true);
  await settle();
  clock.advance(5_000);
  expect(await state).toBe("misconfigured");
  expect(gate.isMisconfigured([good])).toBe(false);
  expect(await gate.settled([good])).toBe("ready");
  gate.close();
});

it.each<[how: string, found: Readiness, told: string]>([
  ["passes", { state: "ready" }, "ready"],
  ["does not pass", MISMATCH, "misconfigured"],
])("leaves with it what was sold before and is asked for no more: its check %s anew", async (...[, found, told]) => {
  const clock = handClock();
  const { requirement: good } = await makeProof();
  const [bad, other] = [
    { ...good, asset },
    { ...good, payTo: `0x${"34".repeat(20)}` },
  ];
  const receiver: Pick<Receiver, "ready"> = {
    ready: async (asked) => (asked.includes(bad) ? MISMATCH : { state: "ready" }),
  };
  const gate = createReadiness(receiver, clock, silentLogger);
  expect(await gate.settled([good])).toBe("ready");
  expect(await gate.settled([bad])).toBe("misconfigured");
  for (const [minutes, one] of [
    [1, good],
    [5, other],
  ] as const) {
    clock.advance(minutes * MINUTE);
    expect(await gate.settled([one])).toBe("misconfigured");
    await settle();
  }
  expect(await gate.settled([other])).toBe("ready");
  receiver.ready = async (asked) => (asked.includes(good) ? found : { state: "ready" });
  expect(await gate.settled([good])).toBe(told);
  gate.close();
});

it("shuts the network for good where it is a fixed price", async () => {
  const clock = handClock();
  const { requirement } = await makeProof();
  const bad = { ...requirement, asset };
  const ready: Receiver["ready"] = async (asked) => (asked.includes(bad) ? MISMATCH : { state: "ready" });
  const gate = createReadiness({ ready }, clock, silentLogger);
  gate.cover([bad]);
  for (let minute = 0; minute < 20; minute += 1) {
    expect(await gate.settled([requirement])).toBe("misconfigured");
    clock.advance(MINUTE);
    await settle();
  }
  gate.close();
});

it("shuts the network on where what else is sold there does not pass either", async () => {
  const { chain, ask } = await shutShop();
  chain.isBad = () => true;
  expect(await ask("/report", 20)).toEqual(SHUT);
});
