// A settlement that this gateway paid for and that was mined in vain counts three times in the day's budget: once, whether its
// process still waits, has given up or has died, and however many watchers see it.
import { getAddress } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Payment } from "../../src/gateway/payment.js";
import { createSandbox, eip3009Payer, type Sandbox } from "../../src/testing/index.js";
import { onEvm, receive, sign } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let world: GatewayWorld;

const PATIENT = { timeout: 20_000, interval: 50 };

// A chain of its own for each test: blocks come when the test says so.
beforeEach(async () => {
  evm = await createSandbox();
});
afterEach(async () => {
  await world.close();
  await evm.close();
});

/** A gateway whose processes wait so long for a transaction, longer than a caller with less patience. */
async function open(settleMs: number, watch = true): Promise<void> {
  const networks = { "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey, settleMs } };
  world = await createGatewayWorld({ chains: { evm }, options: { networks }, watch });
}

/** A settlement whose transaction waits for a block, and will be mined in vain. */
async function settleInVain(timeout: number) {
  const kind = onEvm(evm, "usdc", 2);
  const payTo = await kind.newPayee();
  const account = await evm.newBuyer();
  const proof = await sign(kind, payTo, { payer: eip3009Payer(account) });
  await evm.chain.setAutomine(false);
  const answer = receive(world, kind, payTo, proof, { timeout });
  await expect.poll(() => poolSize(), PATIENT).toBe(1);
  await evm.token.setBalances([account.address], 0n);
  return { answer, payer: account.address, record: () => recordTo(payTo) };
}

const poolSize = async (): Promise<number> => {
  const pending = await evm.chain.rpc("eth_getBlockByNumber", ["pending", false]);
  return (pending as { transactions: unknown[] }).transactions.length;
};

const mine = async (): Promise<void> => {
  await evm.chain.setAutomine(true);
  await evm.chain.mine();
};

async function recordTo(payTo: string): Promise<Payment> {
  const all = { type: "all", limit: 1, offset: 0 } as const;
  const { payments } = await world.gateway.database.payments.page(world.account, "test", getAddress(payTo), all);
  const [record] = payments;
  if (!record) throw new Error("nothing was received");
  return record;
}

const revertedIn = ({ pursuit }: Payment): readonly string[] | undefined =>
  pursuit.kind === "settlement" ? pursuit.reverted : undefined;

/** How many looks at the record the watchers have planned since: each writes when the next one is due. */
const looksSince = async ({ id, version }: Payment): Promise<number> =>
  ((await world.gateway.database.payments.get(id))?.version ?? 0) - version;

/** What is used of a budget: as many as can be reserved are missing from it. */
async function used(account: string, payer: string): Promise<readonly [number, number]> {
  const { sponsored } = world.gateway.database;
  const BUDGET = 20;
  const count = async (reserve: () => ReturnType<typeof sponsored.reserve>) => {
    let left = 0;
    while ((await reserve()).ok) left += 1;
    return BUDGET - left;
  };
  // Each by itself: what the other one is asked with has no end.
  const byAccount = count(() => sponsored.reserve(account, "nobody", { perAccount: BUDGET, perPayer: 1_000 }));
  const byPayer = count(() => sponsored.reserve("nobody's", payer, { perAccount: 1_000, perPayer: BUDGET }));
  return [await byAccount, await byPayer];
}

describe("a settlement that was mined in vain", { timeout: 60_000 }, () => {
  it("counts three times where its process has stopped waiting, however many watchers look at it", async () => {
    await open(6_000);
    await world.another();
    const { answer, payer, record } = await settleInVain(6);
    expect((await answer).status).toBe(504);
    // Its process has written down that it knows nothing, and left it to the watchers.
    await expect.poll(() => world.log.of("what became of a settlement is not known yet"), PATIENT).toHaveLength(1);
    expect(revertedIn(await record())).toBeUndefined();
    await mine();
    await expect.poll(async () => revertedIn(await record()), PATIENT).toEqual([(await record()).signature]);
    const seen = await record();
    await expect.poll(() => looksSince(seen), PATIENT).toBeGreaterThanOrEqual(2);
    expect(await used(world.account, payer)).toEqual([3, 3]);
  });

  it("counts three times where its process has waited, and watchers look at it later", async () => {
    await open(20_000, false);
    const { answer, payer, record } = await settleInVain(6);
    // Nobody but the process that settles looks at it any more.
    expect((await answer).status).toBe(504);
    await mine();
    await expect.poll(async () => revertedIn(await record()), PATIENT).toEqual([(await record()).signature]);
    const seen = await record();
    world.gateway.start();
    await expect.poll(() => looksSince(seen), PATIENT).toBeGreaterThanOrEqual(2);
    expect(await used(world.account, payer)).toEqual([3, 3]);
  });

  it("is not one that was mined after all, whoever waits", async () => {
    await open(6_000);
    const { answer, payer, record } = await settleInVain(6);
    await evm.token.setBalances([payer], 1_000_000n);
    await answer;
    await mine();
    await expect.poll(async () => (await record()).status, PATIENT).toBe("confirmed");
    expect(revertedIn(await record())).toBeUndefined();
    expect(await used(world.account, payer)).toEqual([1, 1]);
  });
});
