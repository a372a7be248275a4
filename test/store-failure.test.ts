// A paywall whose store fails at every step of a sale: it answers 503 and serves nothing, and whoever has paid gets the goods once
// the store is back, or learns that they are lost; never a second bill.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Receiver } from "../src/receive/receiver.js";
import { redisStore } from "../src/store/redis.js";
import { sqlStore } from "../src/store/sql.js";
import type { Store } from "../src/store/store.js";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  signPayment,
  type TransactionParts,
} from "../src/testing/index.js";
import { eth, type Money } from "./e2e/money.js";
import { type Got, send, startSeller } from "./e2e/seller.js";
import { openWorld } from "./e2e/world.js";
import { noPostgres, type PostgresServer, startPostgres } from "./support/postgres.js";
import { noRedis, type RedisServer, startRedis } from "./support/redis.js";

const KEY = "retry-key-0123456789";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

/** A seller with this store, a buyer's signed payment, and the three counters. */
async function open(store: Store, receive: Receiver = sandbox.receive()) {
  const { payTo, network } = sandbox;
  const seller = await startSeller("Express 5", { payTo, network, receive, store, limits: { leaseMs: 1_000 } });
  onTestFinished(() => seller.close());
  await seller.ready();
  const debitsBefore = (await sandbox.token.transfers({ to: payTo })).length;
  let bodies = 0;
  const challenge = await readChallenge(await fetch(`${seller.url}/report`), 2);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("no offer");
  const account = await sandbox.newBuyer();
  const payment = await signPayment({ account, offer, version: 2, challenge, retryKey: KEY });
  return {
    seller,
    async buy(): Promise<Got> {
      const got = await send(`${seller.url}/report`, { headers: payment.headers });
      if (!got) throw new Error("the connection was cut");
      if (got.status < 300) bodies += 1;
      return got;
    },
    counters: async () => ({
      runs: seller.runs.length,
      debits: (await sandbox.token.transfers({ to: payTo })).length - debitsBefore,
      bodies,
    }),
  };
}

/** The same payment again, as a buyer does who is told to, until it is decided: a dozen seconds after a settlement was cut off. */
async function again(buy: () => Promise<Got>): Promise<Got> {
  const undecided = ["store_unavailable", "payment_in_progress", "settlement_unknown", "settlement_unavailable"];
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    const got = await buy();
    if (!undecided.includes(String(got.json.code))) return got;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the payment was never decided");
}

describe.skipIf(noRedis())("a paywall on Redis", { timeout: 90_000 }, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());
  const newStore = (timeoutMs = 3000) => {
    const store = redisStore({ url: server.url, timeoutMs });
    onTestFinished(() => store.close());
    return store;
  };

  it("that stands still refuses with 503 and runs nothing; the same payment is good when it goes on", async () => {
    const { seller, buy, counters } = await open(newStore(2000));
    server.freeze();
    const got = await buy();
    expect([got.status, got.json.code, got.json.retry]).toEqual([503, "store_unavailable", "same-payment"]);
    expect(got.headers["retry-after"]).toBeDefined();
    expect((await send(`${seller.url}/report`))?.status).toBe(402);
    expect(await counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
    server.thaw();
    expect((await again(buy)).status).toBe(200);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
  });

  it("that ends while the handler runs takes no money and serves nothing", async () => {
    const { seller, buy, counters } = await open(newStore());
    seller.handler = async () => {
      await server.kill();
      return { status: 200, body: "the goods" };
    };
    const got = await buy();
    expect(got.status).toBe(503);
    expect(got.body).not.toContain("the goods");
    expect(await counters()).toEqual({ runs: 1, debits: 0, bodies: 0 });
    await server.restart();
    seller.handler = () => ({ status: 200, body: "the goods" });
    expect((await again(buy)).status).toBe(200);
    expect(await counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
  });

  it("that ends right after the settlement and comes back empty serves nothing, and no new bill is made", async () => {
    const receiver = sandbox.receive();
    let settlements = 0;
    const settle: Receiver["settle"] = async (...call) => {
      const settled = await receiver.settle(...call);
      settlements += 1;
      if (settlements === 1) await server.kill();
      return settled;
    };
    const { buy, counters } = await open(newStore(), { ...receiver, settle });
    const got = await buy();
    expect([got.status, got.body.includes("the goods")]).toEqual([503, false]);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 0 });
    await server.restart();
    const later = await again(buy);
    expect([later.status, later.json.code]).toEqual([409, "payment_already_used"]);
    expect(later.headers["payment-required"]).toBeUndefined();
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 0 });
  });

  it("that comes back empty grants nothing again that it granted a moment before", async () => {
    const { buy, counters } = await open(newStore());
    expect((await buy()).status).toBe(200);
    await server.restart();
    const later = await again(buy);
    expect([later.status, later.json.code]).toEqual([409, "payment_already_used"]);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
  });

  it("that comes back empty takes no transaction that was mined before: it may have bought something", async () => {
    const money: Money<TransactionParts> = eth(sandbox);
    const store = newStore();
    const world = await openWorld("Express 5", money, { store });
    onTestFinished(() => world.seller.close());
    // As a store that has remembered for an hour: blocks tell time in whole seconds.
    const { now } = await store.read([]);
    await server.command("HSET", "{tollgate}:meta", "since", String(now - 3_600_000));
    const payment = await world.sign({ payer: await money.newPayer({ broadcast: true }) });
    expect((await world.buy(payment)).status).toBe(200);
    await server.restart();
    const got = await again(() => world.buy(payment));
    expect([got.status, got.json.code]).toEqual([409, "payment_too_old"]);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
  });
});

describe.skipIf(noPostgres())("a paywall on PostgreSQL", { timeout: 90_000 }, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  // A sale writes: claimed, settling, sent, settled and delivering. A lease that is renewed meanwhile is none of these.
  it.each([1, 2, 3, 4])(
    "whose connection is cut in commit %i of a sale serves nothing then; its buyer gets the goods for one debit",
    async (nth) => {
      const url = await server.newSchema();
      const store = sqlStore({ url, timeoutMs: 5000 });
      onTestFinished(() => store.close());
      await store.read([]);
      await server.query(
        `create sequence commits; create function cut() returns trigger language plpgsql as $$ begin
         if new.key like 'proof:%' and old.value::jsonb - 'leaseUntil' is distinct from new.value::jsonb - 'leaseUntil'
         and nextval('commits') = ${nth} then perform pg_terminate_backend(pg_backend_pid()); end if;
         return new; end $$;
       create trigger cut before insert or update on tollgate_entries for each row execute function cut()`,
        url,
      );
      const { buy, counters } = await open(store);
      const got = await buy();
      expect([got.status, got.body.includes("the goods")]).toEqual([503, false]);
      expect((await counters()).bodies).toBe(0);
      const later = await again(buy);
      expect([later.status, later.body]).toEqual([200, "the goods"]);
      const { runs, ...money } = await counters();
      expect(money).toEqual({ debits: 1, bodies: 1 });
      expect(runs).toBeLessThanOrEqual(2);
    },
  );

  it("that ends right after the settlement and comes back gives the buyer the goods, for one debit", async () => {
    const store = sqlStore({ url: await server.newSchema(), timeoutMs: 5000 });
    onTestFinished(() => store.close());
    const receiver = sandbox.receive();
    let settled = 0;
    const settle: Receiver["settle"] = async (...call) => {
      const result = await receiver.settle(...call);
      settled += 1;
      if (settled === 1) await server.kill();
      return result;
    };
    const { buy, counters } = await open(store, { ...receiver, settle });
    const got = await buy();
    expect([got.status, got.body.includes("the goods")]).toEqual([503, false]);
    await server.restart();
    expect((await again(buy)).body).toBe("the goods");
    const { debits, bodies } = await counters();
    expect([settled, debits, bodies]).toEqual([1, 1, 1]);
  });

  it("whose standby takes over without the last writes right after a settlement: what is lost is refused and never billed anew", async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const store = sqlStore({ url: await own.newSchema(), timeoutMs: 5000 });
    onTestFinished(() => store.close());
    const copied = await open(store);
    expect((await copied.buy()).status).toBe(200);
    await own.makeStandby();
    const receiver = sandbox.receive();
    let settled = 0;
    const settle: Receiver["settle"] = async (...call) => {
      const result = await receiver.settle(...call);
      settled += 1;
      if (settled === 1) await own.failOver();
      return result;
    };
    const { buy, counters } = await open(store, { ...receiver, settle });
    const got = await buy();
    expect([got.status, got.body.includes("the goods")]).toEqual([503, false]);
    const later = await again(buy);
    expect([later.status, later.json.code]).toEqual([409, "payment_already_used"]);
    expect(later.headers["payment-required"]).toBeUndefined();
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 0 });
    // What the standby knows is what it was: the kept answer, and no second run.
    const replayed = await again(copied.buy);
    expect([replayed.status, replayed.headers["payment-replayed"]]).toEqual([200, "true"]);
    expect((await copied.counters()).runs).toBe(1);
    expect(settled).toBe(1);
  });
});
