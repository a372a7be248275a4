import { type Hex, toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TransactionProof } from "../../../src/proof.js";
import { NATIVE } from "../../../src/requirement.js";
import { createTransfers, newSecret, PRICE, type Signed, TOKEN, type Transfers } from "./transfers.js";
import { fault, verifyContext } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(async () => {
  world.rpc.clear();
  await world.sandbox.chain.setAutomine(true);
});

const verify = (proof: TransactionProof) => world.chain.verify(proof, verifyContext());

describe("a transfer that the chain knows", () => {
  const broadcast = async (asset: string, parts: Parameters<Transfers["sign"]>[2] = {}, mine = true) => {
    const { secret, reference } = await newSecret();
    const requirement = world.requirement(asset);
    const signed = await world.sign(await world.buyer(), requirement, { reference, ...parts });
    await world.sandbox.chain.setAutomine(mine);
    await (mine ? world.broadcast(signed) : world.submit(signed));
    return { secret, requirement, signed };
  };
  const outcome = async (shown: Signed | Hex, requirement: ReturnType<Transfers["requirement"]>, secret?: Hex) =>
    verify(await world.prove(shown, requirement, secret === undefined ? {} : { secret }));

  it.each([
    ["native currency", NATIVE],
    ["a token", TOKEN],
  ])("is valid with its secret, waiting or mined, by its bytes or its hash: %s", async (_, asset) => {
    const { secret, requirement, signed } = await broadcast(asset, {}, false);
    expect(await outcome(signed, requirement, secret)).not.toHaveProperty("minedAt");
    expect(await outcome(signed.hash, requirement, secret)).toMatchObject({ outcome: "valid" });
    await world.sandbox.chain.mine();
    const minedAt = (await world.sandbox.chain.time()) * 1000;
    expect(await outcome(signed, requirement, secret)).toMatchObject({ outcome: "valid", minedAt });
    expect(await outcome(signed.hash, requirement, secret)).toMatchObject({ outcome: "valid", minedAt });
  });

  it("pays nothing for a stranger, who can copy its bytes and not its secret", async () => {
    const { requirement, signed } = await broadcast(NATIVE);
    const stranger = await newSecret();
    const required = { outcome: "invalid", code: "payment_secret_required" };
    expect(await outcome(signed, requirement)).toMatchObject(required);
    expect(await outcome(signed.hash, requirement, stranger.secret)).toMatchObject(required);
    const open = await broadcast(NATIVE, { reference: "0x" });
    expect(await outcome(open.signed, requirement, open.secret)).toMatchObject(required);
    const waiting = await broadcast(NATIVE, { reference: "0x" }, false);
    expect(await outcome(waiting.signed, requirement, waiting.secret)).toMatchObject(required);
  });

  it("may have moved more than the price, and not less", async () => {
    const more = await broadcast(TOKEN, { amount: PRICE * 3n });
    expect(await outcome(more.signed, more.requirement, more.secret)).toMatchObject({ outcome: "valid" });
    const less = await broadcast(TOKEN, { amount: PRICE - 1n });
    expect(await outcome(less.signed, less.requirement, less.secret)).toMatchObject({ code: "amount_mismatch" });
  });

  it("is refused where it was reverted, or its token took a part of it", async () => {
    const { signed, secret, requirement } = await broadcast(TOKEN, { amount: 2_000_000n });
    const rejected = { outcome: "invalid", code: "payment_rejected" };
    expect(await outcome(signed, requirement, secret)).toMatchObject({
      ...rejected,
      got: "a transaction that was reverted",
    });
    await world.setTokenMode("takes-a-fee");
    const taxed = await broadcast(TOKEN);
    await world.setTokenMode("answers-false");
    const silent = await broadcast(TOKEN);
    await world.setTokenMode("plain");
    expect(await outcome(taxed.signed, requirement, taxed.secret)).toMatchObject(rejected);
    expect(await outcome(silent.signed, requirement, silent.secret)).toMatchObject(rejected);
  });

  it("is refused once it is older than 15 minutes", async () => {
    const { signed, secret, requirement } = await broadcast(NATIVE);
    const proof = await world.prove(signed, requirement, { secret });
    const minutes = (n: number) => toHex(Math.floor(Date.now() / 1000) - n * 60);
    const aged = (n: number) => fault.twist((block) => ({ ...(block as object), timestamp: minutes(n) }));
    // The first block of a judgement is the head, the second the one that holds the transaction.
    for (const [age, expected] of [
      [14, "valid"],
      [16, "invalid"],
    ] as const) {
      world.rpc.script("eth_getBlockByNumber", fault.pass());
      world.rpc.script("eth_getBlockByNumber", aged(age));
      expect(await verify(proof)).toMatchObject({ outcome: expected });
      world.rpc.clear();
    }
    world.rpc.script("eth_getBlockByNumber", fault.pass());
    world.rpc.script("eth_getBlockByNumber", aged(16));
    expect(await verify(proof)).toMatchObject({ code: "payment_too_old" });
  });

  it("is not taken for cancelled by a node that counts its nonce before it finds its receipt", async () => {
    const { signed, secret, requirement } = await broadcast(NATIVE);
    const proof = await world.prove(signed, requirement, { secret });
    world.rpc.script("eth_getTransactionReceipt", fault.lie(null));
    world.rpc.script("eth_getTransactionByHash", fault.lie(null));
    expect(await verify(proof)).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
  });

  it("was not mined where its receipt is of a block that is not part of the chain", async () => {
    const { signed, secret, requirement } = await broadcast(NATIVE);
    const proof = await world.prove(signed, requirement, { secret });
    const orphan = fault.twist((receipt) => ({ ...(receipt as object), blockHash: `0x${"11".repeat(32)}` }));
    world.rpc.script("eth_getTransactionReceipt", orphan, 2);
    const verification = await verify(proof);
    expect(verification).toMatchObject({ outcome: "valid" });
    expect(verification).not.toHaveProperty("minedAt");
  });
});
