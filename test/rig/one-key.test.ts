// Four processes of a seller with one settler key and one store settle two hundred payments at once, on Redis and on PostgreSQL:
// two hundred debits, two hundred grants, and no account nonce used twice or left out. Needs a build. `PAYMENTS=1000` by command.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { newBuyer } from "./buyer.js";
import { check } from "./checker.js";
import { isGrant } from "./history.js";
import { closeBooks } from "./record.js";
import { openShop, type RigStore, SHARED_STORES, type Shop } from "./shop.js";

const PAYMENTS = Number(process.env.PAYMENTS ?? 200);

let sandbox: Sandbox;
beforeAll(async () => {
  // A block a second: with this many at once, Anvil's mining on demand leaves transactions in its pool.
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
});
afterAll(() => sandbox?.close());

describe.each(SHARED_STORES)("four processes with one settler key on $name", ({ absent, start }) => {
  const skipped = absent();
  let store: RigStore | undefined;
  let shop: Shop | undefined;
  beforeAll(async () => {
    if (skipped) return;
    store = await start();
    shop = await openShop(sandbox, store, { SETTLE_MS: "30000", MAX_TIMEOUT: "120", STORE_TIMEOUT_MS: "20000" });
    for (let one = 0; one < 4; one += 1) await shop.open({ FRAMEWORK: one % 2 ? "hono" : "express" });
  });
  afterAll(async () => {
    await shop?.close();
    await store?.stop();
  });

  it.skipIf(skipped)(
    `settle ${PAYMENTS} payments at once: as many debits and grants`,
    { timeout: 120_000 },
    async () => {
      if (!shop) return;
      const urls = shop.processes.map(({ url }) => url);
      const urlOf = (at: number) => String(urls[at % urls.length]);
      const accounts = await sandbox.newBuyers(PAYMENTS);
      const buyers = await Promise.all(accounts.map((account, at) => newBuyer(urlOf(at), account)));
      const told = await Promise.all(buyers.map((buyer, at) => buyer.ask(urlOf(at))));
      expect(told.filter((one) => !isGrant(one)).map(({ status, code }) => `${status} ${code}`)).toEqual([]);
      const history = await closeBooks(shop, buyers);
      expect(check(history)).toEqual([]);
      expect(history.purchases.filter(({ debits }) => debits.length === 1)).toHaveLength(PAYMENTS);
    },
  );
});
