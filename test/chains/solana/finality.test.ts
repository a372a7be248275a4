// A settlement on Solana that was seen: confirmed, then final. What a node does not know is gone only where it is further than the
// settlement, and lost only by what a lookup would call expired.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpenedChain } from "../../../src/chains/chain.js";
import type { SettledTrace, Trace } from "../../../src/receive/receiver.js";
import { announcedTrace, createWorld, fault, lookup, settleContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world?.close());

const finality = (chain: OpenedChain, trace: SettledTrace) => chain.finality(trace, AbortSignal.timeout(5_000));

async function settled(): Promise<Trace> {
  const [proof, context] = [await world.proof(), settleContext()];
  expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "settled" });
  return announcedTrace(proof, context);
}

it("stands, and is final when its block is", async () => {
  const trace = await settled();
  const { transaction } = trace;
  expect(await finality(world.chain, trace)).toMatchObject({
    outcome: "settled",
    transaction,
    height: expect.any(Number),
  });
  world.sandbox.chain.advanceSlots(40);
  expect(await finality(world.chain, trace)).toMatchObject({ outcome: "final", transaction });
});

it("is gone only where a node that is further than its slot does not know it", async () => {
  const trace = await settled();
  const seen = await finality(world.chain, trace);
  if (seen.outcome !== "settled" || seen.height === undefined) throw new Error(JSON.stringify(seen));
  const forget = (slot: number) => fault.lie({ context: { slot }, value: [null] });
  world.rpc.script("getSignatureStatuses", forget(seen.height), 1);
  expect(await finality(world.chain, { ...trace, height: seen.height })).toMatchObject({ outcome: "unknown" });
  world.rpc.script("getSignatureStatuses", forget(seen.height + 5), 1);
  expect(await finality(world.chain, { ...trace, height: seen.height })).toEqual({ outcome: "gone" });
  world.rpc.clear();
});

it("names its slot from the first word on, whether it was settled or looked up", async () => {
  const [proof, context] = [await world.proof(), settleContext()];
  const first = await world.chain.settle(proof, context);
  const height = first.outcome === "settled" ? first.height : undefined;
  expect(height).toEqual(expect.any(Number));
  const trace = announcedTrace(proof, context);
  expect(await lookup(world.chain, trace)).toMatchObject({ outcome: "settled", height });
});

it("that a receiver's word alone stands for is gone only where a node's final block is younger than the word", async () => {
  const trace = await settled();
  const settledAt = Date.now();
  const ask = (more: object) => {
    world.rpc.script("getSignatureStatuses", fault.lie({ context: { slot: 2 ** 40 }, value: [null] }), 1);
    return finality(world.chain, { ...trace, ...more });
  };
  expect(await ask({})).toMatchObject({ outcome: "unknown" });
  expect(await ask({ settledAt })).toMatchObject({ outcome: "unknown" });
  const { chain } = world.sandbox;
  chain.setTime(Math.floor(settledAt / 1000) + 60);
  chain.advanceSlots(34);
  expect(await ask({ settledAt })).toEqual({ outcome: "gone" });
  world.rpc.script("getBlockTime", fault.lie(null), 1);
  expect(await ask({ settledAt })).toMatchObject({ outcome: "unknown" });
});

it("is nothing of all this while the node is silent or lies", async () => {
  const trace = { ...(await settled()), height: 1 };
  for (const next of [fault.html(), fault.lie(null), fault.lie({ value: [] }), fault.resetBefore()]) {
    world.rpc.script("getSignatureStatuses", next, 2);
    expect(await finality(world.chain, trace)).toMatchObject({ outcome: "unknown" });
    world.rpc.clear();
  }
});
