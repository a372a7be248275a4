// A seller behind `hosted()` whose settlement is reorganised away after the sale. The gateway's watcher notices, and sends the
// buyer's authorization again by itself: nobody asks for it, the money moves once, and nothing is sold twice.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { onEvm } from "./receiving.js";
import { openSale } from "./sale.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let world: GatewayWorld;
let account: string;
let apiKey: string;

beforeAll(async () => {
  evm = await createSandbox();
  world = await createGatewayWorld({ chains: { evm } });
  account = await world.newAccount("seller");
  apiKey = await world.newKey({ account, scopes: ["receive"] });
});
afterAll(async () => {
  await world?.close();
  await evm?.close();
});

/** Every change of a status that the gateway has told, in order. */
async function told(): Promise<string[]> {
  const since = await world.gateway.database.events.since(account, "test", 0, 100);
  return since.outcome === "ok" ? since.events.map(({ payment }) => payment.status) : [];
}

// What was announced counts as lost after thirty seconds. A settler's nonce that stayed away for longer than the next look would
// hold up this payment, and all that are settled after it, for two minutes.
const LONG = { timeout: 75_000, interval: 200 };

it("is paid again without a request of anybody, for one debit, and its buyer has the answer that he had", async () => {
  const kind = onEvm(evm, "usdc", 2);
  const sale = await openSale(kind, { baseUrl: world.url, apiKey, price: "$0.01" });
  const { payTo } = sale;
  const transfers = () => evm.token.transfers({ to: payTo as `0x${string}` });
  await evm.chain.mine();
  expect((await sale.buy()).body).toBe("the goods");
  const [first] = await transfers();
  await vi.waitFor(async () => expect(await told()).toContain("confirmed"), LONG);

  await evm.chain.reorg(1);
  expect(await transfers()).toEqual([]);
  await vi.waitFor(async () => expect(await transfers()).toHaveLength(1), LONG);
  const [second] = await transfers();
  expect(second?.transaction).not.toBe(first?.transaction);
  await vi.waitFor(async () => expect((await told()).slice(-1)).toEqual(["confirmed"]), LONG);
  expect((await told()).slice(-3)).toEqual(["confirmed", "submitted", "confirmed"]);
  const record = await world.gateway.database.payments.get(await paymentId());
  expect(record).toMatchObject({ status: "confirmed", signature: second?.transaction });

  const again = await sale.buy();
  expect([again.status, again.body, again.headers["payment-replayed"]]).toEqual([200, "the goods", "true"]);
  expect(await sale.counters()).toEqual({ runs: 1, debits: [kind.units] });
  expect(await sale.records(world, { key: await world.newKey({ account, scopes: ["read"] }) })).toBe(1);
  await sale.seller.close();
}, 170_000);

async function paymentId(): Promise<string> {
  const since = await world.gateway.database.events.since(account, "test", 0, 1);
  const [event] = since.outcome === "ok" ? since.events : [];
  return event?.payment.id ?? "";
}
