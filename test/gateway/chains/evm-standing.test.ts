import { parseGwei, toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { toBytes } from "../../../src/chains/evm/hex.js";
import { readUnsigned } from "../../../src/chains/evm/transfer-bytes.js";
import type { BuiltTransfer, SignedTransfer } from "../../../src/gateway/chain.js";
import { newSecret } from "../../chains/evm/transfers.js";
import { fault } from "../../support/scripted-rpc.js";
import { createEvmWorld, type EvmWorld, type Wallet } from "./evm-world.js";

let world: EvmWorld;
beforeAll(async () => {
  world = await createEvmWorld();
});
afterAll(() => world.close());
afterEach(async () => {
  world.base.rpc.clear();
  await world.base.sandbox.chain.setAutomine(true);
  await world.base.setTokenMode("plain");
});

const mine = (blocks = 1) => world.base.sandbox.chain.mine(blocks);
const mining = (on: boolean) => world.base.sandbox.chain.setAutomine(on);
const balanceOf = (address: string) => world.base.sandbox.native.balanceOf(address as `0x${string}`);

/** A transfer that stands in the newest block. */
async function mined(wallet: Wallet, parts?: Parameters<EvmWorld["make"]>[1]): Promise<SignedTransfer> {
  const signed = await world.make(wallet, parts);
  expect(await world.send(signed)).toMatchObject({ outcome: "sent" });
  await world.inBlock(signed.signature);
  return signed;
}

/** What the wallet's owner makes of a built transfer with a program of his own: other fees and gas, another hash. */
async function signElsewhere(wallet: Wallet, { unsigned }: BuiltTransfer, parts: { readonly value?: bigint } = {}) {
  const fields = readUnsigned(unsigned);
  if (!fields) throw new Error("the built bytes cannot be read");
  const { chainId, nonce, to, value, data } = fields;
  const own = { gas: 90_000n, maxFeePerGas: parseGwei("9"), maxPriorityFeePerGas: parseGwei("2") };
  return world.submit(wallet, {
    type: "eip1559",
    chainId: Number(chainId),
    nonce: Number(nonce),
    to,
    value,
    data,
    ...own,
    ...parts,
  });
}

describe("a transfer that was signed here", () => {
  it("is unseen before it is sent, waits in the pool, and is mined", async () => {
    const signed = await world.make(await world.wallet());
    expect(await world.standing(signed)).toEqual({ state: "unseen" });
    await mining(false);
    await world.send(signed);
    expect(await world.standing(signed)).toEqual({ state: "waiting", signature: signed.signature });
    await mine();
    expect(await world.standing(signed)).toMatchObject({
      state: "mined",
      signature: signed.signature,
      succeeded: true,
    });
  });

  it("is included, then confirmed by enough blocks, then finalized by the chain's own word", async () => {
    const signed = await mined(await world.wallet());
    expect(await world.standing(signed)).toMatchObject({ level: "included", confirmations: 1 });
    await mine();
    expect(await world.standing(signed)).toMatchObject({ level: "included", confirmations: 2 });
    // Anvil's finality trails the head by two blocks.
    expect(await world.standing(signed, world.open(undefined, 2))).toMatchObject({ level: "confirmed" });
    await mine(3);
    expect(await world.standing(signed)).toMatchObject({ level: "finalized", confirmations: 5 });
  });

  it("has cost what its receipt says, and its block's height", async () => {
    const wallet = await world.wallet();
    const before = await balanceOf(wallet.address);
    const signed = await mined(wallet);
    const standing = await world.standing(signed);
    if (standing.state !== "mined") throw new Error(standing.state);
    expect(before - (await balanceOf(wallet.address))).toBe(10n ** 15n + standing.fee);
    expect(standing.blockHeight).toBe(Number(await world.rpc("eth_blockNumber")));
  });

  it("is waiting again when a reorganisation takes its block away, and mined by the next one", async () => {
    const signed = await mined(await world.wallet());
    await mining(false);
    await world.base.sandbox.chain.reorg(1);
    expect(["unseen", "waiting"]).toContain((await world.standing(signed)).state);
    await mining(true);
    await world.send(signed);
    await mine();
    expect(await world.standing(signed)).toMatchObject({ state: "mined", succeeded: true });
  });

  it("has failed when it was reverted, in the node's own words", async () => {
    const { token } = world.base.sandbox;
    const signed = await world.make(await world.wallet(), { asset: world.usdc, amount: 5n });
    await token.setPaused(true);
    await world.send(signed);
    await mine();
    const standing = await world.standing(signed);
    await token.setPaused(false);
    expect(standing).toMatchObject({ state: "mined", succeeded: false, reason: "it was reverted: Pausable: paused" });
  });

  it("has failed when the token let it succeed and moved nothing", async () => {
    const signed = await world.make(await world.wallet(), { asset: world.plain, amount: 5n });
    await world.base.setTokenMode("answers-false");
    await world.send(signed);
    await mine();
    expect(await world.standing(signed)).toMatchObject({
      state: "mined",
      succeeded: false,
      reason: expect.stringContaining("without a Transfer"),
    });
  });

  it("is found by an earlier hash under which it was sent", async () => {
    const wallet = await world.wallet();
    const first = await mined(wallet);
    const again = await world.make(wallet, {}, 0);
    const pursuit = { ...again.pursuit, kind: "evm" as const, earlier: [first.signature] };
    expect(await world.standing({ pursuit: pursuit as SignedTransfer["pursuit"] })).toMatchObject({
      state: "mined",
      signature: first.signature,
    });
  });

  it("is nobody's verdict while the chain cannot be asked or contradicts itself", async () => {
    const signed = await mined(await world.wallet());
    for (const next of [fault.resetBefore(), fault.html(), fault.tooMany()]) {
      world.base.rpc.script("*", next);
      expect(await world.standing(signed)).toMatchObject({ state: "unreadable" });
      world.base.rpc.clear();
    }
    world.base.rpc.script("eth_getTransactionReceipt", fault.lie("0x"));
    expect(await world.standing(signed)).toMatchObject({ state: "unreadable" });
    world.base.rpc.script("eth_getTransactionCount", fault.error(-32000, "header not found"));
    expect(await world.standing(signed)).toMatchObject({ state: "unreadable" });
  });

  it("is never impossible by a node that lags behind", async () => {
    const signed = await mined(await world.wallet());
    for (const method of ["eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getTransactionCount"]) {
      world.base.rpc.script(method, fault.stale(1), 20);
    }
    expect(await world.standing(signed)).toEqual({ state: "unseen" });
    world.base.rpc.clear("eth_getTransactionCount");
    expect(await world.standing(signed)).toEqual({ state: "unseen" });
    world.base.rpc.clear();
    expect(await world.standing(signed)).toMatchObject({ state: "mined" });
  });
});

describe("a transfer that its caller signs", () => {
  it("is found by its sender and nonce, whatever fees it was signed with: in the pool, and in its block", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet, { reference: (await newSecret()).reference });
    expect(await world.standing(built)).toEqual({ state: "unseen" });
    await mining(false);
    const signature = await signElsewhere(wallet, built);
    expect(await world.standing(built)).toEqual({ state: "waiting", signature });
    await mine(2);
    expect(await world.standing(built)).toMatchObject({ state: "mined", signature, succeeded: true, confirmations: 2 });
  });

  it("is found among many later blocks and transactions of the same sender", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    await mine(3);
    const signature = await signElsewhere(wallet, built);
    await mine(40);
    for (let more = 0; more < 3; more++) await mined(wallet);
    await mine(30);
    expect(await world.standing(built)).toMatchObject({ state: "mined", signature, level: "finalized" });
  });

  it("is found by a node without old state, which has to read the blocks themselves", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    await mine(5);
    const signature = await signElsewhere(wallet, built);
    await mine(25);
    const asked = world.base.rpc.count("eth_getBlockByNumber");
    world.base.rpc.script("eth_getTransactionCount", withoutOldState(10), 200);
    expect(await world.standing(built)).toMatchObject({ state: "mined", signature });
    expect(world.base.rpc.count("eth_getBlockByNumber") - asked).toBeGreaterThan(20);
  });

  it("is looked for on from where the last look had to stop, by a node without old state", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    await mine(450);
    const signature = await signElsewhere(wallet, built);
    await mine(60);
    world.base.rpc.script("eth_getTransactionCount", withoutOldState(10), 500);
    expect(await world.standing(built)).toMatchObject({ state: "unreadable" });
    expect(await world.standing(built)).toMatchObject({ state: "mined", signature });
  });

  it("can never land once another transaction has used its nonce, and not before that is final", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    const other = await signElsewhere(wallet, built, { value: 1n });
    expect(await world.standing(built)).toEqual({ state: "unseen" });
    await mine(4);
    expect(await world.standing(built)).toMatchObject({ state: "impossible", replacedBy: other });
  });

  it("lands after all when a reorganisation takes the other transaction away", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    await signElsewhere(wallet, built, { value: 1n });
    expect(await world.standing(built)).toEqual({ state: "unseen" });
    await mining(false);
    await world.base.sandbox.chain.reorg(1);
    await world.rpc("anvil_dropAllTransactions");
    const signature = await signElsewhere(wallet, built);
    await mine();
    expect(await world.standing(built)).toMatchObject({ state: "mined", signature });
  });

  it("waits for 64 blocks where the chain has no word for finality", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    await signElsewhere(wallet, built, { value: 1n });
    const young = world.open();
    world.base.rpc.script("eth_getBlockByNumber", withoutFinality, 1_000);
    await mine(60);
    expect(await world.standing(built, young)).toEqual({ state: "unseen" });
    await mine(4);
    expect(await world.standing(built, young)).toMatchObject({ state: "impossible" });
  });

  it("stays open where a node that knew finality has lost its word", async () => {
    const wallet = await world.wallet();
    const own = world.open();
    expect(await world.standing(await mined(wallet), own)).toMatchObject({ state: "mined" });
    const built = await world.build(wallet);
    await signElsewhere(wallet, built, { value: 1n });
    await mine(80);
    world.base.rpc.script("eth_getBlockByNumber", withoutFinality, 1_000);
    expect(await world.standing(built, own)).toEqual({ state: "unseen" });
  });

  it("is found where a reorganisation has put it below the block at which it was built", async () => {
    const wallet = await world.wallet();
    const built = await world.build(wallet);
    const signature = await signElsewhere(wallet, built);
    await mine(3);
    const pursuit = { ...built.pursuit, block: Number(await world.rpc("eth_blockNumber")) };
    expect(await world.standing({ pursuit: pursuit as SignedTransfer["pursuit"] })).toMatchObject({
      state: "mined",
      signature,
    });
  });
});

/** A node that keeps the state of its last blocks only. */
const withoutOldState =
  (kept: number): ReturnType<typeof fault.pass> =>
  async (context) => {
    const at = context.call.params[1];
    const head = BigInt(String((await context.ask("eth_blockNumber", [])).result));
    const isOld = typeof at === "string" && at.startsWith("0x") && BigInt(at) < head - BigInt(kept);
    return (isOld ? fault.error(-32000, "missing trie node") : fault.pass())(context);
  };

/** A node of a chain that does not know the tag. */
const withoutFinality: ReturnType<typeof fault.pass> = async (context) =>
  (context.call.params[0] === "finalized" ? fault.error(-39001, "Unknown block") : fault.pass())(context);

it("takes another transaction of the same effect for the same payment, and one of another effect for none", async () => {
  const wallet = await world.wallet();
  const built = await world.build(wallet, { asset: world.usdc, amount: 9n, reference: (await newSecret()).reference });
  const { unsigned: _, ...old } = { ...built.pursuit } as Record<string, unknown>;
  const signature = await signElsewhere(wallet, built);
  await world.inBlock(signature);
  for (const pursuit of [built.pursuit, old]) {
    const standing = await world.standing({ pursuit: pursuit as SignedTransfer["pursuit"] });
    expect(standing).toMatchObject({ state: "mined", signature });
  }
  const foreign = { ...old, reference: toHex(toBytes((await newSecret()).reference)) };
  await mine(4);
  expect(await world.standing({ pursuit: foreign as SignedTransfer["pursuit"] })).toMatchObject({
    state: "impossible",
  });
});
