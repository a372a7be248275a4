// A settlement that was seen, on a real chain: it stays, is taken back, comes again by another's hand, or is over. A node that is
// behind, lies or is silent never makes it gone or lost.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { AuthorizationProof } from "../../../src/proof.js";
import type { Finality, Receiver } from "../../../src/receive/receiver.js";
import { traceOf } from "../../support/bound-proof.js";
import { createWorld, fault, settleContext, type World } from "./world.js";

let world: World;
/** Waits for a busy machine; `world.receiver` gives up after three seconds. */
let patient: Receiver;
beforeAll(async () => {
  world = await createWorld();
  patient = world.open({}, 20_000);
});
afterAll(() => world?.close());
beforeEach(() => world.rpc.clear());
vi.setConfig({ testTimeout: 60_000 });

interface Settled {
  readonly proof: AuthorizationProof;
  readonly transaction: string;
  readonly height: number;
}

async function settled(): Promise<Settled> {
  const proof = await world.proof();
  const settlement = await patient.settle(proof, settleContext(30_000));
  if (settlement.outcome !== "settled" || settlement.height === undefined) throw new Error(JSON.stringify(settlement));
  return { proof, transaction: settlement.transaction, height: settlement.height };
}

async function finality(
  { proof, transaction, height }: Settled,
  more: object = {},
  by = patient,
): Promise<Finality | undefined> {
  const trace = { ...traceOf(proof, transaction), height, ...more };
  return by.finality?.(trace, new AbortController().signal);
}

const unknown = { outcome: "unknown", message: expect.any(String) };

describe("a settlement that was seen", () => {
  it("stands, and is final once its block is", async () => {
    const one = await settled();
    const { transaction, height } = one;
    expect(await finality(one)).toEqual({ outcome: "settled", transaction, height });
    await world.sandbox.chain.mine(8);
    expect(await finality(one)).toEqual({ outcome: "final", transaction, height });
    expect(await finality(one, { height: undefined })).toEqual({ outcome: "final", transaction, height });
  });

  it("is gone when a chain as high as it was does not have it, and can be settled again by the same proof", async () => {
    await world.sandbox.chain.mine(4);
    const one = await settled();
    await world.sandbox.chain.mine(2);
    await world.sandbox.chain.reorg(3);
    expect(await finality(one)).toEqual({ outcome: "gone" });
    const again = await patient.settle(one.proof, settleContext(30_000));
    expect(again).toMatchObject({ outcome: "settled" });
    expect(await world.sandbox.token.balanceOf(one.proof.authorization.from)).toBe(
      (await world.sandbox.token.balanceOf((await world.sandbox.newBuyer()).address)) - one.proof.requirement.amount,
    );
  });

  it("is gone, where a receiver's word named no block, once the chain's own clock is past its time", async () => {
    const { chain } = world.sandbox;
    const one = await settled();
    await chain.reorg(1);
    const at = { height: undefined, settledAt: (await chain.time()) * 1000 };
    expect(await finality(one, at)).toEqual(unknown);
    await chain.setTime((await chain.time()) + 10);
    expect(await finality(one, at)).toEqual(unknown);
    await chain.setTime((await chain.time()) + 1);
    expect(await finality(one, at)).toEqual({ outcome: "gone" });
  });

  it("is not gone where the node is not as far as its block, nor where it is not known how far that is", async () => {
    await world.sandbox.chain.mine(8);
    const one = await settled();
    for (const method of ["eth_getTransactionReceipt", "eth_getBlockByNumber", "eth_call"]) {
      world.rpc.script(method, fault.stale(5), 100);
    }
    expect(await finality(one)).toEqual(unknown);
    expect(await finality(one, { height: undefined })).toEqual(unknown);
  });

  it("that was taken back and submitted by somebody else stands by his transaction", async () => {
    await world.sandbox.chain.mine(4);
    const one = await settled();
    await world.sandbox.chain.reorg(1);
    const transaction = await world.submit(one.proof);
    expect(await finality(one)).toMatchObject({ outcome: "settled", transaction });
  });

  it.each([
    ["hangs", fault.hang()],
    ["breaks the connection", fault.resetBefore()],
    ["answers HTML", fault.html()],
    ["answers null", fault.lie(null)],
    ["is on another chain", fault.wrongChain(1)],
  ])("is neither gone nor lost nor final when the chain %s", async (_what, next) => {
    const one = await settled();
    await world.sandbox.chain.mine(8);
    world.rpc.script("*", next, 100);
    expect(await finality(one, {}, world.receiver)).toEqual(unknown);
  });

  it("is lost only by a finalized block past its end in which it is unused", async () => {
    await world.sandbox.chain.mine(4);
    const snapshot = await world.sandbox.chain.snapshot();
    const one = await settled();
    await world.sandbox.chain.revert(snapshot);
    await world.sandbox.chain.mine(2);
    expect(await finality(one)).toEqual({ outcome: "gone" });
    await world.sandbox.chain.rpc("evm_increaseTime", [600]);
    await world.sandbox.chain.mine(1);
    expect(await finality(one)).toEqual(unknown);
    await world.sandbox.chain.mine(8);
    expect(await finality(one)).toEqual({ outcome: "lost" });
  });
});
