// One proof 125 times at once at each of four processes of a seller, on Redis and on PostgreSQL: one grant a round, one run of a
// handler, one debit. 5 rounds; by command `ROUNDS=100 npx vitest run test/rig/race.test.ts`. Needs a build.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { type Buyer, newBuyer } from "./buyer.js";
import { check } from "./checker.js";
import { isGrant } from "./history.js";
import { closeBooks } from "./record.js";
import { openShop, type RigStore, SHARED_STORES, type Shop } from "./shop.js";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const COPIES = 125;
/** Of one round, on a machine that has other things to do. */
const ROUND_MS = 30_000;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

describe.each(SHARED_STORES)("four processes on $name", ({ absent, start }) => {
  const skipped = absent();
  let store: RigStore | undefined;
  let shop: Shop | undefined;
  beforeAll(async () => {
    if (skipped) return;
    store = await start();
    const env = { SETTLE_MS: "20000", MAX_TIMEOUT: "120", STORE_TIMEOUT_MS: "20000" };
    shop = await openShop(sandbox, store, env);
    for (const FRAMEWORK of ["express", "hono", "express", "hono"]) await shop.open({ FRAMEWORK });
  });
  afterAll(async () => {
    await shop?.close();
    await store?.stop();
  });

  it.skipIf(skipped)(
    `grant one proof of ${COPIES} at each of them at once exactly once (${ROUNDS} rounds)`,
    { timeout: 2 * ROUNDS * ROUND_MS },
    async () => {
      if (!shop) return;
      const urls = shop.processes.map(({ url }) => url);
      const buyers: Buyer[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        // In every other round without a retry key: then nothing tells the copies of the buyer from anybody else's.
        const key = round % 2 === 0 ? { retryKey: `retry-key-of-round-${round}` } : {};
        const buyer = await newBuyer(String(urls[0]), await sandbox.newBuyer(), key);
        buyers.push(buyer);
        const copies = Array.from({ length: COPIES }, () => urls.map((url) => buyer.ask(url))).flat();
        const told = await Promise.all(copies);
        // A machine with other things to do may refuse all of them for now, and its buyer asks again.
        if (!told.some(isGrant)) told.push(await buyer.insist(() => String(urls[0]), ROUND_MS));
        expect(told.filter(isGrant)).toHaveLength(1);
        const others = told.filter((one) => !isGrant(one) && !one.replayed);
        for (const { status, bill } of others) expect([[409, 503].includes(status ?? 0), bill]).toEqual([true, false]);
      }
      const history = await closeBooks(shop, buyers);
      expect(check(history)).toEqual([]);
      expect(history.purchases.map(({ runs }) => runs.length)).toEqual(buyers.map(() => 1));
    },
  );
});
