// A chain whose slots end when the test says so: what stands in a block that may still vanish, and payments that have to
// be final.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { secretOf } from "./native-payment.js";
import { createNativeWorld, type NativeWorld, nativeTrace, PRICE, RENT } from "./native-world.js";
import { fault, lookup, settleContext, verifyContext } from "./world.js";

let world: NativeWorld;
beforeEach(async () => {
  // Longer than any test: slots end by `advanceSlots` alone.
  world = await createNativeWorld({ slotTimeMs: 0, landTimeMs: 600_000 });
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterEach(() => world.close());

const final = () => ({ ...world.requirement, confirmations: 32 });

/** A transfer in a block that is not confirmed. */
async function pending(label: string) {
  const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: label });
  return { signed, transaction: await world.broadcast(signed, "processed"), secret: secretOf(label).secret };
}

describe("a transfer in a block that is not confirmed yet", () => {
  it("is public already: good for its maker, and for nobody else", async () => {
    const { signed, secret } = await pending("early");
    const mine = await world.chain.verify(await world.prove(signed, { secret }), verifyContext());
    expect(mine).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
    const theirs = await world.chain.verify(await world.prove(signed), verifyContext());
    expect(theirs).toMatchObject({ outcome: "invalid", code: "payment_secret_required" });
  });

  it("counts as mined no later than it was, so that no memory which began since can take it for new", async () => {
    const { chain } = world.sandbox;
    const now = Math.floor(Date.now() / 1000);
    chain.setTime(now - 60);
    chain.advanceSlots(1);
    chain.setTime(now);
    const { signed, secret } = await pending("lower bound");
    const verdict = await world.chain.verify(await world.prove(signed, { secret }), verifyContext());
    expect(verdict).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
    expect(verdict.outcome === "valid" && verdict.minedAt).toBeLessThanOrEqual((now - 60) * 1000);
  });

  it("is waited for: settled only once its block is confirmed", async () => {
    const { signed, transaction, secret } = await pending("waited");
    const proof = await world.prove(signed, { secret });
    const calls = world.rpc.count("getLatestBlockhash");
    const context = settleContext();
    let done = false;
    const settled = world.chain.settle(proof, context).finally(() => {
      done = true;
    });
    await world.rpc.called("getLatestBlockhash", calls + 2);
    expect(done).toBe(false);
    // Its maker's from the start, and its life is not known yet.
    expect(context.announced).toEqual([{ id: transaction, expiry: undefined }]);
    world.sandbox.chain.advanceSlots(1);
    expect(await settled).toMatchObject({ outcome: "settled", transaction });
    // Its own block is among those that a lookup searches.
    expect(context.announced[1]?.expiry?.slot).toBeLessThan(Number(world.sandbox.chain.slot()) - 1);
    expect(world.received()).toBe(RENT + PRICE);
  });

  it("and never is: no settlement, and the payment stays good", async () => {
    const { signed, secret } = await pending("never");
    const settlement = await world.chain.settle(await world.prove(signed, { secret }), settleContext(1_200));
    expect(settlement).toMatchObject({ outcome: "unavailable" });
  });

  it("tells no age: no verdict", async () => {
    const { signed, secret } = await pending("ageless");
    const proof = await world.prove(signed, { secret });
    for (const method of ["getSlot", "getBlockTime"]) {
      world.rpc.script(method, fault.lie(null));
      expect(await world.chain.verify(proof, verifyContext()), method).toMatchObject({ outcome: "unavailable" });
    }
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
  });
});

describe("a price that wants 32 blocks", () => {
  it("is settled when it is final, and its lookup says nothing sooner", async () => {
    const { chain, sandbox, rpc } = world;
    const signed = await world.transfer(await sandbox.newBuyer());
    const proof = await world.prove(signed, { requirement: final() });
    const context = settleContext(20_000);
    let done = false;
    const settled = chain.settle(proof, context).finally(() => {
      done = true;
    });
    await rpc.reached("sendTransaction", 1);
    sandbox.chain.advanceSlots(31);
    const polls = rpc.count("getSignatureStatuses");
    await rpc.reached("getSignatureStatuses", polls + 2);
    expect(done).toBe(false);
    const trace = nativeTrace(proof, context);
    expect(await lookup(chain, trace)).toMatchObject({ outcome: "unknown" });
    // Where a record does not say how many blocks were sold, finality alone counts.
    const { confirmations: _, ...older } = trace;
    expect(await lookup(chain, older)).toMatchObject({ outcome: "unknown" });
    expect(await lookup(chain, { ...trace, confirmations: 31 })).toMatchObject({ outcome: "settled" });
    sandbox.chain.advanceSlots(1);
    expect(await settled).toMatchObject({ outcome: "settled", transaction: trace.transaction });
    expect(await lookup(chain, trace)).toMatchObject({ outcome: "settled" });
    expect(await lookup(chain, older)).toMatchObject({ outcome: "settled" });
  });

  it("is not settled by what is public and only confirmed", async () => {
    const { signed, secret } = await pending("confirmed");
    world.sandbox.chain.advanceSlots(1);
    const proof = await world.prove(signed, { secret, requirement: final() });
    const context = settleContext(3_000);
    expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "unknown" });
    expect(context.announced.map(({ expiry }) => expiry !== undefined)).toEqual([false, true]);
    world.sandbox.chain.advanceSlots(31);
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    expect(world.received()).toBe(RENT + PRICE);
  });
});
