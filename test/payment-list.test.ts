// The list of a seller's payments: what the store remembers of them, page by page.
import { memoryStore } from "tollgate";
import { createPaywall, paywall } from "tollgate/express";
import { expect, it } from "vitest";
import { type ListedPayment, listPayments, type PaymentQuery } from "../src/payment-list.js";
import type { ProofRecord } from "../src/store/record.js";
import { BUYER, broken, createWorld, PAY_TO, TRANSACTION, type World } from "./support/world.js";

const KEY = "retry-key-0123456789";
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

async function all(payments: AsyncIterable<ListedPayment>): Promise<ListedPayment[]> {
  const found: ListedPayment[] = [];
  for await (const payment of payments) found.push(payment);
  return found;
}
const listed = (world: World, query?: PaymentQuery) => all(listPayments(world.claims.list, query));

it("tells of each payment who paid whom how much in what, what became of it, and when by the store's clock", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  const claimedAt = world.clock.now();
  await world.send({ headers }, async () => {
    await world.clock.advance(1500);
    return { status: 200, headers: [], body: "the goods" };
  });
  const [payment, ...others] = await listed(world);
  expect(others).toEqual([]);
  expect(payment).toEqual({
    proofId: expect.stringMatching(/\w/),
    payer: BUYER.address,
    payTo: PAY_TO,
    network: "eip155:84532",
    asset: USDC,
    amount: 10_000n,
    settlement: "settled",
    delivery: "delivered",
    transaction: TRANSACTION,
    claimedAt,
    settledAt: claimedAt + 1500,
  });
});

it("tells of what was released, refused or is not known, and a lease that ran out counts", async () => {
  const world = createWorld();
  await world.send({ headers: await world.sign() }, broken);
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "empty" }));
  await world.send({ headers: await world.sign() });
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers: await world.sign() });
  world.receiver.settlements.push(() => new Promise(() => {}));
  void world.send({ headers: await world.sign() });
  const states = async () => (await listed(world)).map(({ settlement, code }) => [settlement, code]);
  await expect.poll(states).toEqual([
    ["settling", undefined],
    ["unknown", undefined],
    ["refused", "insufficient_funds"],
    ["released", undefined],
  ]);
  // As it is before anybody has looked at it.
  const { now, records } = await world.claims.list(undefined, 1);
  const later = async () => ({ now: now + 13_000, records, next: undefined });
  expect(await all(listPayments(later))).toMatchObject([{ settlement: "unknown" }]);
});

it("lists the last that was claimed first, by time and up to a number", async () => {
  const world = createWorld();
  const times: number[] = [];
  for (let at = 0; at < 5; at += 1) {
    times.unshift(world.clock.now());
    await world.send({ headers: await world.sign() });
    await world.clock.advance(1000);
  }
  const at = async (query: PaymentQuery) => (await listed(world, query)).map(({ settledAt }) => settledAt);
  const [newest = 0, , middle = 0, , oldest = 0] = times;
  expect(await at({})).toEqual(times);
  expect(await at({ limit: 2 })).toEqual(times.slice(0, 2));
  expect(await at({ since: middle })).toEqual(times.slice(0, 3));
  expect(await at({ until: middle })).toEqual(times.slice(3));
  expect(await at({ since: new Date(oldest + 1), until: new Date(newest), limit: 2 })).toEqual(times.slice(1, 3));
  expect(await at({ since: newest + 1 })).toEqual([]);
});

it("counts a payment that was found late by the time at which it was found", async () => {
  const world = createWorld();
  const headers = await world.sign();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers });
  const claimedAt = world.clock.now();
  await world.clock.advance(6000);
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(20_000);
  const [payment] = await listed(world, { since: claimedAt + 1 });
  expect([payment?.settlement, payment?.claimedAt]).toEqual(["settled", claimedAt]);
  expect(payment?.settledAt).toBeGreaterThan(claimedAt);
});

it("keeps the time at which it was settled, whenever it is delivered", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  const settledAt = world.clock.now();
  await world.send({ headers, client: "leaves" });
  expect(await listed(world)).toMatchObject([{ settlement: "settled", delivery: "none", settledAt }]);
  await world.clock.advance(5000);
  await world.send({ headers });
  expect(await listed(world)).toMatchObject([{ settlement: "settled", delivery: "delivered", settledAt }]);
});

it("gives away no signature, nonce or retry key", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers });
  const { payload } = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as {
    payload: { signature: string; authorization: { nonce: string } };
  };
  const text = JSON.stringify(await listed(world), (_name, value) => (typeof value === "bigint" ? `${value}` : value));
  expect(text).toContain(BUYER.address);
  for (const secret of [payload.signature, payload.authorization.nonce, KEY]) expect(text).not.toContain(secret);
});

it("reads page by page, and no further than somebody wants", async () => {
  const world = createWorld();
  await world.send({ headers: await world.sign() });
  const [record] = (await world.claims.list(undefined, 1)).records as [ProofRecord];
  let pages = 0;
  const endless = async (cursor: string | undefined, limit: number) => {
    pages += 1;
    const records = Array.from({ length: pages === 2 ? 0 : limit }, () => record);
    return { now: 0, records, next: `${Number(cursor ?? 0) + 1}` };
  };
  let seen = 0;
  for await (const _ of listPayments(endless)) if (++seen === 1200) break;
  expect(pages).toBe(4);
  expect(await all(listPayments(endless, { limit: 3 }))).toHaveLength(3);
  expect(pages).toBe(5);
});

it.each<[PaymentQuery, string]>([
  [{ limit: 0 }, "limit"],
  [{ limit: 1.5 }, "limit"],
  [{ since: Number.NaN }, "since"],
  [{ until: new Date("no day") }, "until"],
])("refuses %j instead of listing something else", async (query, name) => {
  await expect(listed(createWorld(), query)).rejects.toThrow(new RegExp(`^${name}: expected`));
});

it("ends with an error where the store cannot be read", async () => {
  const store = { ...memoryStore(), list: async () => Promise.reject(new Error("away")) };
  await expect(listed(createWorld({ store }))).rejects.toMatchObject({ code: "store_unavailable" });
});

it("is there on whatever a paywall is, for all paywalls of a store", async () => {
  const store = memoryStore();
  const options = { payTo: PAY_TO, network: "base-sepolia", store, logger: silent } as const;
  const handles = [createPaywall(options), paywall("$0.01", options), paywall({ ...options, routes: { "/a": "$1" } })];
  for (const handle of handles) expect(await all(handle.payments({ limit: 1 }))).toEqual([]);
  await Promise.all(handles.map((handle) => handle.close()));
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };
