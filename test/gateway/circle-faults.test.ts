// A seller behind `hosted()` whose gateway is lost in the middle of a sale: the call, its answer, or the gateway itself. No goods
// without money, no second debit, nothing that invites the buyer to pay again, and the goods for the same payment afterwards.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Receiver } from "../../src/receive/receiver.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { FRAMEWORKS, type Framework, type Seller } from "../e2e/seller.js";
import { type Door, openDoor } from "./door.js";
import { type Kind, onEvm, onSolana } from "./receiving.js";
import { expectNoBill, openSale, type Sale } from "./sale.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let door: Door;
let apiKey: string;
let readKey: string;
let seller: Seller | undefined;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  world = await createGatewayWorld({ chains: { evm, solana } });
  const account = await world.newAccount("seller");
  apiKey = await world.newKey({ account, scopes: ["receive"] });
  readKey = await world.newKey({ account, scopes: ["read"] });
  door = await openDoor(world.url);
});
afterEach(async () => {
  await seller?.close();
  seller = undefined;
  door.passed.length = 0;
  await door.open();
});
afterAll(async () => {
  await door?.shut();
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

const KINDS: readonly (readonly [string, string, () => Kind])[] = [
  ["USDC on EVM", "$0.01", () => onEvm(evm, "usdc", 2)],
  ["USDC on Solana", "$0.01", () => onSolana(solana, "usdc", 2)],
  ["ETH", "0.0002 ETH", () => onEvm(evm, "eth", 2)],
  ["SOL", "0.001 SOL", () => onSolana(solana, "sol", 2)],
];

async function open(kind: Kind, price: string, framework: Framework = "Express 5"): Promise<Sale> {
  const sale = await openSale(kind, { baseUrl: door.url, apiKey, price, framework });
  seller = sale.seller;
  return sale;
}

const settlements = () => door.passed.filter(({ settles }) => settles);

describe.each(KINDS)("a seller whose gateway settles %s", (_name, price, kindOf) => {
  it("and whose answer is lost: unknown, then the goods by the proof's id, for one debit", async () => {
    const kind = kindOf();
    const { buy, collect, counters, records } = await open(kind, price);
    door.lose("answer");
    const got = await buy();
    expectNoBill(got);
    expect([got.status, got.json]).toMatchObject([503, { code: "settlement_unknown", payment: "unknown" }]);
    expect((await counters()).debits).toEqual([kind.units]);

    const goods = await collect();
    expect([goods.status, goods.body]).toEqual([200, "the goods"]);
    expect(await counters()).toEqual({ runs: 1, debits: [kind.units] });
    // It was asked what became of it, and not to settle again.
    expect(settlements()).toHaveLength(1);
    expect(door.passed.map(({ call }) => call)).toContain("GET /payment/status");
    expect(await records(world, { key: readKey })).toBe(1);
  }, 90_000);

  it("and never hears of it: the same call again, under the same key, for one debit", async () => {
    const kind = kindOf();
    const { buy, collect, counters, records } = await open(kind, price);
    door.lose("request");
    const got = await buy();
    expectNoBill(got);
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect((await counters()).debits).toEqual([]);

    expect((await collect()).body).toBe("the goods");
    expect(await counters()).toEqual({ runs: 1, debits: [kind.units] });
    const keys = settlements().map(({ idempotencyKey }) => idempotencyKey);
    expect(keys.length).toBeGreaterThanOrEqual(2);
    expect(new Set(keys)).toEqual(new Set([expect.stringMatching(/./)]));
    expect(await records(world, { key: readKey })).toBe(1);
  }, 90_000);

  it("and is down when it is asked: 503, and the same payment buys once it is back", async () => {
    const kind = kindOf();
    const { buy, counters } = await open(kind, price);
    await door.shut();
    const got = await buy();
    expectNoBill(got);
    expect([got.status, got.json]).toMatchObject([503, { code: "receiver_unreachable", payment: "none" }]);
    await door.open();
    expect(await counters()).toEqual({ runs: 0, debits: [] });
    const goods = await buy();
    expect([goods.status, goods.body]).toEqual([200, "the goods"]);
    expect(await counters()).toEqual({ runs: 1, debits: [kind.units] });
  });
});

describe.each(FRAMEWORKS)("a seller on %s whose gateway is gone", (framework) => {
  it("when the handler has run: 503, nothing was sent, and the same payment buys once it is back", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const { seller: shop, buy, counters } = await open(kind, "$0.01", framework);
    shop.handler = async () => {
      await door.shut();
      return { status: 200, body: "the goods" };
    };
    const got = await buy();
    expectNoBill(got);
    expect([got.status, got.json]).toMatchObject([503, { code: "settlement_unavailable", payment: "none" }]);
    expect((await counters()).debits).toEqual([]);
    await door.open();
    shop.handler = () => ({ status: 200, body: "the goods" });
    expect((await buy()).body).toBe("the goods");
    expect(await counters()).toEqual({ runs: 2, debits: [kind.units] });
    expect(settlements()).toHaveLength(1);
  });
});

it("a seller whose key is revoked when the handler has run: 503, nothing was sent, and nothing invites to pay again", async () => {
  const kind = onEvm(evm, "usdc", 2);
  const account = await world.newAccount("a seller of his own");
  const own = await world.newKey({ account, scopes: ["receive"] });
  const sale = await openSale(kind, { baseUrl: door.url, apiKey: own, price: "$0.01" });
  seller = sale.seller;
  const { keys } = world.gateway.database;
  sale.seller.handler = async () => {
    for (const { id } of await keys.list(account)) await keys.revoke(account, id);
    return { status: 200, body: "the goods" };
  };
  const got = await sale.buy();
  expectNoBill(got);
  expect([got.status, got.json]).toMatchObject([503, { code: "settlement_unavailable", payment: "none" }]);
  const later = await sale.buy();
  expectNoBill(later);
  expect([later.status, later.json.payment]).toEqual([503, "none"]);
  expect(JSON.stringify([got, later])).not.toContain(own);
  expect((await sale.counters()).debits).toEqual([]);
});

it("a payment that was refused elsewhere is not sent by the gateway that is asked about it: its buyer is billed anew", async () => {
  const kind = onEvm(evm, "usdc", 2);
  const refused = { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" } as const;
  // Another process of this seller settles by a facilitator, which has refused.
  const around = (gateway: Receiver): Receiver => ({ ...gateway, settle: async () => refused });
  const sale = await openSale(kind, { baseUrl: door.url, apiKey, price: "$0.01", around });
  seller = sale.seller;
  expect((await sale.buy()).json.code).toBe("insufficient_funds");
  door.lose("answer");
  const again = await sale.buy();
  expect([again.status, again.json.code]).toEqual([402, "insufficient_funds"]);
  expect(door.passed.map(({ call }) => call)).toContain("GET /payment/status");
  expect(settlements()).toEqual([]);
  expect((await sale.counters()).debits).toEqual([]);
});
