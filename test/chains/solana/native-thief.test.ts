// Whoever copies a transfer of SOL that is not his: it may land under his hands, be found by a lookup, or be unknown to one
// node for a moment longer. Without a reference it is then nobody's; with one it is its maker's, a crash included.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { local } from "../../../src/receive/local.js";
import { memoryStore } from "../../../src/store/memory.js";
import type { Payer, SignedTransaction } from "../../../src/testing/index.js";
import { sol } from "../../e2e/money.js";
import { openWorld } from "../../e2e/world.js";
import { traceOf } from "../../support/bound-proof.js";
import { type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";
import { encode, secretOf } from "./native-payment.js";
import { createNativeWorld, type NativeWorld, nativeTrace, PRICE, RENT } from "./native-world.js";
import { fault, lookup, settleContext, verifyContext } from "./world.js";

let world: NativeWorld;
let second: ScriptedRpc;
beforeAll(async () => {
  world = await createNativeWorld();
  second = await startScriptedRpc(world.sandbox.rpcUrl);
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterAll(async () => {
  await second.close();
  await world.close();
});
afterEach(() => {
  world.rpc.clear();
  second.clear();
});

/** Runs while the chain has long finalized that time, in Unix seconds. */
async function after(time: number, run: () => Promise<void>): Promise<void> {
  const { chain } = world.sandbox;
  const go = (seconds: number) => {
    chain.setTime(seconds);
    chain.advanceSlots(400);
  };
  go(time + 60);
  await run().finally(() => go(Math.floor(Date.now() / 1000)));
}

/** A store that has remembered for an hour, and whose time can be moved on. */
function movableStore() {
  let back = 3_600_000;
  const store = memoryStore({}, { now: () => Date.now() - back, after: () => () => {} });
  back = 0;
  const pass = (ms: number) => {
    back -= ms;
  };
  return { store, pass };
}

const unseen = fault.lie({ context: { slot: 1 }, value: [null] });
const required = { outcome: "refused", code: "payment_unreferenced", reason: "duplicate_settlement" };

describe("a transfer without a reference", () => {
  const make = async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer());
    return { signed, proof: await world.prove(signed) };
  };

  it("that lands between verification and settlement buys its copier nothing, however often he asks", async () => {
    const { rpc, sandbox } = world;
    const { store, pass } = movableStore();
    const shop = await openWorld("Express 5", sol(sandbox), { store, receive: sandbox.receive({ rpcUrl: rpc.url }) });
    const victim = await sandbox.newBuyer();
    const signed = await world.transfer(victim, { to: shop.payTo });
    const copier: Payer<SignedTransaction> = {
      takes: ({ extra }) => extra?.assetTransferMethod === "transaction",
      async sign() {
        const bytes = signed.serialize();
        return { payload: { transaction: encode(signed) }, signed: { bytes, id: undefined, secret: undefined } };
      },
    };
    const copy = await shop.sign({ payer: copier });
    rpc.script("getSignatureStatuses", fault.pass());
    rpc.script("getSignatureStatuses", async (context) => {
      await world.broadcast(signed);
      return fault.pass()(context);
    });
    for (let asked = 0; asked < 3; asked++) {
      const { status, json } = await shop.buy(copy);
      expect([status, json.code]).toEqual([409, "payment_unreferenced"]);
      // A record is looked up once a second at most.
      pass(1_100);
    }
    expect(await shop.counters()).toEqual({ runs: 0, debits: 1, bodies: 0 });
    await shop.close();
  });

  it("is found by no lookup where it was never announced, though it has landed; its time ends it", async () => {
    const { signed, proof } = await make();
    const trace = traceOf(proof);
    await world.broadcast(signed);
    const searches = world.rpc.count("getSignaturesForAddress");
    for (const transaction of [null, "1".repeat(64)]) {
      const looked = await lookup(world.chain, { ...trace, transaction });
      expect(looked).toMatchObject({ outcome: "unknown" });
    }
    expect(world.rpc.count("getSignaturesForAddress")).toBe(searches);
    await after(proof.validBefore, async () => {
      expect(await lookup(world.chain, trace)).toEqual({ outcome: "expired" });
    });
  });

  it("is announced only once the chain was seen not to know it", async () => {
    const { proof } = await make();
    const asked: number[] = [];
    const context = settleContext();
    const before = world.rpc.forwarded("simulateTransaction");
    const sending: typeof context.sending = async (...args) => {
      asked.push(world.rpc.forwarded("simulateTransaction") - before);
      await context.sending(...args);
    };
    expect(await world.chain.settle(proof, { ...context, sending })).toMatchObject({ outcome: "settled" });
    expect(asked).toEqual([1]);
  });

  it("that a node which was behind hears of at last is neither announced nor sent", async () => {
    const { signed, proof } = await make();
    const simulated = { owner: "1".repeat(32), lamports: 1, data: ["", "base64"] };
    await world.broadcast(signed);
    world.rpc.script("getSignatureStatuses", unseen);
    world.rpc.script("simulateTransaction", async () => ({
      kind: "answer",
      answer: { result: { context: { slot: 1_000 }, value: { err: null, accounts: [simulated] } } },
    }));
    const [context, sent] = [settleContext(), world.rpc.count("sendTransaction")];
    expect(await world.chain.settle(proof, context)).toEqual(required);
    expect([context.announced, world.rpc.count("sendTransaction")]).toEqual([[], sent]);
  });

  it("is new only where none of several nodes knows it, and a node that hangs keeps nobody waiting", async () => {
    const options = { rpcUrl: [world.rpc.url, second.url], settler: world.sandbox.settlerKey };
    const chain = local({ networks: { "solana-devnet": options } });
    const [known, fresh] = [await make(), await make()];
    await world.broadcast(known.signed);
    const simulated = { owner: "1".repeat(32), lamports: 1, data: ["", "base64"] };
    world.rpc.script("getSignatureStatuses", unseen, 2);
    world.rpc.script("simulateTransaction", async () => ({
      kind: "answer",
      answer: { result: { context: { slot: 1_000 }, value: { err: null, accounts: [simulated] } } },
    }));
    expect(await chain.settle(known.proof, settleContext())).toEqual(required);
    second.script("getSignatureStatuses", fault.hang());
    expect(await chain.settle(fresh.proof, settleContext())).toMatchObject({ outcome: "settled" });
    await chain.close();
  });
});

describe("a transfer whose secret is shown", () => {
  const make = async (label: string) => {
    const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: label });
    return { signed, proof: await world.prove(signed, { secret: secretOf(label).secret }) };
  };

  it("is announced before anything is asked, so that a lookup finds it should the process die there", async () => {
    const { signed, proof } = await make("crash");
    const context = settleContext();
    const asked = world.rpc.count();
    const sending: typeof context.sending = async (...args) => {
      expect(world.rpc.count()).toBe(asked);
      await context.sending(...args);
      throw new Error("the process dies");
    };
    expect(await world.chain.settle(proof, { ...context, sending })).toMatchObject({ outcome: "unavailable" });
    expect(world.rpc.count()).toBe(asked);
    const trace = nativeTrace(proof, context);
    expect(trace).toMatchObject({ transaction: expect.any(String), expiry: null });
    expect(await lookup(world.chain, trace)).toMatchObject({ outcome: "unknown" });
    const transaction = await world.broadcast(signed);
    expect(await lookup(world.chain, trace)).toEqual({ outcome: "settled", height: expect.any(Number), transaction });
  });

  it("and that landed between verification and settlement is settled, with nothing sent", async () => {
    const { signed, proof } = await make("raced by itself");
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
    const transaction = await world.broadcast(signed);
    const sent = world.rpc.count("sendTransaction");
    const context = settleContext();
    expect(await world.chain.settle(proof, context)).toMatchObject({ outcome: "settled", transaction });
    expect(context.announced).toEqual([{ id: transaction, expiry: undefined }]);
    expect(world.rpc.count("sendTransaction")).toBe(sent);
  });

  it("is over for a lookup only once it can land no more, where the process died before its life was known", async () => {
    const { proof } = await make("never sent");
    const trace = { ...traceOf(proof, "2".repeat(64)), confirmations: 1 };
    world.sandbox.chain.advanceSlots(400);
    expect(await lookup(world.chain, trace)).toMatchObject({ outcome: "unknown" });
    await after(proof.validBefore, async () => {
      expect(await lookup(world.chain, trace)).toEqual({ outcome: "expired" });
    });
  });
});

it("a lookup settles nothing by a transfer of less than the record's price, or to somebody else", async () => {
  const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: "looked up" });
  const transaction = await world.broadcast(signed);
  const proof = await world.prove(signed, { secret: secretOf("looked up").secret });
  const trace = { ...traceOf(proof, transaction), confirmations: 1 };
  expect(await lookup(world.chain, trace)).toEqual({ outcome: "settled", height: expect.any(Number), transaction });
  const less = { ...trace, amount: `${PRICE + 1n}` };
  const elsewhere = { ...trace, payTo: world.sandbox.feePayer.publicKey.toBase58() };
  for (const other of [less, elsewhere]) {
    expect(await lookup(world.chain, other)).toMatchObject({
      outcome: "unknown",
      message: expect.stringMatching(/move the price/),
    });
  }
});
