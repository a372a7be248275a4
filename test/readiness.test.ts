// Start-up: what the paywall sells before its checks against the chain are made, and when they fail.
import { expect, it } from "vitest";
import { createReadiness } from "../src/readiness.js";
import { makeProof } from "./support/bound-proof.js";
import { handClock } from "./support/hand-clock.js";
import { codeOf, createWorld } from "./support/world.js";

const MISMATCH = { check: "chain id", expected: "84532", got: "1", remedy: "set rpcUrl to a node of that chain" };

it("a mismatch closes the paywall for good and is logged with both values", async () => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.ready = async () => ({ state: "misconfigured", problems: [MISMATCH] });
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(60_000);
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
  expect(codeOf(await world.send({}))).toEqual([503, "misconfigured"]);
  expect([world.runs.length, world.receiver.calls.verify]).toEqual([0, 0]);
  expect(world.log.filter((line) => line.includes("84532") && line.includes("got 1"))).toHaveLength(1);
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

it("one mismatch that only another configuration mends keeps it closed, whatever else stands beside it", async () => {
  const world = createWorld();
  const headers = await world.sign();
  const gas = { check: "gas", expected: "some", got: "none", remedy: "send some", passing: true };
  world.receiver.ready = async () => ({ state: "misconfigured", problems: [gas, MISMATCH] });
  expect(codeOf(await world.send({ headers }))).toEqual([503, "misconfigured"]);
  world.receiver.ready = async () => ({ state: "ready" });
  await world.clock.advance(600_000);
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
