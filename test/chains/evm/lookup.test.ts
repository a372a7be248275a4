import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AuthorizationProof } from "../../../src/proof.js";
import { traceOf } from "../../support/bound-proof.js";
import { createWorld, fault, settleContext, unixNow, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

const lookup = (proof: AuthorizationProof, transaction: string | null = null) =>
  world.receiver.lookup(traceOf(proof, transaction), new AbortController().signal);
const unknown = { outcome: "unknown", message: expect.any(String) };

async function settled(): Promise<{ proof: AuthorizationProof; transaction: string }> {
  const proof = await world.proof();
  const settlement = await world.receiver.settle(proof, settleContext());
  if (settlement.outcome !== "settled") throw new Error(JSON.stringify(settlement));
  return { proof, transaction: settlement.transaction };
}

describe("a lookup", () => {
  it("finds a settlement by its transaction and without it", async () => {
    const { proof, transaction } = await settled();
    expect(await lookup(proof, transaction)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
    expect(await lookup(proof)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
  });

  it("finds an outsider's transaction where ours is unknown to the chain", async () => {
    const proof = await world.proof();
    const transaction = await world.submit(proof);
    expect(await lookup(proof, `0x${"77".repeat(32)}`)).toEqual({
      outcome: "settled",
      transaction,
      height: expect.any(Number),
    });
  });

  it("is too old for what was mined before the store's memory begins, unless it is what was announced", async () => {
    const { proof, transaction } = await settled();
    const signal = new AbortController().signal;
    const at = (since: number, announced: string | null = null) =>
      world.receiver.lookup({ ...traceOf(proof, announced), since }, signal);
    expect(await at(Date.now() + 5_000)).toEqual({ outcome: "too_old" });
    expect(await at(Date.now() + 5_000, transaction)).toMatchObject({ outcome: "settled" });
    expect(await at(Date.now() - 60_000)).toMatchObject({ outcome: "settled" });
  });

  it("is not deceived by another payment's transaction", async () => {
    const { transaction } = await settled();
    expect(await lookup(await world.proof(), transaction)).toEqual(unknown);
  });

  it("is unknown for an amount or a payee that is not the transaction's", async () => {
    const { proof, transaction } = await settled();
    const signal = new AbortController().signal;
    for (const other of [
      { amount: "10001" },
      { payTo: world.sandbox.settler.address },
      { asset: `0x${"12".repeat(20)}` },
    ]) {
      expect(await world.receiver.lookup({ ...traceOf(proof, transaction), ...other }, signal)).toEqual(unknown);
    }
  });

  it("is unknown as long as an unused authorization could still be used in finalized time", async () => {
    expect(await lookup(await world.proof())).toEqual(unknown);
  });

  it.each([
    ["hangs", fault.hang()],
    ["breaks the connection", fault.resetBefore()],
    ["answers HTML", fault.html()],
    ["is on another chain", fault.wrongChain(1)],
  ])("is unknown when the chain %s", async (_, next) => {
    const { proof, transaction } = await settled();
    world.rpc.script("eth_chainId", next);
    expect(await lookup(proof, transaction)).toEqual(unknown);
  });

  it("does not take a receipt for its transaction that the node gives for another", async () => {
    const { transaction } = await settled();
    const receipt = await world.sandbox.chain.rpc("eth_getTransactionReceipt", [transaction]);
    world.rpc.script("eth_getTransactionReceipt", fault.lie(receipt));
    expect(await lookup(await world.proof(), `0x${"77".repeat(32)}`)).toEqual(unknown);
  });

  it("searches the logs in smaller ranges for a node that refuses large ones", async () => {
    const { proof, transaction } = await settled();
    await world.sandbox.chain.mine(2_500);
    world.rpc.script("eth_getLogs", fault.error(-32602, "block range is too large"), 2);
    expect(await lookup(proof)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
    expect(world.rpc.count("eth_getLogs")).toBeGreaterThan(3);
  }, 90_000);
});

describe("an authorization past its end", () => {
  it("is expired once finalized time is past it, not while only the latest block is, and stays settled if it was", async () => {
    const { proof: paid, transaction } = await settled();
    const proof = await world.proof();
    const end = proof.authorization.validBefore;
    // By then a proof that is made some seconds later is over as well, as the next test wants it.
    await world.sandbox.chain.setTime(end + 60n);
    expect(await lookup(proof)).toEqual(unknown);
    await world.sandbox.chain.mine(10);
    expect(await lookup(proof)).toEqual({ outcome: "expired" });
    expect(await lookup(paid)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
    expect(end).toBeGreaterThan(unixNow());
  });

  it("is not expired where the finalized state cannot be read or shows it as used", async () => {
    const proof = await world.proof();
    expect(await lookup(proof)).toEqual({ outcome: "expired" });
    world.rpc.script("eth_getBlockByNumber", fault.lie(null));
    expect(await lookup(proof)).toEqual(unknown);
    world.rpc.script("eth_call", fault.pass());
    world.rpc.script("eth_call", fault.lie(`0x${"0".repeat(63)}1`));
    expect(await lookup(proof)).toEqual(unknown);
  });
});
