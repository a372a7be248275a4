// Taking a payment in SOL on the real chain: what moves, what is sent, and what is said when nothing can be known.
import { VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NativeProof } from "../../../src/chains/solana/native-judge.js";
import { secretOf } from "./native-payment.js";
import { createNativeWorld, emptyWallet, type NativeWorld, nativeTrace, PRICE, RENT } from "./native-world.js";
import { signAgain } from "./second-signature.js";
import { fault, lookup, settleContext, verifyContext } from "./world.js";

let world: NativeWorld;
beforeAll(async () => {
  world = await createNativeWorld();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterAll(() => world.close());

const sends = () => world.rpc.count("sendTransaction");
const lamports = (address: string) => world.sandbox.chain.lamports(address);
const valid = { outcome: "valid" };

/** Everything that is sent is lost, until what it returns is called. */
function drop(count: number): () => void {
  const before = sends();
  world.sandbox.chain.dropTransactions(count);
  return () => world.sandbox.chain.dropTransactions(sends() - before - count);
}

/** A public transfer and what its maker shows. */
async function paid(label: string, amount = PRICE) {
  const payer = await world.sandbox.newBuyer();
  const signed = await world.transfer(payer, { secret: label, lamports: amount });
  const transaction = await world.broadcast(signed);
  return { payer: payer.publicKey.toBase58(), signed, transaction, secret: secretOf(label).secret };
}

describe("a transfer that nobody has seen", () => {
  it("is announced, sent and confirmed: the price and its own fee leave the payer, nothing leaves the seller", async () => {
    const { chain, sandbox, rpc } = world;
    const buyer = await sandbox.newBuyer();
    const payer = buyer.publicKey.toBase58();
    const accounts = [payer, sandbox.payTo, sandbox.feePayer.publicKey.toBase58()];
    const proof = await world.prove(await world.transfer(buyer));
    const [before, sent] = [accounts.map(lamports), sends()];
    const context = settleContext();
    const sending: typeof context.sending = async (...args) => {
      expect(sends()).toBe(sent);
      await context.sending(...args);
    };
    const slot = Number(sandbox.chain.slot());
    const settlement = await chain.settle(proof, { ...context, sending });
    const [{ id: transaction, expiry } = {}] = context.announced;
    expect(settlement).toEqual({ outcome: "settled", height: expect.any(Number), transaction, payer });
    expect(accounts.map((one, i) => lamports(one) - before[i]!)).toEqual([-PRICE - 5_000n, PRICE, 0n]);
    expect(rpc.count("sendTransaction")).toBe(sent + 1);
    expect(expiry?.slot).toBeGreaterThanOrEqual(slot - 1);
    expect(await lookup(chain, nativeTrace(proof, context))).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction,
    });
  });

  it("moves once, however many settle it at once", async () => {
    const buyer = await world.sandbox.newBuyer();
    const proof = await world.prove(await world.transfer(buyer, { secret: "twenty" }), {
      secret: secretOf("twenty").secret,
    });
    const before = world.received();
    const all = await Promise.all(Array.from({ length: 20 }, () => world.chain.settle(proof, settleContext(20_000))));
    expect(new Set(all.map((one) => one.outcome === "settled" && one.transaction)).size).toBe(1);
    expect(world.received() - before).toBe(PRICE);
  });

  it("stays where it is when the claim was lost, or no time is left", async () => {
    const proof = await world.prove(await world.transfer(await world.sandbox.newBuyer()));
    const before = sends();
    const lost = { ...settleContext(), sending: () => Promise.reject(new Error("the fence is lost")) };
    expect(await world.chain.settle(proof, lost)).toMatchObject({ outcome: "unavailable" });
    const late = { ...settleContext(), deadlineAt: Date.now() - 1 };
    expect(await world.chain.settle(proof, late)).toMatchObject({ outcome: "unavailable" });
    expect(sends()).toBe(before);
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
  });

  it("is taken although the node's answer is lost, or a node drops it once", async () => {
    const { chain, sandbox, rpc } = world;
    const lost = await world.prove(await world.transfer(await sandbox.newBuyer()));
    rpc.script("sendTransaction", fault.resetAfter());
    expect(await chain.settle(lost, settleContext())).toMatchObject({ outcome: "settled" });
    const dropped = await world.prove(await world.transfer(await sandbox.newBuyer()));
    sandbox.chain.dropTransactions(1);
    const before = sends();
    expect(await chain.settle(dropped, settleContext())).toMatchObject({ outcome: "settled" });
    expect(sends() - before).toBe(2);
  });
});

describe("between verification and settlement", () => {
  const verified = async (parts: Parameters<NativeWorld["transfer"]>[1] = {}, secret?: string) => {
    const buyer = await world.sandbox.newBuyer();
    const signed = await world.transfer(buyer, parts);
    const proof = await world.prove(signed, secret === undefined ? {} : { secret });
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject(valid);
    return { buyer, signed, proof };
  };

  it("the payer's balance can go: refused, and not a byte is sent", async () => {
    const { buyer, proof } = await verified();
    const all = lamports(buyer.publicKey.toBase58()) - 5_000n;
    await world.broadcast(await world.transfer(buyer, { to: emptyWallet().publicKey.toBase58(), lamports: all }));
    const [before, sent] = [world.received(), sends()];
    const refused = { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" };
    expect(await world.chain.settle(proof, settleContext())).toEqual(refused);
    expect([world.received(), sends()]).toEqual([before, sent]);
  });

  it("its blockhash can end, which is how a buyer cancels: refused, and not a byte is sent", async () => {
    const { proof } = await verified();
    world.sandbox.chain.advanceSlots(151);
    const sent = sends();
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({
      outcome: "refused",
      code: "payment_expired",
    });
    expect(sends()).toBe(sent);
  });

  it("it can become public: then it is its maker's alone", async () => {
    const bare = await verified();
    await world.broadcast(bare.signed);
    const sent = sends();
    const code = "payment_unreferenced";
    expect(await world.chain.settle(bare.proof, settleContext())).toMatchObject({ outcome: "refused", code });
    const own = await verified({ secret: "raced" }, secretOf("raced").secret);
    const transaction = await world.broadcast(own.signed);
    expect(await world.chain.settle(own.proof, settleContext())).toMatchObject({ outcome: "settled", transaction });
    // Neither was sent again.
    expect(sends()).toBe(sent);
  });

  it("it can turn out to be older than the store's memory: refused, also to its maker", async () => {
    const own = await verified({ secret: "before" }, secretOf("before").secret);
    await world.broadcast(own.signed);
    const since = Date.now() + 60_000;
    const code = "payment_too_old";
    expect(await world.chain.settle(own.proof, { ...settleContext(), since })).toMatchObject({
      outcome: "refused",
      code,
    });
  });
});

describe("a transfer that is public", () => {
  it("is settled by what stands on the chain: nothing is sent, and nothing moves again", async () => {
    const { payer, signed, transaction, secret } = await paid("public");
    const [before, sent] = [world.received(), sends()];
    for (const byId of [false, true]) {
      const proof = await world.prove(signed, { secret, byId });
      expect(await world.chain.settle(proof, settleContext())).toEqual({
        outcome: "settled",
        transaction,
        payer,
      });
    }
    expect([world.received(), sends()]).toEqual([before, sent]);
  });

  it("and moved more than the price says how much came", async () => {
    const { payer, signed, transaction, secret } = await paid("generous", PRICE + 7n);
    const proof = await world.prove(signed, { secret });
    const received = PRICE + 7n;
    expect(await world.chain.settle(proof, settleContext())).toEqual({
      outcome: "settled",
      transaction,
      payer,
      received,
    });
    const trace = { ...nativeTrace(proof, settleContext()), transaction };
    expect(await lookup(world.chain, trace)).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction,
      received,
    });
  });

  it("settles for nobody but its maker (A18)", async () => {
    const { signed } = await paid("stolen");
    for (const shown of [{}, { byId: true }, { secret: secretOf("guess").secret }]) {
      const settlement = await world.chain.settle(await world.prove(signed, shown), settleContext());
      expect(settlement).toEqual({
        outcome: "refused",
        code: "payment_secret_required",
        reason: "duplicate_settlement",
      });
    }
  });

  it("and failed there is refused", async () => {
    const payer = await world.sandbox.newBuyer({ lamports: 2n * PRICE });
    const signed = await world.transfer(payer, { secret: "failed", lamports: 3n * PRICE });
    await world.broadcast(signed);
    const proof = await world.prove(signed, { secret: secretOf("failed").secret });
    const before = world.received();
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({
      outcome: "refused",
      code: "payment_rejected",
    });
    expect(world.received()).toBe(before);
  });
});

describe("one message under two true signatures of its payer, and so under two ids", () => {
  const twice = async (label: string) => {
    const buyer = await world.sandbox.newBuyer();
    const first = await world.transfer(buyer, { secret: label });
    const second = new VersionedTransaction(first.message);
    second.signatures = [signAgain(buyer, first.message.serialize(), 402n)];
    const { secret } = secretOf(label);
    return {
      first,
      second,
      secret,
      proofs: [await world.prove(first, { secret }), await world.prove(second, { secret })],
    };
  };

  it("is one payment: equal ids of the proof, and digests that tell them apart", async () => {
    const { proofs } = await twice("twice");
    expect(proofs[0]?.id).toBe(proofs[1]?.id);
    expect(proofs[0]?.digest).not.toBe(proofs[1]?.digest);
    for (const proof of proofs) expect(await world.chain.verify(proof, verifyContext())).toMatchObject(valid);
  });

  it("has moved once: what landed under one id is no payment under the other", async () => {
    const { first, proofs } = await twice("landed once");
    const before = world.received();
    const transaction = await world.broadcast(first);
    const [one, other] = proofs as [NativeProof, NativeProof];
    expect(await world.chain.verify(other, verifyContext())).toMatchObject({ code: "payment_not_seen" });
    expect(await world.chain.settle(other, settleContext())).toMatchObject({ outcome: "unavailable" });
    expect(await world.chain.settle(one, settleContext())).toMatchObject({ outcome: "settled", transaction });
    world.sandbox.chain.advanceSlots(151);
    expect(await world.chain.verify(other, verifyContext())).toMatchObject({ code: "payment_expired" });
    expect(world.received() - before).toBe(PRICE);
  });
});

describe("a transfer of unknown fate", () => {
  it("is unknown within its time when every node drops it, and over once its blockhash is: nothing has moved", async () => {
    const { chain, sandbox } = world;
    const proof = await world.prove(await world.transfer(await sandbox.newBuyer()));
    const before = world.received();
    const land = drop(100);
    const context = settleContext(3_000);
    const settlement = await chain.settle(proof, context);
    const trace = nativeTrace(proof, context);
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: trace.transaction });
    expect(Date.now() - context.deadlineAt).toBeLessThan(5_000);
    expect(await lookup(chain, trace)).toMatchObject({ outcome: "unknown" });
    land();
    sandbox.chain.advanceSlots(151 + 32);
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
    expect(world.received()).toBe(before);
  });

  it("is settled by a lookup when its bytes land after all, once", async () => {
    const { chain, sandbox } = world;
    const signed = await world.transfer(await sandbox.newBuyer());
    const proof = await world.prove(signed);
    const before = world.received();
    const land = drop(100);
    const context = settleContext(3_000);
    expect(await chain.settle(proof, context)).toMatchObject({ outcome: "unknown" });
    land();
    const transaction = await world.broadcast(signed);
    expect(await lookup(chain, nativeTrace(proof, context))).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction,
    });
    expect(world.received() - before).toBe(PRICE);
  });

  it("is unknown when it fails in its block, and over when that block is final", async () => {
    const { chain, sandbox, rpc } = world;
    const buyer = await sandbox.newBuyer({ lamports: PRICE });
    const proof = await world.prove(await world.transfer(buyer));
    const account = { owner: "1".repeat(32), lamports: 0, data: ["", "base64"] };
    rpc.script("simulateTransaction", fault.twist(good(account)));
    const context = settleContext();
    const settlement = await chain.settle(proof, context);
    expect(settlement).toMatchObject({ outcome: "unknown", reverted: true });
    const trace = nativeTrace(proof, context);
    expect(await lookup(chain, trace)).toMatchObject({ outcome: "unknown" });
    sandbox.chain.advanceSlots(32);
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
  });
});

/** A node that says all is well. */
const good = (account: object) => (truth: unknown) => ({
  ...(truth as object),
  value: { err: null, accounts: [account] },
});
