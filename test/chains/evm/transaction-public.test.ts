import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { TransactionProof } from "../../../src/proof.js";
import { NATIVE } from "../../../src/requirement.js";
import { createTransfers, newSecret, PRICE, type Signed, TOKEN, type Transfers } from "./transfers.js";
import { fault, settleContext, verifyContext } from "./world.js";

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
    const minedAt = expect.any(Number);
    expect(await outcome(signed, requirement, secret)).toMatchObject({ outcome: "valid", minedAt });
    expect(await outcome(signed.hash, requirement, secret)).toMatchObject({ outcome: "valid", minedAt });
  });

  it("pays nothing for a stranger, who can copy its bytes and not its secret", async () => {
    const { requirement, signed } = await broadcast(NATIVE);
    const stranger = await newSecret();
    const required = { outcome: "invalid", code: "payment_secret_required" };
    expect(await outcome(signed, requirement)).toMatchObject({ ...required, got: "none" });
    expect(await outcome(signed.hash, requirement, stranger.secret)).toMatchObject({ ...required, got: "another one" });
    // What carries no reference is nobody's for good, and no other secret will help.
    const nobodys = { outcome: "invalid", code: "payment_unreferenced", got: "none" };
    const open = await broadcast(NATIVE, { reference: "0x" });
    expect(await outcome(open.signed, requirement, open.secret)).toMatchObject(nobodys);
    const waiting = await broadcast(NATIVE, { reference: "0x" }, false);
    expect(await outcome(waiting.signed, requirement, waiting.secret)).toMatchObject(nobodys);
  });

  it("may have moved more than the price", async () => {
    const more = await broadcast(TOKEN, { amount: PRICE * 3n });
    expect(await outcome(more.signed, more.requirement, more.secret)).toMatchObject({ outcome: "valid" });
  });

  it.each([
    ["native currency", NATIVE],
    ["a token", TOKEN],
  ])("buys nothing for less than the price, and its owner is told so: %s", async (_, asset) => {
    const tooLow = { outcome: "invalid", code: "payment_too_low", expected: `${PRICE}`, got: `${PRICE - 1n}` };
    const amount = PRICE - 1n;
    const { signed, requirement, secret } = await broadcast(asset, { amount }, false);
    expect(await outcome(signed, requirement, secret)).toMatchObject(tooLow);
    await world.sandbox.chain.mine();
    expect(await outcome(signed, requirement, secret)).toMatchObject(tooLow);
    expect(await outcome(signed.hash, requirement, secret)).toMatchObject(tooLow);
    const settled = world.rpc.count("eth_sendRawTransaction");
    const context = settleContext();
    const proof = await world.prove(signed, requirement, { secret });
    expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "refused", code: "payment_too_low" });
    expect([context.announced, world.rpc.count("eth_sendRawTransaction")]).toEqual([[], settled]);
    // Who does not show the secret is told nothing of what it moved, and no chain is asked for what has no reference.
    expect(await outcome(signed, requirement)).toMatchObject({ code: "payment_secret_required" });
    const open = await broadcast(asset, { amount, reference: "0x" });
    expect(await outcome(open.signed, requirement)).toMatchObject({ code: "amount_mismatch" });
  });

  it("of a token that took a part of it has paid less than the price", async () => {
    const { token } = world.sandbox;
    const requirement = world.requirement(token.address);
    const account = await world.buyer();
    await token.setBalances([account.address], PRICE);
    const { secret, reference } = await newSecret();
    const signed = await world.sign(account, requirement, { reference });
    await token.setFeeBasisPoints(100);
    await world.broadcast(signed);
    await token.setFeeBasisPoints(0);
    const got = await outcome(signed, requirement, secret);
    expect(got).toMatchObject({ code: "payment_too_low", expected: `${PRICE}`, got: `${(PRICE * 99n) / 100n}` });
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

  it("is not taken for cancelled by a node that counts its nonce before it finds its receipt", async () => {
    const { signed, secret, requirement } = await broadcast(NATIVE);
    const proof = await world.prove(signed, requirement, { secret });
    world.rpc.script("eth_getTransactionReceipt", fault.lie(null));
    world.rpc.script("eth_getTransactionByHash", fault.lie(null));
    expect(await verify(proof)).toMatchObject({ outcome: "valid", minedAt: expect.any(Number) });
  });
});
