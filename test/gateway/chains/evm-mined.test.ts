import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import type { SignedTransfer } from "../../../src/gateway/chain.js";
import { fault } from "../../support/scripted-rpc.js";
import { createEvmWorld, type EvmWorld, type Wallet, within } from "./evm-world.js";

let world: EvmWorld;
beforeAll(async () => {
  world = await createEvmWorld();
});
afterAll(() => world.close());
afterEach(async () => {
  world.base.rpc.clear();
  await world.base.sandbox.chain.setAutomine(true);
});

const mine = (blocks = 1) => world.base.sandbox.chain.mine(blocks);
const mining = (on: boolean) => world.base.sandbox.chain.setAutomine(on);

/** A transfer that stands in the newest block. */
async function mined(wallet: Wallet): Promise<SignedTransfer> {
  const signed = await world.make(wallet);
  await world.send(signed);
  await world.inBlock(signed.signature);
  return signed;
}

describe("a transaction by its hash alone", () => {
  it("is unseen, waits, and is mined at the level that the chain gives it", async () => {
    const signed = await world.make(await world.wallet());
    const look = () => world.transfers.standingOf(signed.signature, within());
    expect(await look()).toEqual({ state: "unseen" });
    await mining(false);
    await world.send(signed);
    expect(await look()).toEqual({ state: "waiting", signature: signed.signature });
    await mine(3);
    expect(await look()).toMatchObject({ state: "mined", succeeded: true, level: "finalized", confirmations: 3 });
  });

  it("is unreadable where it is no hash, or the node names another one", async () => {
    expect(await world.transfers.standingOf("5VERv8NMvzbJMEkV", within())).toMatchObject({ state: "unreadable" });
    const [one, other] = [await mined(await world.wallet()), await mined(await world.wallet())];
    const answer = await world.rpc("eth_getTransactionByHash", other.signature);
    world.base.rpc.script("eth_getTransactionByHash", fault.lie(answer));
    expect(await world.transfers.standingOf(one.signature, within())).toMatchObject({ state: "unreadable" });
  });
});

describe("a transaction in a block", () => {
  const receipts = z.looseObject({ gasUsed: z.string() });

  it("has cost what an OP chain charges for its data, too", async () => {
    const signed = await mined(await world.wallet());
    const before = await world.standing(signed);
    const withDataFee = (receipt: unknown) => ({ ...receipts.parse(receipt), l1Fee: "0x64" });
    world.base.rpc.script("eth_getTransactionReceipt", fault.twist(withDataFee), 10);
    const after = await world.standing(signed);
    if (before.state !== "mined" || after.state !== "mined") throw new Error("it was not seen in its block");
    expect(after.fee - before.fee).toBe(100n);
  });

  it("is unreadable while its receipt does not say what it cost, or its block changes between two answers", async () => {
    const signed = await mined(await world.wallet());
    const withoutGas = (receipt: unknown) => ({ ...receipts.parse(receipt), gasUsed: undefined });
    world.base.rpc.script("eth_getTransactionReceipt", fault.twist(withoutGas), 10);
    expect(await world.standing(signed)).toMatchObject({ state: "unreadable" });
    world.base.rpc.clear();
    const other = (receipt: unknown) => ({ ...receipts.parse(receipt), blockHash: `0x${"1".repeat(64)}` });
    // The third time that it is asked for is together with finality.
    for (const next of [fault.pass(), fault.pass(), fault.twist(other)]) {
      world.base.rpc.script("eth_getTransactionReceipt", next);
    }
    expect(await world.standing(signed)).toMatchObject({ state: "unreadable" });
  });

  it("of another block than the chain's own at that height is in none", async () => {
    const signed = await mined(await world.wallet());
    const other = (receipt: unknown) => ({ ...receipts.parse(receipt), blockHash: `0x${"1".repeat(64)}` });
    world.base.rpc.script("eth_getTransactionReceipt", fault.twist(other), 10);
    expect((await world.standing(signed)).state).not.toBe("mined");
  });
});
