// The rig's single faults: a node that is five blocks behind, clocks that are ten minutes off and jump, a store that is gone right
// after a settlement. Whatever breaks: one grant, one debit, no second bill, and the goods for whoever asks again. Needs a build.
import { setTimeout as after } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { startPostgres } from "../support/postgres.js";
import { fault, startScriptedRpc } from "../support/scripted-rpc.js";
import { type Buyer, newBuyer } from "./buyer.js";
import { check } from "./checker.js";
import { isGrant, type Told } from "./history.js";
import { closeBooks } from "./record.js";
import { openShop, type Process, SHARED_STORES, type Shop, startDurableRedis } from "./shop.js";

const CASE_MS = 150_000;
const PATIENCE_MS = 60_000;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
});
afterAll(() => sandbox?.close());

const CLOCK = ["--import", new URL("./clock.mjs", import.meta.url).href];
const KEY = "retry-key-of-a-buyer";

async function expectAllSold(shop: Shop, buyers: readonly Buyer[]): Promise<void> {
  const history = await closeBooks(shop, buyers);
  expect(check(history)).toEqual([]);
  expect(history.purchases.map(({ debits }) => debits.length)).toEqual(buyers.map(() => 1));
}

/** Asks a process until it comes to its point: a busy one may refuse at first. Gives what the last one asked will be told. */
async function askToPoint(buyer: Buyer, process: Process): Promise<{ readonly answer: Promise<Told> }> {
  const isAt = vi
    .waitUntil(() => process.output().includes("came to the point"), { timeout: PATIENCE_MS, interval: 50 })
    .then(() => true);
  for (;;) {
    const answer = buyer.ask(process.url);
    if (await Promise.race([isAt, answer.then(() => false)])) return { answer };
    await after(100);
  }
}

/** Each URL in its turn. */
function inTurn(shop: Shop): () => string {
  let turn = 0;
  return () => String(shop.processes[turn++ % shop.processes.length]?.url);
}

const KINDS = [
  { ...SHARED_STORES[0], start: startDurableRedis },
  { ...SHARED_STORES[1], start: startPostgres },
];

// Faults are mostly waited for, so they are at the same time.
describe.each(KINDS)("on $name", ({ absent, start }) => {
  const skipped = absent();
  const open = async ({ onTestFinished }: TestContext, env: Parameters<typeof openShop>[2]) => {
    const store = await start();
    onTestFinished(() => store.stop());
    const shop = await openShop(sandbox, store, env);
    onTestFinished(() => shop.close());
    return { store, shop };
  };

  it.skipIf(skipped).concurrent(
    "a store that is gone right after the settlement",
    { timeout: CASE_MS },
    async (test) => {
      const { store, shop } = await open(test, { SETTLE_MS: "8000", LEASE_MS: "1500", STORE_TIMEOUT_MS: "2000" });
      const paying = await shop.open({ POINT: "mined, not written", ACT: "tell" });
      const buyer = await newBuyer(paying.url, await sandbox.newBuyer(), { retryKey: KEY });
      const first = await askToPoint(buyer, paying);
      await store.kill();
      paying.signal("SIGUSR2");
      // It has settled, and cannot write it down: no goods, no bill, and it says so.
      expect(await first.answer).toMatchObject({ status: 503, code: "settlement_unknown", bill: false });
      expect(await buyer.ask(paying.url)).toMatchObject({ status: 503, code: "store_unavailable", bill: false });
      await store.restart();
      // Its own kept answer, or one more run: the goods, whole.
      expect(await buyer.insist(inTurn(shop), PATIENCE_MS)).toMatchObject({ status: 200, complete: true });
      await expectAllSold(shop, [buyer]);
    },
  );

  it.skipIf(skipped).concurrent(
    "clocks ten minutes ahead and behind, which jump",
    { timeout: CASE_MS },
    async (test) => {
      const { shop } = await open(test, { MAX_TIMEOUT: "3600", LEASE_MS: "2000" });
      const skews = ["0", "600000", "-600000"];
      for (const CLOCK_SKEW_MS of skews) await shop.open({ CLOCK_SKEW_MS }, CLOCK);
      // Who is ahead holds a claim when he dies, and who is behind must not wait for it for ten minutes.
      const dying = await shop.open({ CLOCK_SKEW_MS: "600000", POINT: "claimed", ACT: "die" }, CLOCK);
      const [, , behind] = shop.processes;
      const next = () => String(shop.processes[0]?.url);
      const overrides = { validBefore: BigInt(Math.floor(Date.now() / 1000) + 1_800) };
      const buyers: Buyer[] = [];
      for (const account of await sandbox.newBuyers(6)) {
        buyers.push(await newBuyer(next(), account, { retryKey: KEY, overrides }));
      }
      const [orphan, ...others] = buyers;
      await orphan?.ask(dying.url);
      await orphan?.insist(() => String(behind?.url), PATIENCE_MS);
      await Promise.all(
        others.map(async (buyer) => {
          const copies = shop.processes.slice(0, 3).flatMap(({ url }) => [url, url, url]);
          const told = Promise.all(copies.map((url) => buyer.ask(url)));
          for (const process of shop.processes.slice(0, 3)) process.signal("SIGHUP");
          if (!(await told).some(isGrant)) await buyer.insist(() => String(behind?.url), PATIENCE_MS);
        }),
      );
      await expectAllSold(shop, buyers);
    },
  );

  it.skipIf(skipped).concurrent("a node that is five blocks behind", { timeout: CASE_MS }, async (test) => {
    const rpc = await startScriptedRpc(sandbox.rpcUrl);
    test.onTestFinished(() => rpc.close());
    rpc.script("*", fault.stale(5), Number.POSITIVE_INFINITY);
    const { shop } = await open(test, { RPC_URL: rpc.url, SETTLE_MS: "20000", MAX_TIMEOUT: "120" });
    const accounts = await sandbox.newBuyers(4);
    // As that node knows them, too.
    await sandbox.chain.mine(6);
    for (const FRAMEWORK of ["express", "hono"]) await shop.open({ FRAMEWORK });
    const next = inTurn(shop);
    const buyers = await Promise.all(accounts.map((account) => newBuyer(next(), account, { retryKey: KEY })));
    await Promise.all(buyers.map((buyer) => buyer.insist(next, PATIENCE_MS)));
    await expectAllSold(shop, buyers);
  });
});
