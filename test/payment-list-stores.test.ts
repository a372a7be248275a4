// The list of payments on every store: what one process has sold, another one lists, page by page and as text, by the store's own
// time; a store that is away ends the list with an error.
import { createPaywall } from "tollgate/express";
import { type ListedPayment, toCsv, toJsonLines } from "tollgate/payments";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClaims } from "../src/claims.js";
import type { PaymentQuery } from "../src/payment-list.js";
import { redisStore } from "../src/store/redis.js";
import { sqlStore } from "../src/store/sql.js";
import type { Store } from "../src/store/store.js";
import { makeProof } from "./support/bound-proof.js";
import { createFakeClock } from "./support/fake-clock.js";
import { noPostgres, startPostgres } from "./support/postgres.js";
import { noRedis, startRedis } from "./support/redis.js";
import { everyStore } from "./support/stores.js";
import { BUYER, broken, createWorld, PAY_TO, TRANSACTION } from "./support/world.js";

const KEY = "retry-key-0123456789";
const LIMITS = { openClaimsPerPayer: 10_000, unchargedRunsPerProof: 3, unchargedRunsPerPayer: 100, leaseMs: 15_000 };
const PRINT = { target: "GET /report", body: null, headers: "", retryKey: null };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** As a seller's own script asks: a paywall of another process on the same store. */
function paymentsOf(store: Store) {
  const pay = createPaywall({ payTo: PAY_TO, network: "base-sepolia", store, logger: silent });
  onTestFinished(() => pay.close());
  return (query?: PaymentQuery) => pay.payments(query);
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
const timeOf = async (store: Store) => (await store.read([])).now;
/** Until the store's clock has moved on. */
async function tick(store: Store): Promise<number> {
  const before = await timeOf(store);
  await expect.poll(() => timeOf(store), { interval: 1 }).toBeGreaterThan(before);
  return timeOf(store);
}

/** One payment of each kind, with the store's time before each. */
async function sellOfEachKind(store: Store) {
  const world = createWorld({ store, clock: createFakeClock(Date.now()) });
  const times: number[] = [];
  const sell = async (handler?: typeof broken, retryKey?: string) => {
    times.push(await tick(store));
    const headers = await world.sign(retryKey ? { retryKey } : {});
    await world.send({ headers }, handler);
    return headers;
  };
  const headers = await sell(undefined, KEY);
  await sell(broken);
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "empty" }));
  await sell();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await sell();
  world.context.lookups.close();
  return { times, headers, end: await tick(store) };
}

describe.each(everyStore())("payments in %s", (_name, skipped, open) => {
  const run = it.skipIf(skipped);

  run(
    "are listed by another process: who, what, how much, what became of it, and when by the store's time",
    async () => {
      const [one, other] = await open();
      const { times, end } = await sellOfEachKind(one);
      const listed = await all(paymentsOf(other)());
      expect(listed.map(({ settlement, delivery, code }) => [settlement, delivery, code])).toEqual([
        ["unknown", "none", undefined],
        ["refused", "none", "insufficient_funds"],
        ["released", "none", undefined],
        ["settled", "delivered", undefined],
      ]);
      const sold = listed.at(-1);
      expect(sold).toMatchObject({ payer: BUYER.address, payTo: PAY_TO, amount: 10_000n, transaction: TRANSACTION });
      const claimed = listed.map(({ claimedAt = 0 }) => claimedAt).reverse();
      for (const [at, time] of claimed.entries()) {
        expect(time).toBeGreaterThanOrEqual(times[at] ?? 0);
        expect(time).toBeLessThan(times[at + 1] ?? end);
      }
      expect(sold?.settledAt).toBeGreaterThanOrEqual(sold?.claimedAt ?? 0);
    },
  );

  run("are listed by time and up to a number", async () => {
    const [one, other] = await open();
    const { times, end } = await sellOfEachKind(one);
    const payments = paymentsOf(other);
    const of = async (query: PaymentQuery) => (await all(payments(query))).map(({ settlement }) => settlement);
    expect(await of({ limit: 2 })).toEqual(["unknown", "refused"]);
    expect(await of({ since: times[2] ?? 0 })).toEqual(["unknown", "refused"]);
    expect(await of({ until: times[2] ?? 0 })).toEqual(["released", "settled"]);
    expect(await of({ since: times[1] ?? 0, until: new Date(times[3] ?? 0), limit: 1 })).toEqual(["refused"]);
    expect(await of({ since: end })).toEqual([]);
  });

  run("are the same as lines of JSON and as CSV, without a signature, nonce or retry key", async () => {
    const [one, other] = await open();
    const { headers } = await sellOfEachKind(one);
    const payments = paymentsOf(other);
    const listed = await all(payments());
    const lines = (await all(toJsonLines(payments()))).join("");
    const asText = listed.map((payment) => ({ ...payment, amount: payment.amount.toString() }));
    expect(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(asText);
    const rows = (await all(toCsv(payments()))).join("").trimEnd().split("\r\n");
    expect(rows).toHaveLength(1 + listed.length);
    expect(rows.slice(1).map((row) => row.split(",")[0])).toEqual(listed.map(({ proofId }) => proofId));
    const { payload } = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as {
      payload: { signature: string; authorization: { nonce: string } };
    };
    for (const secret of [payload.signature, payload.authorization.nonce, KEY])
      expect(lines + rows.join("\n")).not.toContain(secret);
  });

  run("are all there, each once, where they fill more than one page", { timeout: 120_000 }, async () => {
    const [one, other] = await open();
    const claims = createClaims(one, LIMITS);
    const { since } = await one.read([]);
    const proofs = await Promise.all(Array.from({ length: 620 }, () => makeProof()));
    const queue = proofs.values();
    const claimAll = async () => {
      for (const proof of queue) expect(await claims.claim(proof, PRINT, undefined, since)).toMatchObject({ ok: true });
    };
    await Promise.all(Array.from({ length: 10 }, claimAll));
    const listed: ListedPayment[] = await all(paymentsOf(other)());
    expect(listed).toHaveLength(620);
    expect(new Set(listed.map(({ proofId }) => proofId))).toEqual(new Set(proofs.map(({ id }) => id)));
  });
});

/** A server that ends while a paywall is open on it. The first list's time is also that of making the tables. */
const SERVERS = [
  ["Redis", noRedis, startRedis, (url: string) => redisStore({ url, timeoutMs: 5_000 })],
  ["PostgreSQL", noPostgres, startPostgres, (url: string) => sqlStore({ url, timeoutMs: 5_000 })],
] as const;

describe.each(SERVERS)("a list from a %s that has gone away", (_name, absent, start, open) => {
  it.skipIf(absent())("ends with an error, and is there again when the server is", { timeout: 60_000 }, async () => {
    const server = await start();
    onTestFinished(() => server.stop());
    const store = open(server.url);
    onTestFinished(() => store.close());
    const payments = paymentsOf(store);
    expect(await all(payments())).toEqual([]);
    await server.kill();
    await expect(all(payments())).rejects.toMatchObject({ code: "store_unavailable" });
    await server.restart();
    await expect.poll(() => all(payments()).catch(() => "away"), { timeout: 20_000 }).toEqual([]);
  });
});
