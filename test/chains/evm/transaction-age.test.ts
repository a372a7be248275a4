// How old a transaction is that the chain has already, and that no failing, lagging or lying node makes it young again: an old
// one may have bought something before the seller's memory begins.
import { toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TransactionProof } from "../../../src/proof.js";
import { type Fault, fault } from "../../support/scripted-rpc.js";
import { createTransfers, newSecret, type Transfers } from "./transfers.js";
import { settleContext, verifyContext } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

const verify = (proof: TransactionProof) => world.chain.verify(proof, verifyContext());
const MINUTE = 60;

/** A payment that the chain has, whose buyer shows the secret. */
async function mined(): Promise<TransactionProof> {
  const { secret, reference } = await newSecret();
  const requirement = world.requirement();
  const signed = await world.sign(await world.buyer(), requirement, { reference });
  await world.broadcast(signed);
  return world.prove(signed, requirement, { secret });
}

/** From now on its block and the newest one carry these times, in seconds from now. */
function setTimes({ block, head = block }: { readonly block: number; readonly head?: number }): void {
  const now = Math.floor(Date.now() / 1000);
  const dated: Fault = async ({ call, forward }) => {
    const { result } = await forward();
    const timestamp = toHex(now + (call.params[0] === "latest" ? head : block));
    return { kind: "answer", answer: { result: { ...(result as object), timestamp } } };
  };
  world.rpc.script("eth_getBlockByNumber", dated, 1_000);
}

describe("a transfer that was mined", () => {
  it.each([
    ["14 minutes ago", { block: -14 * MINUTE }, "valid"],
    ["16 minutes ago", { block: -16 * MINUTE }, "invalid"],
    ["16 minutes ago, on a chain that goes on", { block: -16 * MINUTE, head: 0 }, "invalid"],
    ["16 minutes ago by a chain that is ahead of this server", { block: MINUTE, head: 17 * MINUTE }, "invalid"],
    ["14 minutes ago by a chain that is ahead of this server", { block: MINUTE, head: 15 * MINUTE }, "valid"],
    ["16 minutes ago by a chain that is behind this server", { block: -16 * MINUTE, head: -15 * MINUTE }, "invalid"],
  ])("%s is judged by the larger of its two ages", async (_, times, outcome) => {
    const proof = await mined();
    setTimes(times);
    const verification = await verify(proof);
    expect(verification).toMatchObject({ outcome });
    if (outcome === "invalid") expect(verification).toMatchObject({ code: "payment_too_old" });
  });

  it("is refused at settlement where the store's memory begins after it, whatever was seen when it was verified", async () => {
    const proof = await mined();
    setTimes({ block: -30 });
    const context = settleContext();
    const outcome = await world.chain.settle(proof, { ...context, since: Date.now() - 10_000 });
    expect(outcome).toMatchObject({ outcome: "refused", code: "payment_too_old" });
    expect(context.announced).toEqual([]);
    const older = await world.chain.settle(proof, { ...settleContext(), since: Date.now() - 60_000 });
    expect(older).toMatchObject({ outcome: "settled" });
  });

  it("is never dated later than it was, whoever's clock is ahead", async () => {
    const proof = await mined();
    const minedAgo = async (times: Parameters<typeof setTimes>[0]) => {
      world.rpc.clear();
      setTimes(times);
      const verification = await verify(proof);
      if (verification.outcome !== "valid" || verification.minedAt === undefined) throw new Error("it is not dated");
      return (Date.now() - verification.minedAt) / 1000;
    };
    expect(await minedAgo({ block: -30 })).toBeGreaterThanOrEqual(30);
    expect(await minedAgo({ block: -30, head: -10 })).toBeGreaterThanOrEqual(30);
    // A chain that is ahead tells its own time, but for the block that is still to come: two seconds on this one.
    expect(await minedAgo({ block: MINUTE })).toBeGreaterThanOrEqual(2);
    expect(await minedAgo({ block: MINUTE, head: MINUTE + 30 })).toBeGreaterThanOrEqual(32);
    expect(await minedAgo({ block: MINUTE, head: MINUTE + 30 })).toBeLessThan(MINUTE);
    // A head that lags behind the receipt does not put it into the future.
    expect(await minedAgo({ block: MINUTE, head: 30 })).toBeGreaterThanOrEqual(2);
  });

  const orphan = fault.twist((receipt) => receipt && { ...receipt, blockHash: `0x${"11".repeat(32)}` });
  const noPlace = fault.twist((receipt) => receipt && { ...receipt, blockHash: undefined });
  it.each<[string, string, Fault]>([
    ["an error for its block", "eth_getBlockByNumber", fault.error(-32603, "internal error")],
    ["no block at its height", "eth_getBlockByNumber", fault.lie(null)],
    ["another block than the one asked for", "eth_getBlockByNumber", fault.twist((b) => b && { ...b, number: "0x1" })],
    ["an error for its receipt", "eth_getTransactionReceipt", fault.error(-32603, "internal error")],
    ["no receipt of it", "eth_getTransactionReceipt", fault.lie(null)],
    ["the receipt of a block that is not part of the chain", "eth_getTransactionReceipt", orphan],
    ["a receipt that names no block", "eth_getTransactionReceipt", noPlace],
  ])("is never taken for new where the node gives %s", async (_, method, next) => {
    const proof = await mined();
    // An hour ago: were it judged without its age, it would be sold again.
    setTimes({ block: -60 * MINUTE, head: 0 });
    if (method === "eth_getBlockByNumber") world.rpc.clear(method);
    const head = method === "eth_getBlockByNumber" ? [fault.pass()] : [];
    for (const one of [...head, next]) world.rpc.script(method, one);
    expect(await verify(proof)).toMatchObject({ outcome: "unavailable" });
    for (const one of [...head, next]) world.rpc.script(method, one);
    const context = settleContext();
    expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "unavailable" });
    expect(context.announced).toEqual([]);
  });

  it("is never taken for waiting where its sender's nonce counts as used", async () => {
    const proof = await mined();
    world.rpc.script("eth_getTransactionByHash", waiting, 2);
    world.rpc.script("eth_getTransactionReceipt", fault.lie(null));
    expect(await verify(proof)).toMatchObject({ outcome: "unavailable", code: "receiver_bad_response" });
    world.rpc.script("eth_getTransactionByHash", waiting, 2);
    expect(await verify(proof)).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
  });

  const waiting = fault.twist((known) => known && { ...known, blockHash: null, blockNumber: null });

  it("is refused on its receipt where it is older than the store's memory, and a node that lags behind hid it", async () => {
    const proof = await mined();
    setTimes({ block: -30, head: 0 });
    const settleUnseen = (since: number) => {
      world.rpc.script("eth_getTransactionByHash", waiting);
      world.rpc.script("eth_getTransactionCount", fault.lie("0x0"), 2);
      return world.chain.settle(proof, { ...settleContext(), since });
    };
    const outcome = await settleUnseen(Date.now() - 10_000);
    expect(outcome).toMatchObject({ outcome: "refused", code: "payment_too_old" });
    expect(await settleUnseen(Date.now() - 60_000)).toMatchObject({ outcome: "settled" });
  });

  describe("too long ago", () => {
    it("is refused before it is announced, so that no lookup finds it", async () => {
      const proof = await mined();
      setTimes({ block: -60 * MINUTE, head: 0 });
      const context = settleContext();
      expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "refused", code: "payment_too_old" });
      expect(context.announced).toEqual([]);
    });

    it("is refused on its receipt, even where a node that lags behind let it look unmined", async () => {
      const proof = await mined();
      setTimes({ block: -60 * MINUTE, head: 0 });
      world.rpc.script("eth_getTransactionByHash", waiting);
      world.rpc.script("eth_getTransactionCount", fault.lie("0x0"), 2);
      expect(await world.chain.settle(proof, settleContext())).toMatchObject({
        outcome: "refused",
        code: "payment_too_old",
      });
    });
  });

  it("just now is settled on a chain whose clock is behind ours: what we have sent is not old", async () => {
    const requirement = world.requirement();
    const proof = await world.prove(await world.sign(await world.buyer(), requirement), requirement);
    setTimes({ block: -60 * MINUTE });
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
  });
});
