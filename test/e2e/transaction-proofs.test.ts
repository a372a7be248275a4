// Payments by the buyer's own transaction, in SOL and in ETH, over sockets on real chains: before and after it is public, by
// its bytes and by its id, by its buyer and by strangers.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import {
  createSandbox,
  createSolanaSandbox,
  type Sandbox,
  type SolanaSandbox,
  type TransactionParts,
} from "../../src/testing/index.js";
import { eth, type Money, sol } from "./money.js";
import { type Framework, type Got, send } from "./seller.js";
import { olderStore, openWorld, receiptOf, withoutKey, withPayload } from "./world.js";

const KEY = "retry-key-0123456789";
const SECRET = `0x${"5e".repeat(32)}` as const;
const FRAMEWORK: Framework = "Express 5";
const STATES = { "not public yet": {}, public: { broadcast: true } } as const;

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

const codeOf = ({ status, json }: Got) => [status, json.code];

describe.each(["SOL", "ETH"] as const)("a payment in %s", (currency) => {
  const money = (): Money<TransactionParts> => (currency === "SOL" ? sol(solana) : eth(evm));
  const open = (own: Parameters<typeof openWorld>[2] = {}) =>
    openWorld(FRAMEWORK, money(), { store: olderStore(), ...own });

  it.each([1, 2] as const)(
    "of version %i that is not public is sent by the seller: exactly the price",
    async (version) => {
      const world = await open();
      const payment = await world.sign({ version });
      const got = await world.buy(payment);
      expect([got.status, got.body]).toEqual([200, "the goods"]);
      expect(receiptOf(got)).toMatchObject({ success: true, transaction: payment.id });
      expect(await money().received(world.payTo)).toEqual([money().amount]);
      // The money was there before the handler ran.
      expect(world.seller.runs[0]).toMatchObject({ asset: "native", amount: money().amount, transaction: payment.id });
      expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
      await world.close();
    },
  );

  it.each(["id", "bytes"] as const)("that is public already is taken by its %s with the secret, once", async (show) => {
    const world = await open();
    const payment = await world.sign({ payer: await money().newPayer({ broadcast: true, show }) });
    expect((await world.counters()).debits).toBe(1);
    const got = await world.buy(payment);
    expect([got.status, receiptOf(got).transaction]).toEqual([200, payment.id]);
    expect((await world.buy(payment)).status).toBe(409);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it.each(["id", "bytes"] as const)("that is public already is refused by its %s without the secret", async (show) => {
    const world = await open();
    const payment = await world.sign({ payer: await money().newPayer({ broadcast: true, show }) });
    const stranger = { headers: withPayload(payment.headers, { secret: undefined }) };
    expect(codeOf(await world.buy(stranger))).toEqual([409, "payment_secret_required"]);
    const guessed = { headers: withPayload(payment.headers, { secret: `0x${"01".repeat(32)}` }) };
    expect(codeOf(await world.buy(guessed))).toEqual([409, "payment_secret_required"]);
    // Nobody's attempt has spoilt it for its buyer (faults A22).
    expect((await world.buy(payment)).status).toBe(200);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it.each(Object.entries(STATES))(
    "that was %s: a stranger with a copy gets nothing, here or elsewhere",
    async (_, parts) => {
      const world = await open();
      const payment = await world.sign({ retryKey: KEY, payer: await money().newPayer(parts) });
      expect((await world.buy(payment)).status).toBe(200);
      const copies = [
        withoutKey(payment.headers),
        withPayload(withoutKey(payment.headers), { secret: undefined }),
        withPayload(withoutKey(payment.headers), { secret: undefined, transaction: payment.id ?? "" }),
        withPayload(withoutKey(payment.headers), { transaction: payment.id ?? "" }),
      ];
      for (const headers of copies) {
        for (const path of ["/report", "/other"]) {
          const got = await send(world.seller.url + path, { headers });
          expect(got?.status).toBeGreaterThanOrEqual(400);
          expect(got?.body).not.toContain("the goods");
        }
      }
      expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
      await world.close();
    },
  );

  it("by its id and by its bytes at once, 20 copies through two guards that share a store: one grant", async () => {
    const one = await open();
    const two = await open({ payTo: one.payTo, store: one.store });
    const payment = await one.sign({ payer: await money().newPayer({ broadcast: true }) });
    const byId = { headers: withPayload(payment.headers, { transaction: payment.id ?? "" }) };
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, copy) => (copy % 2 ? one : two).buy(copy % 4 < 2 ? payment : byId)),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const [first, second] = await Promise.all([one.counters(), two.counters()]);
    expect([first.runs + second.runs, first.debits, first.bodies + second.bodies]).toEqual([1, 1, 1]);
    await Promise.all([one.close(), two.close()]);
  });

  it("that was mined before the store's memory begins is refused, because it may have been used before", async () => {
    const world = await open();
    const payment = await world.sign({ payer: await money().newPayer({ broadcast: true }) });
    expect((await world.buy(payment)).status).toBe(200);
    await world.close();
    // A restart with an empty memory, later than the block.
    const now = Date.now() + 60_000;
    const store = memoryStore({}, { now: () => now, after: () => () => {} });
    const restarted = await open({ payTo: world.payTo, store });
    const got = await restarted.buy(payment);
    expect(codeOf(got)).toEqual([409, "payment_too_old"]);
    expect(await restarted.counters()).toEqual({ runs: 0, debits: 1, bodies: 0 });
    await restarted.close();
  });

  it("without a secret buys nothing at another shop of the seller's that remembers nothing of it (A18)", async () => {
    const world = await open();
    const other = await open({ payTo: world.payTo });
    const payment = await world.sign();
    expect((await world.buy(payment)).status).toBe(200);
    for (const headers of [payment.headers, withPayload(payment.headers, { transaction: payment.id ?? "" })]) {
      expect(codeOf(await other.buy({ headers }))).toEqual([409, "payment_unreferenced"]);
    }
    expect(await other.counters()).toEqual({ runs: 0, debits: 1, bodies: 0 });
    await Promise.all([world.close(), other.close()]);
  });

  it("that carries a reference and is not public yet is nobody's who lacks its secret", async () => {
    const world = await open();
    const payment = await world.sign({ payer: await money().newPayer({ secret: SECRET }) });
    const thief = { headers: withPayload(payment.headers, { secret: undefined }) };
    expect(codeOf(await world.buy(thief))).toEqual([409, "payment_secret_required"]);
    expect(await world.counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
    expect((await world.buy(payment)).status).toBe(200);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it("whose handler failed is collected by its buyer, and by no stranger who has the bytes without the secret", async () => {
    const world = await open();
    world.seller.handler = () => ({ status: 500, body: "sorry" });
    const payment = await world.sign({ payer: await money().newPayer({ broadcast: true }) });
    expect((await world.buy(payment)).status).toBe(500);
    world.seller.handler = () => ({ status: 200, body: "the goods" });
    for (const members of [{}, { transaction: payment.id ?? "" }]) {
      const stranger = { headers: withPayload(payment.headers, { ...members, secret: undefined }) };
      expect(codeOf(await world.buy(stranger))).toEqual([409, "payment_secret_required"]);
    }
    expect((await world.buy(payment)).body).toBe("the goods");
    expect(await world.counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
    await world.close();
  });

  it("whose handler fails stays paid, and its buyer uses it again without another debit", async () => {
    const world = await open();
    world.seller.handler = ({ count }) =>
      count === 1 ? { status: 500, body: "sorry" } : { status: 200, body: "the goods" };
    const payment = await world.sign();
    const failed = await world.buy(payment);
    expect([failed.status, receiptOf(failed).success]).toEqual([500, true]);
    expect((await world.counters()).debits).toBe(1);
    expect((await world.buy(payment)).status).toBe(200);
    expect(world.seller.runs.map((run) => run?.run)).toEqual([1, 2]);
    expect(await world.counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
    await world.close();
  });

  it("whose id no chain knows is refused for now and moves nothing", async () => {
    const world = await open();
    const payment = await world.sign({ payer: await money().newPayer({ show: "id" }) });
    expect(codeOf(await world.buy(payment))).toEqual([503, "payment_not_seen"]);
    expect(await world.counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
    await world.close();
  });
});
