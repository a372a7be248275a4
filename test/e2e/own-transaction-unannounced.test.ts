// A buyer who has paid by his own transaction is served by it, once, also where the seller died before he announced it, or where
// the store's word that the settlement was begun got lost.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Store } from "../../src/store/store.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { eth } from "./money.js";
import { type Own, olderStore, openWorld } from "./world.js";

let evm: Sandbox;
beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(() => evm?.close());

/** The buyer's transaction is mined, his first request fails, and he asks until he is answered with the goods. */
async function buyUntilServed(own: Own): Promise<void> {
  const money = eth(evm);
  const world = await openWorld("Express 5", money, own);
  const payer = await money.newPayer({ broadcast: true });
  const payment = await world.sign({ retryKey: "retry-key-0123456789", payer });
  expect((await world.buy(payment)).status).toBe(503);
  const until = () => world.buy(payment).then(({ status }) => status);
  await expect.poll(until, { timeout: 60_000, interval: 500 }).toBe(200);
  expect(await world.counters()).toMatchObject({ runs: 1, debits: 1 });
  await world.close();
}

it("the seller fails before he announces it", async () => {
  const inner: Receiver = evm.receive();
  let failures = 0;
  const settle: Receiver["settle"] = (...about) =>
    failures++ === 0 ? Promise.reject(new Error("it died")) : inner.settle(...about);
  await buyUntilServed({ store: olderStore(), receive: { ...inner, settle } });
}, 120_000);

it("the store's answer to the begin of the settlement is lost", async () => {
  const inner = olderStore();
  let lost = 0;
  const commit: Store["commit"] = async (transaction) => {
    const result = await inner.commit(transaction);
    const begins = transaction.writes.some(({ value }) => JSON.stringify(value)?.includes('"settlement":"settling"'));
    if (begins && lost++ === 0) throw new Error("the answer was lost");
    return result;
  };
  const store = new Proxy(inner, {
    get(target, key) {
      if (key === "name") return "remote";
      if (key === "commit") return commit;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await buyUntilServed({ store });
  expect(lost).toBeGreaterThan(0);
}, 120_000);
