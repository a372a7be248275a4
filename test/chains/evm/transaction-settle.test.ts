import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { TransactionProof } from "../../../src/proof.js";
import { NATIVE } from "../../../src/requirement.js";
import { type Fault, fault } from "../../support/scripted-rpc.js";
import { createTransfers, newSecret, PRICE, type Signed, TOKEN, type Transfers } from "./transfers.js";
import { settleContext } from "./world.js";

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

interface Made {
  readonly proof: TransactionProof;
  readonly signed: Signed;
  readonly secret: Hex;
}

async function make(
  options: {
    readonly asset?: string;
    readonly confirmations?: number;
    readonly owned?: boolean;
    readonly amount?: bigint;
    readonly broadcast?: boolean;
  } = {},
): Promise<Made> {
  const { asset = NATIVE, confirmations = 1, owned = false, amount = PRICE, broadcast = false } = options;
  const requirement = world.requirement(asset, { confirmations });
  const { secret, reference } = await newSecret();
  const parts = owned ? { amount, reference } : { amount };
  const signed = await world.sign(await world.buyer(), requirement, parts);
  if (broadcast) await world.broadcast(signed);
  return { proof: await world.prove(signed, requirement, owned ? { secret } : {}), signed, secret };
}

const settle = (proof: TransactionProof, context = settleContext()) => world.chain.settle(proof, context);
const sellerHolds = async (asset: string) =>
  asset === NATIVE
    ? BigInt((await world.sandbox.chain.rpc("eth_getBalance", [world.sandbox.seller, "latest"])) as string)
    : world.tokenBalance(world.sandbox.seller);

describe.each([
  ["native currency", NATIVE],
  ["a token", TOKEN],
])("a transfer of %s", (_, asset) => {
  it("is announced, sent as it was signed, and settled by its receipt, once", async () => {
    const { proof, signed } = await make({ asset });
    const before = await sellerHolds(asset);
    const context = settleContext();
    expect(await settle(proof, context)).toEqual({
      outcome: "settled",
      transaction: signed.hash,
      payer: proof.payer,
      height: expect.any(Number),
    });
    expect(context.announced).toEqual([signed.hash]);
    expect(world.rpc.params("eth_sendRawTransaction").at(-1)).toEqual([signed.raw]);
    expect(await sellerHolds(asset)).toBe(before + PRICE);
  });

  it("is settled without being sent where the chain has it and its secret was shown", async () => {
    const { proof, signed } = await make({ asset, owned: true, broadcast: true });
    const sent = world.rpc.count("eth_sendRawTransaction");
    const context = settleContext();
    expect(await settle(proof, context)).toEqual({
      outcome: "settled",
      transaction: signed.hash,
      payer: proof.payer,
      height: expect.any(Number),
    });
    expect(context.announced).toEqual([signed.hash]);
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
  });

  it("tells what came where it was more than the price", async () => {
    const { proof } = await make({ asset, owned: true, amount: PRICE * 2n, broadcast: true });
    expect(await settle(proof)).toMatchObject({ outcome: "settled", received: PRICE * 2n });
  });

  it("waits for as many blocks as the sale asks for", async () => {
    const { proof, signed } = await make({ asset, confirmations: 3 });
    let done = false;
    const settling = settle(proof).finally(() => {
      done = true;
    });
    const looked = async () =>
      world.rpc.called("eth_getTransactionReceipt", world.rpc.count("eth_getTransactionReceipt") + 3);
    await looked();
    await world.sandbox.chain.mine();
    await looked();
    expect(done).toBe(false);
    await world.sandbox.chain.mine();
    expect(await settling).toMatchObject({ outcome: "settled", transaction: signed.hash });
  });
});

describe("a settlement is refused, and nothing is sent", () => {
  let sent = 0;
  beforeEach(() => {
    sent = world.rpc.count("eth_sendRawTransaction");
  });
  afterEach(() => expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent));

  it("when the balance is gone since the verification", async () => {
    const { proof } = await make();
    await world.sandbox.chain.rpc("anvil_setBalance", [proof.payer, "0x0"]);
    expect(await settle(proof)).toEqual({
      outcome: "refused",
      code: "insufficient_funds",
      reason: "insufficient_funds",
    });
  });

  it("when the payer has used the nonce for something else", async () => {
    const account = await world.buyer();
    const requirement = world.requirement();
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    await world.broadcast(await world.sign(account, { ...requirement, payTo: account.address }));
    expect(await settle(proof)).toMatchObject({ outcome: "refused", code: "payment_rejected" });
  });

  it("when somebody has made it public and no secret was shown; it is not announced, so no lookup finds it", async () => {
    const { proof, signed } = await make();
    await world.broadcast(signed);
    const context = settleContext();
    expect(await settle(proof, context)).toMatchObject({ outcome: "refused", code: "payment_unreferenced" });
    expect(context.announced).toEqual([]);
  });

  it("when it was public, and was reverted", async () => {
    const { proof } = await make({ asset: TOKEN, owned: true, amount: 2_000_000n, broadcast: true });
    expect(await settle(proof)).toMatchObject({ outcome: "refused", code: "payment_rejected" });
  });
});

describe("a settlement is unavailable, and nothing is sent", () => {
  it.each([
    ["breaks the connection", fault.resetBefore()],
    ["hangs", fault.hang()],
    ["is on another chain", fault.wrongChain(1)],
  ])("when the node %s before", async (_, next) => {
    const { proof } = await make();
    world.rpc.script("eth_chainId", next);
    expect(await settle(proof)).toMatchObject({ outcome: "unavailable" });
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
  });

  it.each([true, false])("when it cannot be announced (its secret shown: %s)", async (owned) => {
    const { proof } = await make({ owned });
    const sent = world.rpc.count("eth_sendRawTransaction");
    const lost = { ...settleContext(), sending: () => Promise.reject(new Error("the fence is lost")) };
    expect(await settle(proof, lost)).toMatchObject({ outcome: "unavailable" });
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
  });

  it("when its time is over once it is announced", async () => {
    const { proof } = await make();
    const sent = world.rpc.count("eth_sendRawTransaction");
    const deadlineAt = Date.now() + 400;
    const sending = () => new Promise<void>((resolve) => setTimeout(resolve, deadlineAt + 20 - Date.now()));
    expect(await settle(proof, { ...settleContext(), deadlineAt, sending })).toMatchObject({ outcome: "unavailable" });
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
  });
});

describe("a transfer whose bytes have left", () => {
  it.each([
    ["is lost with the connection", fault.resetAfter()],
    ["is lost with the connection before the node saw them", fault.resetBefore()],
    ["never comes", fault.hangAfter()],
    ["is an HTML page", fault.html()],
    ["names another transaction", fault.lie(`0x${"11".repeat(32)}`)],
    ["is that it is known already", fault.error(-32000, "already known", { forward: true }), true],
    ["is that its nonce is used already", fault.error(-32000, "nonce too low", { forward: true }), true],
  ])("is settled by its receipt where the answer to them %s", async (_, next, owned = false) => {
    world.rpc.script("eth_sendRawTransaction", next);
    const { proof, signed } = await make({ owned });
    expect(await settle(proof)).toMatchObject({ outcome: "settled", transaction: signed.hash });
  });

  it("is unknown, never refused, where the node refuses them", async () => {
    const { proof, signed } = await make();
    world.rpc.script("eth_sendRawTransaction", fault.error(-32000, "transaction underpriced"));
    const settlement = await settle(proof);
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: signed.hash });
    expect(settlement).toMatchObject({
      message: expect.stringContaining("cancel it with another transaction of nonce 0"),
    });
  });

  it("is unknown while it waits in the pool", async () => {
    await world.sandbox.chain.setAutomine(false);
    const { proof, signed } = await make();
    expect(await settle(proof, settleContext(3_000))).toMatchObject({ outcome: "unknown", transaction: signed.hash });
    await world.sandbox.chain.mine();
  });

  it("is unknown where another transaction takes its nonce", async () => {
    const account = await world.buyer();
    const requirement = world.requirement();
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    const rival = await world.sign(account, { ...requirement, payTo: account.address });
    const context = settleContext();
    const sending = async (hash: string) => {
      await context.sending(hash);
      await world.broadcast(rival);
    };
    expect(await settle(proof, { ...context, sending })).toMatchObject({
      outcome: "unknown",
      message: expect.stringContaining("another transaction has used its nonce"),
    });
  });

  it("is unknown where it is reverted", async () => {
    const { proof, signed } = await make({ asset: TOKEN });
    const sending = () => world.setTokenBalance(proof.payer as Hex, 0n);
    const settlement = await settle(proof, { ...settleContext(), sending });
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: signed.hash });
    // The gas was the buyer's own: nothing counts against him as with a settlement that cost the seller gas.
    expect(settlement).not.toHaveProperty("reverted");
  });

  it.each(["answers-false", "takes-a-fee"] as const)(
    "is not settled by a status alone where the token %s",
    async (mode) => {
      const { proof } = await make({ asset: TOKEN });
      const sending = () => world.setTokenMode(mode);
      expect(await settle(proof, { ...settleContext(), sending })).toMatchObject({
        outcome: "unknown",
        message: expect.stringContaining("without the exact transfer"),
      });
    },
  );

  it("is not settled by a token's transfer without a log, or of less", async () => {
    const { token } = world.sandbox;
    const requirement = world.requirement(token.address);
    for (const turn of [token.setMute, (on: boolean) => token.setFeeBasisPoints(on ? 100 : 0)]) {
      const account = await world.buyer();
      await token.setBalances([account.address], PRICE);
      const proof = await world.prove(await world.sign(account, requirement), requirement);
      await turn(true);
      const settlement = await settle(proof);
      await turn(false);
      expect(settlement).toMatchObject({ outcome: "unknown" });
    }
  });

  it("is not settled on the receipt of another transaction, or of a block that is not part of the chain", async () => {
    const lies = [
      fault.twist((receipt) => ({ ...(receipt as object), transactionHash: `0x${"11".repeat(32)}` })),
      fault.twist((receipt) => receipt && { ...receipt, blockHash: `0x${"11".repeat(32)}` }),
      fault.twist((receipt) => receipt && { ...receipt, blockHash: undefined }),
    ];
    for (const lie of lies) {
      const { proof } = await make();
      world.rpc.script("eth_getTransactionReceipt", fault.pass());
      world.rpc.script("eth_getTransactionReceipt", lie, 1_000);
      expect(await settle(proof, settleContext(3_000))).toMatchObject({ outcome: "unknown" });
      world.rpc.clear();
    }
  });
});

describe("a reorganisation", () => {
  it("before enough blocks stand on it: it is sent again, and settled where it lands then", async () => {
    const { proof, signed } = await make({ confirmations: 2 });
    const answered = world.rpc.forwarded("eth_getTransactionReceipt");
    const settling = settle(proof);
    await world.rpc.reached("eth_getTransactionReceipt", answered + 3);
    const sent = world.rpc.forwarded("eth_sendRawTransaction");
    await world.sandbox.chain.reorg(1);
    await world.rpc.reached("eth_sendRawTransaction", sent + 1);
    await world.sandbox.chain.mine(2);
    expect(await settling).toMatchObject({ outcome: "settled", transaction: signed.hash });
  });

  it("before enough blocks stand on it, and its nonce is gone: it is unknown, and nothing was paid", async () => {
    const account = await world.buyer();
    const requirement = world.requirement(NATIVE, { confirmations: 2 });
    const rival = await world.sign(account, { ...requirement, payTo: account.address });
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    const before = await sellerHolds(NATIVE);
    const answered = world.rpc.forwarded("eth_getTransactionReceipt");
    const settling = settle(proof);
    await world.rpc.reached("eth_getTransactionReceipt", answered + 3);
    await world.sandbox.chain.rpc("anvil_reorg", [1, [[rival.raw, 0]]]);
    expect(await settling).toMatchObject({ outcome: "unknown" });
    expect(await sellerHolds(NATIVE)).toBe(before);
  });

  it("is not outrun: a head that lags behind the receipt confirms nothing", async () => {
    const { proof } = await make({ owned: true, broadcast: true });
    const lagging: Fault = async ({ call, forward }) => {
      const answer = await forward();
      if (call.params[0] !== "latest") return { kind: "answer", answer };
      return { kind: "answer", answer: { result: { ...(answer.result as object), number: "0x0" } } };
    };
    world.rpc.script("eth_getBlockByNumber", lagging, 1_000);
    expect(await settle(proof, settleContext(3_000))).toMatchObject({ outcome: "unknown" });
    world.rpc.clear();
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
  });
});
