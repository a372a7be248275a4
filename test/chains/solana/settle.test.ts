// Settlement of token payments on the real chain: what moves, what it costs, and what is said when nothing can be known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../support/rpc-faults.js";
import {
  announcedTrace,
  createWorld,
  fault,
  lookup,
  PRICE,
  settleContext,
  verifyContext,
  type World,
} from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe("a payment that keeps every rule", () => {
  it.each([1, 2] as const)(
    "of protocol v%s moves the price and costs the fee payer the network fee",
    async (version) => {
      const { sandbox, chain } = world;
      const wallet = await sandbox.newBuyer();
      const payer = wallet.publicKey.toBase58();
      const feePayer = sandbox.feePayer.publicKey.toBase58();
      const before = await Promise.all([payer, sandbox.payTo, feePayer].map((one) => sandbox.balances(one)));
      const proof = await world.proof({ wallet, version });
      expect(proof).toMatchObject({ payer, kind: "transaction" });
      expect(await chain.verify(proof, verifyContext())).toEqual({ outcome: "valid", payer, balance: 1_000_000_000n });

      const context = settleContext();
      const settlement = await chain.settle(proof, context);
      const transaction = context.announced[0]?.id;
      expect(settlement).toEqual({ outcome: "settled", height: expect.any(Number), transaction, payer });
      const after = await Promise.all([payer, sandbox.payTo, feePayer].map((one) => sandbox.balances(one)));
      expect(after.map(({ usdc }, i) => usdc - before[i]!.usdc)).toEqual([-PRICE, PRICE, 0n]);
      // 5,000 for each of two signatures, and 20,000 units at one micro-lamport.
      expect(after.map(({ lamports }, i) => lamports - before[i]!.lamports)).toEqual([0n, 0n, -10_001n]);
      expect(await lookup(chain, announcedTrace(proof, context))).toEqual({
        outcome: "settled",
        height: expect.any(Number),
        transaction,
      });
    },
  );
});

describe("a payment that has landed before the store's memory begins", () => {
  it("buys nothing, although a node that is behind takes it for new", async () => {
    const { chain, rpc, sandbox } = world;
    const proof = await world.proof();
    let seen: Awaited<ReturnType<Fault>> | undefined;
    rpc.script("simulateTransaction", async (context) => {
      seen = await fault.pass()(context);
      return seen;
    });
    const first = settleContext();
    expect(await chain.settle(proof, first)).toMatchObject({ outcome: "settled" });
    const paid = (await sandbox.balances(sandbox.payTo)).usdc;
    const settleAgain = (since: number) => {
      rpc.script("simulateTransaction", async () => seen ?? Promise.reject(new Error("nothing was simulated")));
      return chain.settle(proof, { ...settleContext(), since });
    };
    const trace = { ...announcedTrace(proof, first), since: Date.now() + 5_000 };
    expect(await settleAgain(trace.since)).toMatchObject({ outcome: "refused", code: "payment_too_old" });
    expect(await lookup(chain, trace)).toEqual({ outcome: "too_old" });
    // In this memory it is the very settlement that was lost.
    expect(await settleAgain(Date.now() - 30_000)).toMatchObject({ outcome: "settled" });
    expect((await sandbox.balances(sandbox.payTo)).usdc).toBe(paid);
  });
});

describe("what leaves", () => {
  it("is announced first, with a slot before it and the last block height for it", async () => {
    const { chain, rpc, sandbox } = world;
    const sends = rpc.count("sendTransaction");
    const context = settleContext();
    const sending = async (...args: Parameters<typeof context.sending>) => {
      expect(rpc.count("sendTransaction")).toBe(sends);
      await context.sending(...args);
    };
    const slot = Number(sandbox.chain.slot());
    expect(await chain.settle(await world.proof(), { ...context, sending })).toMatchObject({ outcome: "settled" });
    const [{ expiry } = {}] = context.announced;
    expect(expiry?.slot).toBeGreaterThanOrEqual(slot - 1);
    // The sandbox's heights are 200 below its slots, and a blockhash lives for 150 blocks.
    expect(expiry?.lastValidBlockHeight).toBeGreaterThanOrEqual(slot - 1 - 200 + 150);
    expect(expiry?.lastValidBlockHeight).toBeLessThan(slot + 50);
  });

  it("is nothing when the announcement is refused, or no time is left", async () => {
    const { chain, rpc } = world;
    const sends = rpc.count("sendTransaction");
    const lost = { ...settleContext(), sending: () => Promise.reject(new Error("the fence is lost")) };
    expect(await chain.settle(await world.proof(), lost)).toEqual({
      outcome: "unavailable",
      message: "the settlement could not be announced: the fence is lost",
    });
    const late = { ...settleContext(), deadlineAt: Date.now() - 1 };
    expect(await chain.settle(await world.proof(), late)).toMatchObject({ outcome: "unavailable" });
    expect(rpc.count("sendTransaction")).toBe(sends);
  });

  it("is the same transaction whatever bytes the buyer put into slot 0", async () => {
    const { chain, sandbox } = world;
    const wallet = await sandbox.newBuyer();
    const proof = await world.proof({ wallet, slot0: new Uint8Array(64).fill(7) });
    const settlement = await chain.settle(proof, settleContext());
    expect(settlement).toMatchObject({ outcome: "settled" });
    expect(await sandbox.token.balanceOf(wallet.publicKey.toBase58())).toBe(1_000_000_000n - PRICE);
  });

  it("may be signed by any of our settlers that the payment names", async () => {
    const { sandbox } = world;
    const second = await sandbox.newBuyer({ balance: 0n });
    const feePayer = second.publicKey.toBase58();
    const account = (await import("../../../src/chains/solana/settlers.js")).toSolanaAccount(
      Buffer.from(second.secretKey.slice(0, 32)).toString("hex"),
    );
    const chain = await world.open({ settlers: [sandbox.settlerKey, account] });
    const proof = await world.proof({ feePayer });
    expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    expect(sandbox.chain.lamports(feePayer)).toBe(10n ** 10n - 10_001n);
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ code: "offer_mismatch" });
  });

  it("is nothing when a settler signs with another key, or throws", async () => {
    const { sandbox, rpc } = world;
    const address = sandbox.feePayer.publicKey.toBase58();
    const sends = rpc.count("sendTransaction");
    for (const signMessage of [async () => new Uint8Array(64).fill(1), () => Promise.reject(new Error("secret"))]) {
      const chain = await world.open({ settlers: [{ address, signMessage }] });
      const context = settleContext();
      expect(await chain.settle(await world.proof(), context)).toEqual({
        outcome: "unavailable",
        message: `the settler ${address} cannot sign`,
      });
      expect(context.announced).toEqual([]);
    }
    expect(rpc.count("sendTransaction")).toBe(sends);
  });
});

describe("before a byte has left", () => {
  it("a chain that cannot be asked is our fault and costs the buyer nothing", async () => {
    const { chain, rpc } = world;
    for (const method of ["simulateTransaction", "getLatestBlockhash"]) {
      rpc.script(method, fault.resetBefore());
      const context = settleContext();
      expect(await chain.settle(await world.proof(), context), method).toMatchObject({ outcome: "unavailable" });
      expect(context.announced).toEqual([]);
    }
  });

  it("a node that is behind the one that simulated says nothing of how long the payment can still land", async () => {
    const { chain, rpc, sandbox } = world;
    const [ahead, sends] = [Number(sandbox.chain.slot()) + 1_000, rpc.count("sendTransaction")];
    rpc.script(
      "simulateTransaction",
      fault.twist((truth) => ({ ...(truth as object), context: { slot: ahead } })),
    );
    const context = settleContext();
    expect(await chain.settle(await world.proof(), context)).toMatchObject({ outcome: "unavailable" });
    expect(context.announced).toEqual([]);
    expect(rpc.count("sendTransaction")).toBe(sends);
  });

  it("an empty wallet is refused, and the settler loses nothing", async () => {
    const { chain, sandbox } = world;
    const before = sandbox.chain.lamports(sandbox.feePayer.publicKey.toBase58());
    const wallet = await sandbox.newBuyer({ balance: PRICE - 1n });
    expect(await chain.settle(await world.proof({ wallet }), settleContext())).toEqual({
      outcome: "refused",
      code: "insufficient_funds",
      reason: "insufficient_funds",
    });
    expect(sandbox.chain.lamports(sandbox.feePayer.publicKey.toBase58())).toBe(before);
  });

  it("a payment that the chain has run already is not settled a second time", async () => {
    const { chain, sandbox } = world;
    const wallet = await sandbox.newBuyer();
    const proof = await world.proof({ wallet });
    expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    const again = settleContext();
    expect(await chain.settle(proof, again)).toEqual({
      outcome: "refused",
      code: "payment_already_used",
      reason: "duplicate_settlement",
    });
    expect(again.announced).toEqual([]);
    expect(await chain.verify(proof, verifyContext())).toEqual({ outcome: "used" });
    expect(await sandbox.token.balanceOf(wallet.publicKey.toBase58())).toBe(1_000_000_000n - PRICE);
  });
});

describe("once the bytes have left", () => {
  it("a lost answer is no loss: the block decides", async () => {
    const { chain, rpc } = world;
    for (const loss of [fault.resetAfter(), fault.hangAfter(), fault.html(502), fault.error(-32602, "invalid")]) {
      rpc.script("sendTransaction", loss);
      expect(await chain.settle(await world.proof(), settleContext())).toMatchObject({ outcome: "settled" });
    }
  });

  it("bytes that got lost are sent again, and the money moves once", async () => {
    const { chain, sandbox } = world;
    const wallet = await sandbox.newBuyer();
    sandbox.chain.dropTransactions(1);
    const proof = await world.proof({ wallet });
    expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    expect(await sandbox.token.balanceOf(wallet.publicKey.toBase58())).toBe(1_000_000_000n - PRICE);
  });

  it("a transaction that vanishes is unknown within the deadline, with its id", async () => {
    const { chain, sandbox, rpc } = world;
    sandbox.chain.dropTransactions(2);
    const context = settleContext(3_000);
    const began = Date.now();
    const settlement = await chain.settle(await world.proof(), context);
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: context.announced[0]?.id });
    expect(Date.now() - began).toBeLessThan(5_000);
    expect(rpc.params("sendTransaction").at(-1)?.[1]).toEqual({
      encoding: "base64",
      skipPreflight: true,
      maxRetries: 0,
    });
  });

  it("a blockhash that is over on one node is not worth waiting for, and no evidence", async () => {
    const { chain, sandbox, rpc } = world;
    const sends = rpc.forwarded("sendTransaction");
    sandbox.chain.dropTransactions(1);
    const context = settleContext(20_000);
    const settled = chain.settle(await world.proof(), context);
    await rpc.reached("sendTransaction", sends + 1);
    sandbox.chain.advanceSlots(400);
    const [message, transaction] = [
      "its blockhash is over and no node has shown it in a block",
      context.announced[0]?.id,
    ];
    expect(await settled).toEqual({ outcome: "unknown", transaction, message });
    expect(Date.now()).toBeLessThan(context.deadlineAt);
  });

  it("a node that shows no status, a broken one, or a block that may vanish settles nothing", async () => {
    const { sandbox, rpc } = world;
    const status = { slot: 1, confirmations: 1, err: null, confirmationStatus: "confirmed" };
    const { err: _, ...withoutError } = status;
    const lies: unknown[] = [
      null,
      { context: { slot: 1 }, value: [] },
      { context: { slot: 1 }, value: [null] },
      { context: { slot: 1 }, value: [withoutError] },
      { context: { slot: 1 }, value: [{ ...status, confirmationStatus: "processed" }] },
      { context: { slot: 1 }, value: [{ ...status, confirmationStatus: "processed", err: "AccountInUse" }] },
      { context: { slot: 1 }, value: [{ ...status, confirmationStatus: null }] },
      { context: { slot: 1 }, value: [{ ...status, confirmationStatus: "certain" }] },
      { value: [status] },
      { context: { slot: 1 }, value: [status, status] },
    ];
    for (const lie of lies) {
      sandbox.chain.dropTransactions(1);
      rpc.script("getSignatureStatuses", fault.lie(lie), 100);
      const [chain, polls] = [await world.open(), rpc.count("getSignatureStatuses")];
      const settling = chain.settle(await world.proof(), settleContext(20_000));
      // Two polls have settled nothing by the time that a third one comes; nobody waits any longer.
      await Promise.race([rpc.called("getSignatureStatuses", polls + 3), settling]);
      chain.close();
      const settlement = await settling;
      expect(settlement, JSON.stringify(lie)).toMatchObject({ outcome: "unknown" });
      expect(settlement).not.toHaveProperty("reverted");
      rpc.clear("getSignatureStatuses");
    }
  });
});

it("100 payments at once are 100 debits, and their statuses are asked for together", async () => {
  const { sandbox, rpc } = world;
  // The chain of the tests takes one call after the other: on a busy machine the last of a hundred waits for long.
  const chain = await world.open({ timeoutMs: 30_000 });
  const feePayer = sandbox.feePayer.publicKey.toBase58();
  const [earned, lamports] = [await sandbox.token.balanceOf(sandbox.payTo), sandbox.chain.lamports(feePayer)];
  const wallets = await sandbox.newBuyers(100);
  const proofs = await Promise.all(wallets.map((wallet, i) => world.proof({ wallet, version: i % 2 === 0 ? 1 : 2 })));
  const polls = rpc.count("getSignatureStatuses");
  const settlements = await Promise.all(proofs.map((proof) => chain.settle(proof, settleContext(90_000))));
  expect(settlements.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
  expect(new Set(settlements.map((one) => one.outcome === "settled" && one.transaction)).size).toBe(100);
  expect(await sandbox.token.balanceOf(sandbox.payTo)).toBe(earned + 100n * PRICE);
  expect(sandbox.chain.lamports(feePayer)).toBe(lamports - 100n * 10_001n);
  expect(rpc.count("getSignatureStatuses") - polls).toBeLessThan(100);
}, 120_000);
