// Processes of a seller with two receivers, its own keys and a facilitator behind them, are killed between the choice of the receiver,
// the sending and the answer. Whoever goes on settles nothing by the other one while the first may have taken it: one debit, one
// grant, the goods for whoever has paid, and no bill before it is certain that nobody ever will. Needs a build.
import { setTimeout as after } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { fault, startScriptedRpc } from "../support/scripted-rpc.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { type Buyer, isFinal, newBuyer } from "./buyer.js";
import { check } from "./checker.js";
import { closeBooks } from "./record.js";
import { openShop, type Process, SHARED_STORES, type Shop } from "./shop.js";

/** See points.mjs. The first two are hit before a byte leaves. */
const UNSENT = ["settling, not signed", "announced, not sent"] as const;
const SENT = ["the bytes have left", "mined, not written", "settled, not answered"] as const;
const LIFE_S = 300;
const ENV = { LEASE_MS: "1500", SETTLE_MS: "6000", HANDLER_TIMEOUT_MS: "2000", MAX_TIMEOUT: `${2 * LIFE_S}` };
const PATIENCE_MS = 90_000;
const CASE_MS = 240_000;
const skipped = SHARED_STORES[0].absent();

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
});
afterAll(() => sandbox?.close());

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface World {
  readonly shop: Shop;
  readonly second: ScriptedFacilitator;
  /** A process that lives. */
  readonly next: () => string;
  readonly sign: () => Promise<Buyer>;
  /** How often the second receiver was asked to settle. */
  readonly settles: () => number;
}

async function openWorld(): Promise<World> {
  const store = await SHARED_STORES[0].start();
  ending.push(() => store.stop());
  const second = await startScriptedFacilitator({ settle: settleOnChain(sandbox) });
  ending.push(() => second.close());
  const shop = await openShop(sandbox, store, { ...ENV, SECOND_URL: second.url });
  ending.push(() => shop.close());
  const survivor = await shop.open();
  const next = () => survivor.url;
  return {
    ...{ shop, second, next },
    async sign() {
      const overrides = { validBefore: BigInt((await sandbox.chain.time()) + LIFE_S) };
      return newBuyer(next, await sandbox.newBuyer(), { retryKey: "retry-key-of-a-buyer", overrides });
    },
    settles: () => second.requests.filter(({ endpoint }) => endpoint === "settle").length,
  };
}

/** A busy process may refuse at first, and is asked again until it is hit: then the answer breaks off. */
async function hit(buyer: Buyer, victim: Process): Promise<void> {
  for (const endAt = Date.now() + PATIENCE_MS; ; await after(100)) {
    const answer = await buyer.ask(victim.url);
    if (!answer.complete) return;
    expect(isFinal(answer) || Date.now() > endAt, victim.output()).toBe(false);
  }
}

/** Asks the survivor often enough for a lease to run out and a lookup to be made: it never gets to a bill, and never to goods. */
async function expectUndecided(buyer: Buyer, next: () => string): Promise<void> {
  const before = buyer.told.length;
  await buyer.insist(next, 15_000);
  const own = buyer.told.slice(before);
  expect(own.filter(isFinal)).toEqual([]);
  expect(own.at(-1)).toMatchObject({ status: 503, code: "settlement_unknown" });
}

async function endOfLife(): Promise<void> {
  await sandbox.chain.setTime((await sandbox.chain.time()) + LIFE_S + 60);
  await sandbox.chain.mine(2);
}

async function expectKept({ shop }: World, buyers: readonly Buyer[], debits: readonly number[]): Promise<void> {
  const history = await closeBooks(shop, buyers);
  expect(check(history)).toEqual([]);
  expect(history.purchases.map((one) => one.debits.length)).toEqual(debits);
}

it.skipIf(skipped)(
  "killed at the first receiver: the second one is asked for nothing",
  { timeout: CASE_MS },
  async () => {
    const world = await openWorld();
    const { shop, next, sign, settles } = world;
    const buyers: Buyer[] = [];
    // One after the other: whoever dies with a number of the common key in its hand keeps the next one from settling for a while.
    for (const POINT of [...SENT, ...UNSENT]) {
      const victim = await shop.open({ POINT, ACT: "die" });
      const buyer = await sign();
      buyers.push(buyer);
      await hit(buyer, victim);
      expect(victim.output()).toContain(`came to the point: ${POINT}`);
    }
    const sent = buyers.slice(0, SENT.length);
    const unsent = buyers.slice(SENT.length);
    const [goods] = await Promise.all([
      Promise.all(sent.map((buyer) => buyer.insist(next, PATIENCE_MS))),
      ...unsent.map((buyer) => expectUndecided(buyer, next)),
    ]);
    expect(goods.map(({ status }) => status)).toEqual(sent.map(() => 200));
    await endOfLife();
    const ends = await Promise.all(unsent.map((buyer) => buyer.insist(next, PATIENCE_MS)));
    expect(ends.map(({ code }) => code)).toEqual(unsent.map(() => "payment_expired"));
    expect(settles()).toBe(0);
    await expectKept(world, buyers, [...sent.map(() => 1), ...unsent.map(() => 0)]);
  },
);

it.skipIf(skipped)("killed at the second receiver: the first one sends nothing", { timeout: CASE_MS }, async () => {
  const world = await openWorld();
  const { shop, second, next, sign, settles } = world;
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  ending.push(() => rpc.close());
  const buyers = [await sign(), await sign()];
  for (const [at, silence] of [answer.hangAfterActing(), answer.hang()].entries()) {
    const victim = await shop.open({ RPC_URL: rpc.url });
    // Asked for by a settlement only: the first receiver cannot send anything.
    rpc.script("eth_getTransactionCount", fault.status(503), Number.POSITIVE_INFINITY);
    second.script("settle", silence);
    const lost = buyers[at]?.ask(victim.url);
    await expect.poll(settles, { timeout: 30_000 }).toBe(at + 1);
    if (at === 0) await expect.poll(() => second.settled.size, { timeout: 30_000 }).toBe(1);
    await victim.kill();
    await lost;
    rpc.clear();
  }
  const [taken, open] = buyers;
  if (!taken || !open) throw new Error("no buyers");
  const [goods] = await Promise.all([taken.insist(next, PATIENCE_MS), expectUndecided(open, next)]);
  expect(goods).toMatchObject({ status: 200, complete: true });
  await endOfLife();
  expect(await open.insist(next, PATIENCE_MS)).toMatchObject({ code: "payment_expired" });
  expect(settles()).toBe(2);
  await expectKept(world, buyers, [1, 0]);
});
