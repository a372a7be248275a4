// Several processes of one seller on one store, on a real chain: a proof buys one answer, whichever of them it reaches, and an
// answer that one of them has kept comes from another. Needs a build.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  type SignedPayment,
  signPayment,
} from "../../src/testing/index.js";
import { noPostgres, startPostgres } from "../support/postgres.js";
import { type Running, startNode } from "../support/process.js";
import { noRedis, startRedis } from "../support/redis.js";
import { root } from "../support/sources.js";
import { type Got, send } from "./seller.js";

/** 5 in CI; `ROUNDS=100` by command. */
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const COPIES = 50;
const KEY = "retry-key-0123456789";

/** Asks again, as 409 says, while the process that sold is still writing down that it has delivered. */
async function afterWork(ask: () => Promise<Got | undefined>): Promise<Got | undefined> {
  for (;;) {
    const got = await ask();
    if (got?.json.code !== "payment_in_progress") return got;
  }
}

interface Shared {
  readonly url: string;
  stop(): Promise<void>;
}
const STORES: readonly [name: string, absent: () => string | undefined, start: () => Promise<Shared>][] = [
  ["Redis", noRedis, startRedis],
  ["PostgreSQL", noPostgres, startPostgres],
  ["SQLite", () => undefined, startSqlite],
];

async function startSqlite(): Promise<Shared> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
  return {
    url: `sqlite://${join(folder, "shop.db")}`,
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

describe.each(STORES)("two processes that share a store in %s", (_name, absent, start) => {
  const skipped = absent();
  let store: Shared;
  let processes: readonly Running[] = [];
  let urls: readonly string[] = [];
  beforeAll(async () => {
    if (skipped) return;
    store = await start();
    const env = {
      RPC_URL: sandbox.rpcUrl,
      SETTLER_KEY: sandbox.settlerKey,
      PAY_TO: sandbox.payTo,
      TOLLGATE_STORE_URL: store.url,
    };
    processes = await Promise.all([1, 2].map(() => startNode([join(root, "test/e2e/shared-seller.mjs")], env)));
    urls = processes.map(({ firstLine }) => `http://127.0.0.1:${firstLine}`);
  });
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.stop()));
    await store?.stop();
  });

  const sign = async (retryKey?: string): Promise<SignedPayment> => {
    const challenge = await readChallenge(await fetch(`${urls[0]}/report`), 2);
    const [offer] = challenge.accepts;
    if (!offer) throw new Error("no offer");
    const account = await sandbox.newBuyer();
    return signPayment({ account, offer, version: 2, challenge, ...(retryKey && { retryKey }) });
  };
  const buy = (at: number, { headers }: SignedPayment): Promise<Got | undefined> =>
    send(`${urls[at]}/report`, { headers });
  const counters = async () => {
    const runs = await Promise.all(urls.map(async (url) => Number((await send(`${url}/runs`))?.body)));
    const debits = await sandbox.token.transfers({ to: sandbox.payTo });
    return { runs: runs.reduce((sum, one) => sum + one, 0), debits: debits.length };
  };

  it.skipIf(skipped)(
    `one proof ${COPIES} times at each of them at once: one run, one debit, one body (${ROUNDS} rounds)`,
    async () => {
      const before = await counters();
      for (let round = 1; round <= ROUNDS; round += 1) {
        const payment = await sign();
        const copies = Array.from({ length: 2 * COPIES }, (_, at) => buy(at % 2, payment));
        const statuses = (await Promise.all(copies)).map((got) => got?.status);
        expect(statuses.filter((status) => status === 200)).toHaveLength(1);
        expect(statuses.filter((status) => status === 409)).toHaveLength(2 * COPIES - 1);
        expect(await counters()).toEqual({ runs: before.runs + round, debits: before.debits + round });
      }
    },
    120_000,
  );

  it.skipIf(skipped)("gives a kept answer from the process that did not make it, with the retry key only", async () => {
    const before = await counters();
    const payment = await sign(KEY);
    const first = await buy(0, payment);
    expect(first?.status).toBe(200);
    const again = await afterWork(() => buy(1, payment));
    expect([again?.status, again?.body, again?.headers["payment-replayed"]]).toEqual([200, first?.body, "true"]);
    expect(again?.headers["payment-response"]).toBe(first?.headers["payment-response"]);
    const { extensions: _, ...bare } = JSON.parse(atob(String(payment.headers["PAYMENT-SIGNATURE"])));
    const stranger = await send(`${urls[1]}/report`, { headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(bare)) } });
    expect([stranger?.status, stranger?.json.code]).toEqual([409, "payment_already_used"]);
    expect(await counters()).toEqual({ runs: before.runs + 1, debits: before.debits + 1 });
  });

  it.skipIf(skipped)("sells ten different proofs at each of them at once: twenty runs, twenty debits", async () => {
    const before = await counters();
    const payments = await Promise.all(Array.from({ length: 20 }, () => sign()));
    const all = await Promise.all(payments.map((payment, at) => buy(at % 2, payment)));
    expect(all.map((got) => got?.status)).toEqual(payments.map(() => 200));
    expect(await counters()).toEqual({ runs: before.runs + 20, debits: before.debits + 20 });
  });
});
