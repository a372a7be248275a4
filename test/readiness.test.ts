// Start-up: what the paywall sells before its checks against the chain are made, and when they fail.
import { expect, it } from "vitest";
import { PaywallConfigError } from "../src/errors.js";
import { createReadiness } from "../src/readiness.js";
import type { Readiness } from "../src/receive/receiver.js";
import type { Requirement } from "../src/requirement.js";
import { makeProof } from "./support/bound-proof.js";
import { settle } from "./support/fake-clock.js";
import { handClock } from "./support/hand-clock.js";
import { codeOf, createWorld, scriptedReceiver } from "./support/world.js";

const MISMATCH = { check: "chain id", expected: "84532", got: "1", remedy: "set rpcUrl to a node of that chain" };

/** Every request gets 503 `misconfigured` at once. */
async function expectShut(world: ReturnType<typeof createWorld>, headers: Record<string, string>): Promise<void> {
  for (const sent of [{ headers }, {}]) expect(codeOf(await world.send(sent))).toEqual([503, "misconfigured"]);
  await settle();
}

it("a mismatch closes the paywall and is logged with both values, once for as long as its words are the same", async () => {
  const world = createWorld();
  const headers = await world.sign();
  let got = "1";
  world.receiver.ready = async () => ({ state: "misconfigured", problems: [{ ...MISMATCH, got }] });
  for (let minute = 0; minute < 5; minute += 1) {
    await expectShut(world, headers);
    await world.clock.advance(60_000);
  }
  expect([world.runs.length, world.receiver.calls.verify]).toEqual([0, 0]);
  const lines = () => world.log.filter((line) => line.includes("expected 84532, got"));
  expect(lines()).toHaveLength(1);
  got = "10";
  await expectShut(world, headers);
  await world.clock.advance(60_000);
  await expectShut(world, headers);
  expect(lines()).toHaveLength(2);
});

it("a mismatch that has passed opens the paywall: requests have it asked again, once a minute, and wait for no answer", async () => {
  const world = createWorld();
  const headers = await world.sign();
  let asked = 0;
  let result: Readiness = { state: "misconfigured", problems: [MISMATCH] };
  world.receiver.ready = async () => {
    asked += 1;
    return result;
  };
  await expectShut(world, headers);
  const first = asked;
  await world.clock.advance(59_000);
  await expectShut(world, headers);
  expect(asked).toBe(first);
  // Without a request nothing is asked, whatever time passes.
  await world.clock.advance(600_000);
  expect(asked).toBe(first);
  result = { state: "unreachable", message: "the node is down" };
  await expectShut(world, headers);
  await world.clock.advance(59_000);
  await expectShut(world, headers);
  expect(asked).toBe(first + 1);
  world.receiver.ready = () => {
    asked += 1;
    return hang();
  };
  await world.clock.advance(1_000);
  await expectShut(world, headers);
  await world.clock.advance(59_000);
  await expectShut(world, headers);
  expect(asked).toBe(first + 2);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(1_000);
  expect(codeOf(await world.send({}))).toEqual([503, "misconfigured"]);
  await settle();
  expect(codeOf(await world.send({}))).toEqual([402, "payment_required"]);
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  expect(world.log.filter((line) => line.includes("are passed now"))).toHaveLength(1);
});

it("one odd answer for a token of a price function shuts what else is sold there for a minute, not for good", async () => {
  const asset = `0x${"12".repeat(20)}`;
  let odd = true;
  const ready = async (requirements: readonly Requirement[]): Promise<Readiness> =>
    odd && requirements.some((one) => one.asset.toLowerCase() === asset)
      ? { state: "misconfigured", problems: [{ ...MISMATCH, check: `code of ${asset}` }] }
      : { state: "ready" };
  const other = { amount: "10000", asset, network: "base-sepolia", domain: { name: "X", version: "1" } };
  const world = createWorld({
    receiver: { ...scriptedReceiver(), ready },
    price: ({ target }) => (target === "/other" ? other : "$0.01"),
  });
  const headers = await world.sign();
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  // A proof that nobody signed for that token is enough.
  await world.send({ target: "/other", headers: await world.sign({ target: "/other" }) });
  await expectShut(world, headers);
  odd = false;
  await world.clock.advance(60_000);
  await world.send({});
  await settle();
  expect(codeOf(await world.send({}))).toEqual([402, "payment_required"]);
});

it("what a receiver or a store refuses by a PaywallConfigError is never asked again", async () => {
  const world = createWorld();
  const headers = await world.sign();
  let asked = 0;
  world.receiver.ready = async () => {
    asked += 1;
    throw new PaywallConfigError([{ path: "store", code: "unsafe", message: "the policy evicts keys" }]);
  };
  await expectShut(world, headers);
  const first = asked;
  for (let day = 0; day < 3; day += 1) {
    await world.clock.advance(24 * 3600_000);
    await expectShut(world, headers);
  }
  expect(asked).toBe(first);
});

it("what the chain can mend closes it for ten seconds at a time: it opens once it is mended, and the log says each once", async () => {
  const world = createWorld();
  const headers = await world.sign();
  const gas = { check: "gas of settler 0x1", expected: "at least 9 wei", remedy: "send some" };
  let checks = 0;
  world.receiver.ready = async () => {
    checks += 1;
    return { state: "misconfigured", problems: [{ ...gas, passing: true, got: `${checks} wei` }] };
  };
  const buy = async () => codeOf(await world.send({ headers }));
  for (let i = 0; i < 5; i += 1) expect(await buy()).toEqual([503, "misconfigured"]);
  const first = checks;
  await world.clock.advance(9_000);
  for (let i = 0; i < 5; i += 1) expect(await buy()).toEqual([503, "misconfigured"]);
  expect(checks).toBe(first);
  await world.clock.advance(1_000);
  for (let i = 0; i < 5; i += 1) expect(await buy()).toEqual([503, "misconfigured"]);
  expect(checks).toBe(first + 1);
  world.receiver.ready = async () => ({ state: "ready" });
  expect(codeOf(await world.send({}))).toEqual([503, "misconfigured"]);
  expect(world.runs).toEqual([]);
  await world.clock.advance(10_000);
  expect(codeOf(await world.send({}))).toEqual([402, "payment_required"]);
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  expect(world.log.filter((line) => line.includes(" wei, got"))).toHaveLength(1);
  expect(world.log.filter((line) => line.includes("are passed now"))).toHaveLength(1);
});

it("a request waits for nothing that only another configuration mends, whatever else stands beside it", async () => {
  const world = createWorld();
  const headers = await world.sign();
  const gas = { check: "gas", expected: "some", got: "none", remedy: "send some", passing: true };
  world.receiver.ready = async () => ({ state: "misconfigured", problems: [gas, MISMATCH] });
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(59_000);
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
});

it("while the checks cannot be made a proof waits five seconds and gets 503; it buys once they are made", async () => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.ready = async () => ({ state: "unreachable", message: "the node is down" });
  const early = world.send({ headers });
  await world.clock.advance(5_000);
  expect(codeOf(await early)).toEqual([503, "not_ready"]);
  expect([world.runs.length, world.receiver.calls.verify]).toEqual([0, 0]);
  expect(codeOf(await world.send({}))).toEqual([402, "payment_required"]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(30_000);
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
});

const GAS = { check: "gas", expected: "some", got: "none", remedy: "send some", passing: true };
const hang = () => new Promise<never>(() => {});

it.each([
  ["takes for ever", hang],
  ["cannot be made", async () => ({ state: "unreachable", message: "the node is down" }) as const],
])("nothing is offered or sold while the new check %s, and both are once it is passed", async (_how, again) => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.ready = async () => ({ state: "misconfigured", problems: [GAS] });
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
  world.receiver.ready = again;
  await world.clock.advance(10_000);
  const both = [world.send({ headers }), world.send({})];
  await world.clock.advance(5_000);
  for (const one of both) expect(codeOf(await one)).toEqual([503, "misconfigured"]);
  expect([world.runs.length, world.receiver.calls.verify]).toEqual([0, 0]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(11_000);
  expect(codeOf(await world.send({}))).toEqual([402, "payment_required"]);
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
});

it("what was checked before is not sold either while a problem of its network is looked at anew", async () => {
  const clock = handClock();
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const { requirement } = await makeProof();
  const late = { ...requirement, payTo: `0x${"22".repeat(20)}` };
  const receiver: Parameters<typeof createReadiness>[0] = { ready: async () => ({ state: "ready" }) };
  const readiness = createReadiness(receiver, clock, logger);
  expect(await readiness.settled([requirement])).toBe("ready");
  receiver.ready = async () => ({ state: "misconfigured", problems: [GAS] });
  expect(await readiness.settled([late])).toBe("misconfigured");
  receiver.ready = hang;
  clock.advance(10_000);
  const state = readiness.settled([requirement]);
  expect(readiness.isMisconfigured([requirement])).toBe(true);
  clock.advance(5_000);
  expect(await state).toBe("misconfigured");
});
