import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TransactionProof } from "../../../src/proof.js";
import type { Trace } from "../../../src/receive/receiver.js";
import { NATIVE } from "../../../src/requirement.js";
import { createTransfers, PRICE, type Signed, TOKEN, type Transfers, traceOfTransfer } from "./transfers.js";
import { fault, settleContext } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(async () => {
  world.rpc.clear();
  await world.setTokenMode("plain");
  await world.sandbox.chain.setAutomine(true);
});

const unknown = { outcome: "unknown" };
const lookup = (proof: TransactionProof, { hash }: Signed, parts: Partial<Trace> = {}) =>
  world.chain.lookup({ ...traceOfTransfer(proof, hash), ...parts }, AbortSignal.timeout(5_000));

async function make(asset: string = NATIVE, confirmations = 1, amount = PRICE) {
  const account = await world.buyer();
  const requirement = world.requirement(asset, { confirmations });
  const signed = await world.sign(account, requirement, { amount });
  return { account, requirement, signed, proof: await world.prove(signed, requirement) };
}

describe.each([
  ["native currency", NATIVE],
  ["a token", TOKEN],
])("a transfer of %s", (_, asset) => {
  it("is settled by its receipt, whoever sent it, and tells what came where it was more", async () => {
    for (const [amount, more] of [
      [PRICE, {}],
      [PRICE * 2n, { received: PRICE * 2n }],
    ] as const) {
      const { proof, signed } = await make(asset, 1, amount);
      expect(await lookup(proof, signed)).toMatchObject(unknown);
      await world.broadcast(signed);
      expect(await lookup(proof, signed)).toEqual({
        outcome: "settled",
        transaction: signed.hash,
        height: expect.any(Number),
        ...more,
      });
    }
  });

  it("is too old where it was mined before the store's memory begins", async () => {
    const { proof, signed } = await make(asset);
    await world.broadcast(signed);
    expect(await lookup(proof, signed, { since: Date.now() + 60_000 })).toEqual({ outcome: "too_old" });
    expect(await lookup(proof, signed, { since: Date.now() - 60_000 })).toMatchObject({ outcome: "settled" });
  });

  it("is settled only by what the record says: sender and nonce, asset, payee, amount", async () => {
    const { proof, signed } = await make(asset);
    await world.broadcast(signed);
    const other = await make(asset);
    const wrong: readonly Partial<Trace>[] = [
      { nonce: other.proof.nonce },
      { nonce: `${proof.nonce}0` },
      { asset: asset === NATIVE ? TOKEN : NATIVE },
      { payTo: other.account.address },
      { amount: `${PRICE + 1n}` },
    ];
    for (const parts of wrong) expect(await lookup(proof, signed, parts), JSON.stringify(parts)).toMatchObject(unknown);
    expect(await lookup(proof, signed)).toMatchObject({ outcome: "settled" });
  });
});

describe("a transfer that is looked up", () => {
  it("needs as many blocks as the sale asked for, and the finalized one where the record does not say", async () => {
    const { proof, signed } = await make(NATIVE, 3);
    await world.broadcast(signed);
    await world.sandbox.chain.mine();
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    const { confirmations, ...silent } = traceOfTransfer(proof, signed.hash);
    expect(confirmations).toBe(3);
    const ask = () => world.chain.lookup(silent, AbortSignal.timeout(5_000));
    expect(await ask()).toMatchObject(unknown);
    await world.sandbox.chain.mine();
    expect(await lookup(proof, signed)).toMatchObject({ outcome: "settled" });
    await world.sandbox.chain.mine(10);
    expect(await ask()).toMatchObject({ outcome: "settled" });
  });

  it("is unknown while it waits in the pool, and where its node does not know it", async () => {
    const { proof, signed } = await make();
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    await world.sandbox.chain.setAutomine(false);
    await world.submit(signed);
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    await world.sandbox.chain.mine();
    expect(await lookup(proof, signed)).toMatchObject({ outcome: "settled" });
  });

  it("is expired where it was reverted, once that is final and not before", async () => {
    const { proof, signed } = await make(TOKEN, 1, 2_000_000n);
    await world.broadcast(signed);
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    await world.sandbox.chain.mine(10);
    expect(await lookup(proof, signed)).toEqual({ outcome: "expired" });
  });

  it("is expired where its nonce went elsewhere, once that is final and not before", async () => {
    const { account, requirement, proof, signed } = await make();
    const rival = await world.sign(account, { ...requirement, payTo: account.address });
    await world.broadcast(rival);
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    await world.sandbox.chain.mine(10);
    expect(await lookup(proof, signed)).toEqual({ outcome: "expired" });
  });

  it("is never expired or settled by a token that moved less, or nothing", async () => {
    for (const mode of ["takes-a-fee", "answers-false"] as const) {
      const { proof, signed } = await make(TOKEN);
      await world.setTokenMode(mode);
      await world.broadcast(signed);
      await world.setTokenMode("plain");
      await world.sandbox.chain.mine(10);
      expect(await lookup(proof, signed)).toMatchObject(unknown);
    }
  });

  it("is unknown again where a reorganisation takes it away after it was settled, and settled where it lands anew", async () => {
    const { proof, signed } = await make();
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    await world.sandbox.chain.reorg(1);
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    await world.broadcast(signed);
    expect(await lookup(proof, signed)).toMatchObject({ outcome: "settled" });
  });

  it("is expired where nothing of it was ever sent, once its time is finally over", async () => {
    const { proof } = await make();
    const trace = traceOfTransfer(proof, null);
    const ask = () => world.chain.lookup(trace, AbortSignal.timeout(5_000));
    expect(await ask()).toMatchObject(unknown);
    const snapshot = await world.sandbox.chain.snapshot();
    await world.sandbox.chain.setTime(trace.validBefore + 1);
    expect(await ask()).toMatchObject(unknown);
    await world.sandbox.chain.mine(10);
    expect(await ask()).toEqual({ outcome: "expired" });
    await world.sandbox.chain.revert(snapshot);
  });

  it("is not decided by a node that fails, lies or contradicts itself", async () => {
    const { proof, signed } = await make();
    await world.broadcast(signed);
    await world.sandbox.chain.mine(10);
    const orphan = fault.twist((receipt) => ({ ...(receipt as object), blockHash: `0x${"11".repeat(32)}` }));
    const faults = [
      ["eth_chainId", fault.resetBefore(), 1],
      ["eth_chainId", fault.wrongChain(1), 1],
      ["eth_getTransactionReceipt", fault.lie({}), 1],
      ["eth_getTransactionReceipt", fault.lie(null), 1],
      // The receipt is hidden, the transaction is not.
      ["eth_getTransactionReceipt", fault.lie(null), 9],
      ["eth_getTransactionReceipt", orphan, 9],
      ["eth_getTransactionByHash", fault.lie(null), 1],
      ["eth_getTransactionByHash", fault.twist((known) => ({ ...(known as object), value: "0x1" })), 1],
      ["eth_getTransactionByHash", fault.twist((known) => ({ ...(known as object), to: proof.payer })), 1],
    ] as const;
    for (const [method, next, times] of faults) {
      world.rpc.script(method, next, times);
      expect(await lookup(proof, signed), method).toMatchObject(unknown);
      world.rpc.clear();
    }
    expect(await lookup(proof, signed)).toMatchObject({ outcome: "settled" });
  });

  it("is not expired where the node names no finalized block, or no count in it", async () => {
    const { account, requirement, proof, signed } = await make();
    await world.broadcast(await world.sign(account, { ...requirement, payTo: account.address }));
    await world.sandbox.chain.mine(10);
    world.rpc.script("eth_getBlockByNumber", fault.lie(null));
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    world.rpc.script("eth_getTransactionCount", fault.error(-32000, "missing trie node"));
    expect(await lookup(proof, signed)).toMatchObject(unknown);
    expect(await lookup(proof, signed)).toEqual({ outcome: "expired" });
  });
});
