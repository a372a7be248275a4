// A settlement on Solana that was seen: confirmed, then final. What a node does not know is gone only where it is further than the
// settlement, and lost only by what a lookup would call expired.
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { OpenedChain } from "../../../src/chains/chain.js";
import type { SettledTrace, Trace } from "../../../src/receive/receiver.js";
import { traceOf } from "../../support/bound-proof.js";
import { announcedTrace, createWorld, fault, lookup, settleContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  // As many blocks as a search looks back.
  world.sandbox.chain.advanceSlots(300);
});
afterEach(() => world.rpc.clear());
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

/** One that the node knows nothing of, as after a fork was left, and the slot in which it stood. */
async function missing(): Promise<{ readonly trace: Trace; readonly height: number }> {
  const trace = await settled();
  const seen = await finality(world.chain, trace);
  if (seen.outcome !== "settled" || seen.height === undefined) throw new Error(JSON.stringify(seen));
  forget(seen.height + 5);
  return { trace, height: seen.height };
}

/** The node is at that slot, and has no transaction of anybody. */
function forget(slot: number): void {
  world.rpc.clear();
  world.rpc.script("getSignatureStatuses", fault.lie({ context: { slot }, value: [null] }), 100);
  world.rpc.script("getTransaction", fault.lie(null), 100);
  world.rpc.script("getSignaturesForAddress", fault.lie([]), 100);
}

it("is gone only where a node that is further than its slot does not know it", async () => {
  const { trace, height } = await missing();
  expect(await finality(world.chain, { ...trace, height })).toEqual({ outcome: "gone" });
  forget(height);
  expect(await finality(world.chain, { ...trace, height })).toMatchObject({ outcome: "unknown" });
});

it("is gone only as long as its bytes can land: a node that has lost its history takes no older sale back", async () => {
  const { trace, height } = await missing();
  const { slot = 0 } = trace.expiry ?? {};
  // Of somebody else's transaction no more is known than where it stood.
  const foreign = { ...trace, expiry: null, height };
  forget(height + 150);
  expect(await finality(world.chain, foreign)).toEqual({ outcome: "gone" });
  forget(height + 151);
  expect(await finality(world.chain, foreign)).toMatchObject({ outcome: "unknown" });
  world.sandbox.chain.advanceSlots(400);
  forget(2 ** 40);
  // From a snapshot: what was before it this node has never had.
  world.rpc.script("getFirstAvailableBlock", fault.lie(slot + 300), 100);
  expect(await finality(world.chain, { ...trace, height })).toMatchObject({ outcome: "unknown" });
  world.rpc.clear("getFirstAvailableBlock");
  expect(await finality(world.chain, { ...trace, height })).toEqual({ outcome: "lost" });
});

it("stands where the bytes are found, though its status is not, and by whatever id they have", async () => {
  const [mine, other] = [await settled(), await settled()];
  const { transaction } = mine;
  const [settledAt, elsewhere] = [Date.now() - 60_000, String(other.transaction)];
  // Nobody knows this id: the first half of one, and the second of another.
  const wrong = `${elsewhere.slice(0, 40)}${String(transaction).slice(40)}`;
  world.sandbox.chain.advanceSlots(34);
  for (const trace of [mine, { ...mine, expiry: null }, { ...mine, expiry: null, transaction: wrong }]) {
    world.rpc.script("getSignatureStatuses", fault.lie({ context: { slot: 2 ** 40 }, value: [null] }), 1);
    expect(await finality(world.chain, { ...trace, settledAt })).toMatchObject({ outcome: "settled", transaction });
    world.rpc.clear();
  }
});

it("is not gone while a node cannot tell which transactions the payer has", async () => {
  const { trace, height } = await missing();
  const foreign = { ...trace, expiry: null, height };
  const broken = fault.error(-32011, "Transaction history is not available from this node");
  const faults = [
    ["getSignaturesForAddress", foreign],
    ["getTransaction", { ...trace, height }],
    ["getEpochInfo", { ...trace, height }],
  ] as const;
  for (const [method, asked] of faults) {
    forget(height + 5);
    world.rpc.clear(method);
    world.rpc.script(method, broken, 5);
    expect(await finality(world.chain, asked), method).toMatchObject({ outcome: "unknown" });
  }
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
  const trace = traceOf(await world.proof(), String((await settled()).transaction));
  const { chain } = world.sandbox;
  const settledAt = Date.now();
  const ask = (more: object) => {
    forget(2 ** 40);
    return finality(world.chain, { ...trace, ...more });
  };
  expect(await ask({})).toMatchObject({ outcome: "unknown" });
  expect(await ask({ settledAt })).toMatchObject({ outcome: "unknown" });
  chain.setTime(Math.floor(settledAt / 1000) + 60);
  chain.advanceSlots(34);
  expect(await ask({ settledAt })).toEqual({ outcome: "gone" });
  forget(2 ** 40);
  world.rpc.script("getBlockTime", fault.lie(null), 5);
  expect(await finality(world.chain, { ...trace, settledAt })).toMatchObject({ outcome: "unknown" });
  // Its blockhash is over, though a quarter of an hour has not passed: a node back from a snapshot takes no such sale back.
  chain.advanceSlots(150);
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
