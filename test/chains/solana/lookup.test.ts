// What became of a settlement, found out from the chain and the record alone. Slots stand still here unless a test ends
// them, so that each answer is asked for at a known moment. "The node does not know it" is never an answer.
import type { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import type { SplProof } from "../../../src/chains/solana/judge.js";
import type { Trace } from "../../../src/receive/receiver.js";
import type { AccountState } from "../../../src/testing/solana/svm.js";
import { traceOf } from "../../support/bound-proof.js";
import { ata } from "./payment.js";
import {
  announcedTrace,
  createWorld,
  fault,
  lookup,
  type RecordingContext,
  settleContext,
  verifyContext,
  type World,
} from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld(0);
});
afterAll(() => world.close());

/** The buyer's token account without its tokens. */
async function emptied(owner: PublicKey): Promise<[string, AccountState]> {
  const address = ata(owner);
  const account = await world.sandbox.connection("processed").getAccountInfo(address);
  if (!account) throw new Error("the buyer has no token account");
  const data = new Uint8Array(account.data);
  data.fill(0, 64, 72);
  return [
    address.toBase58(),
    { ...account, data, lamports: BigInt(account.lamports), owner: account.owner.toBase58() },
  ];
}

/** A settlement whose bytes the network loses: what the store knows of it, and the bytes. */
async function loseOne(proof?: SplProof): Promise<{ trace: Trace; wire: unknown; proof: SplProof }> {
  const { sandbox, rpc } = world;
  const lost = proof ?? (await world.proof());
  const answered = rpc.forwarded("sendTransaction");
  sandbox.chain.dropTransactions(1);
  const [chain, context] = [await world.open(), settleContext(60_000)];
  const settlement = chain.settle(lost, context);
  await Promise.race([rpc.reached("sendTransaction", answered + 1), settlement]);
  // Nobody waits for its block any longer.
  chain.close();
  expect(await settlement).toMatchObject({ outcome: "unknown" });
  return { trace: announcedTrace(lost, context), wire: rpc.params("sendTransaction").at(-1)?.[0], proof: lost };
}

async function send(wire: unknown): Promise<void> {
  const params = [wire, { encoding: "base64", skipPreflight: true }];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "sendTransaction", params });
  const headers = { "content-type": "application/json" };
  const response = await fetch(world.sandbox.rpcUrl, { method: "POST", headers, body });
  z.object({ result: z.string() }).parse(await response.json());
}

const unknown = { outcome: "unknown" };

describe("a settlement that was sent and not seen", () => {
  it("is unknown, and settled as soon as it stands in a confirmed block", async () => {
    const { chain, sandbox } = world;
    const { trace, wire } = await loseOne();
    expect(await lookup(chain, trace)).toMatchObject(unknown);
    await send(wire);
    sandbox.chain.advanceSlots(1);
    expect(await lookup(chain, trace)).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction: trace.transaction,
    });
  });

  it("is over when the last block for it is final, not a block earlier", async () => {
    const { chain, sandbox } = world;
    const { trace } = await loseOne();
    const last = trace.expiry?.lastValidBlockHeight ?? 0;
    // Heights are 200 below slots; 32 slots behind the open one is the finalized one.
    sandbox.chain.advanceSlots(last + 200 + 32 - Number(sandbox.chain.slot()));
    expect(await lookup(chain, trace)).toMatchObject(unknown);
    sandbox.chain.advanceSlots(1);
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
  });

  it("is never over on the word of a node that is behind, forgets, or keeps no history", async () => {
    const { chain, sandbox, rpc } = world;
    const { trace } = await loseOne();
    sandbox.chain.advanceSlots(400);
    const { slot = 0 } = trace.expiry ?? {};
    const faults: [string, Parameters<typeof rpc.script>[1]][] = [
      ["getFirstAvailableBlock", fault.lie(slot + 1)],
      ["getFirstAvailableBlock", fault.lie(null)],
      ["getFirstAvailableBlock", fault.hang()],
      ["getEpochInfo", fault.lie({ absoluteSlot: slot, blockHeight: trace.expiry?.lastValidBlockHeight })],
      ["getEpochInfo", fault.lie({ blockHeight: 1e9 })],
      ["getSignaturesForAddress", fault.error(-32011, "Transaction history is not available from this node")],
      ["getSignaturesForAddress", fault.error(-32016, "Minimum context slot has not been reached")],
      ["getSignaturesForAddress", fault.lie(null)],
      ["getSignatureStatuses", fault.lie({ context: { slot }, value: [null] })],
      ["getSignatureStatuses", fault.lie({ value: [null] })],
      ["getTransaction", fault.hang()],
      ["getTransaction", fault.lie({ slot })],
    ];
    for (const [method, next] of faults) {
      rpc.script(method, next);
      if (method === "getTransaction") rpc.script("getEpochInfo", fault.hang());
      expect(await lookup(chain, trace), method).toMatchObject(unknown);
      rpc.clear();
    }
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
  });

  it("is what any one of several nodes has of it, and not over because another one has forgotten it", async () => {
    const { sandbox, rpc } = world;
    const { trace, wire } = await loseOne();
    await send(wire);
    sandbox.chain.advanceSlots(400);
    for (const urls of [
      [rpc.url, sandbox.rpcUrl],
      [sandbox.rpcUrl, rpc.url],
    ]) {
      const chain = await world.open({ urls });
      rpc.script("getTransaction", fault.lie(null), 5);
      rpc.script("getSignatureStatuses", fault.lie({ context: { slot: 1e9 }, value: [null] }), 5);
      rpc.script("getSignaturesForAddress", fault.lie([]), 5);
      expect(await lookup(chain, trace)).toEqual({
        outcome: "settled",
        height: expect.any(Number),
        transaction: trace.transaction,
      });
      rpc.clear();
    }
  });
});

describe("a settlement that failed on the chain", () => {
  /** The payer's money is gone between the simulation and the block. */
  async function failOne(): Promise<{ trace: Trace; settlement: unknown; context: RecordingContext }> {
    const { chain, sandbox, rpc } = world;
    const wallet = await sandbox.newBuyer();
    const proof = await world.proof({ wallet });
    sandbox.chain.pause();
    const context = settleContext(20_000);
    const sends = rpc.count("sendTransaction");
    const settling = chain.settle(proof, context);
    await rpc.reached("sendTransaction", sends + 1);
    sandbox.chain.setAccount(...(await emptied(wallet.publicKey)));
    sandbox.chain.resume();
    return { settlement: await settling, trace: announcedTrace(proof, context), context };
  }

  it("is unknown and reverted, costs the fee payer the fee, and is over only once that block is final", async () => {
    const { chain, sandbox } = world;
    const feePayer = sandbox.feePayer.publicKey.toBase58();
    const before = sandbox.chain.lamports(feePayer);
    const { settlement, trace, context } = await failOne();
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: context.announced[0]?.id, reverted: true });
    expect(sandbox.chain.lamports(feePayer)).toBe(before - 10_001n);
    expect(await lookup(chain, trace)).toMatchObject({
      outcome: "unknown",
      message: expect.stringMatching(/not final/),
    });
    sandbox.chain.advanceSlots(40);
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
  });
});

describe("a settlement whose transaction is not known", () => {
  it("is found among the payer's transactions by its message, never by another payment of the same size", async () => {
    const { chain, sandbox } = world;
    const wallet = await sandbox.newBuyer();
    const [other, proof] = [await world.proof({ wallet }), await world.proof({ wallet })];
    expect(await chain.settle(other, settleContext())).toMatchObject({ outcome: "settled" });
    expect(await lookup(chain, traceOf(proof))).toMatchObject(unknown);
    const settled = await chain.settle(proof, settleContext());
    const { transaction } = z.object({ transaction: z.string() }).parse(settled);
    expect(await lookup(chain, traceOf(proof))).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction,
    });
    // A service may name another payment's transaction.
    const theirs = await lookup(chain, traceOf(other));
    expect(theirs).toMatchObject({ outcome: "settled" });
    const named = theirs.outcome === "settled" ? theirs.transaction : null;
    expect(await lookup(chain, traceOf(proof, named))).toEqual({
      outcome: "settled",
      height: expect.any(Number),
      transaction,
    });
  });

  it("is over only when both the chain's time and more blocks than a blockhash lives for have passed", async () => {
    const { chain, sandbox } = world;
    const proof = await world.proof();
    const trace = traceOf(proof);
    expect(await lookup(chain, trace)).toMatchObject(unknown);
    sandbox.chain.setTime(proof.validBefore + 60);
    sandbox.chain.advanceSlots(100);
    expect(await lookup(chain, trace), "time alone").toMatchObject(unknown);
    sandbox.chain.advanceSlots(300);
    expect(await lookup(chain, trace)).toEqual({ outcome: "expired" });
    sandbox.chain.setTime(Math.floor(Date.now() / 1000));
  });

  it("is not over as long as its blockhash could live, whatever its blocks' number", async () => {
    const { chain, sandbox } = world;
    const trace = traceOf(await world.proof());
    sandbox.chain.advanceSlots(400);
    expect(await lookup(chain, trace)).toEqual({ outcome: "unknown", message: "the payment could still be sent" });
  });
});

it("a payment whose blockhash is over is refused, before and at settlement", async () => {
  const { chain, sandbox } = world;
  const proof = await world.proof();
  sandbox.chain.advanceSlots(152);
  const code = "payment_expired";
  expect(await chain.verify(proof, verifyContext())).toMatchObject({ outcome: "invalid", code });
  expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "refused", code });
  const v1 = { ...proof, version: 1 as const };
  const reason = "settle_exact_svm_block_height_exceeded";
  expect(await chain.settle(v1, settleContext())).toEqual({ outcome: "refused", code, reason });
});
