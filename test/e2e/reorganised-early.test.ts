// A settlement whose block is left for another one before its goods are handed over: while the handler runs, or between its
// receipt and the answer. In the end it is one debit and one grant, on a store of one process and on a shared one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it as plain, type TestContext, vi } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import { sqlStore } from "../../src/store/sql.js";
import type { Store } from "../../src/store/store.js";
import { createSandbox, readChallenge, signPayment } from "../../src/testing/index.js";
import { type Fault, startScriptedRpc } from "../support/scripted-rpc.js";
import { type Got, send, startSeller } from "./seller.js";

const it = plain.concurrent;
// Each waits for the reconciler, and none for another.
vi.setConfig({ maxConcurrency: 6 });
const KEY = "retry-key-0123456789";
const LONG = { timeout: 100_000, interval: 200 };

type NewStore = (test: TestContext) => Store;
const STORES: readonly (readonly [string, NewStore])[] = [
  ["the memory store", () => memoryStore()],
  [
    "a shared store",
    ({ onTestFinished }) => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-reorganised-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return sqlStore({ file: join(folder, "shop.db") });
    },
  ],
];

async function openSale(test: TestContext, newStore: NewStore, path: string) {
  const sandbox = await createSandbox();
  const rpc = await startScriptedRpc(sandbox.rpcUrl);
  test.onTestFinished(async () => {
    await rpc.close();
    await sandbox.close();
  });
  const { payTo, network } = sandbox;
  const receive = sandbox.receive({ rpcUrl: rpc.url });
  const seller = await startSeller("Express 5", { payTo, network, receive, store: newStore(test) });
  test.onTestFinished(() => seller.close());
  await seller.ready();
  await sandbox.chain.mine(4);
  const url = seller.url + path;
  const challenge = await readChallenge(await fetch(url), 2);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("no offer");
  const account = await sandbox.newBuyer();
  const { headers } = await signPayment({ account, offer, version: 2, challenge, retryKey: KEY });
  await sandbox.chain.mine();
  return {
    ...{ sandbox, rpc, seller },
    /** As a buyer does it who is told that his payment is being worked on: by another request, or by the reconciler. */
    async buy(): Promise<Got> {
      return vi.waitFor(async () => {
        const got = await send(url, { headers });
        if (!got || got.status === 409) throw new Error("not yet");
        return got;
      }, LONG);
    },
    debits: async () => (await sandbox.token.transfers({ to: sandbox.seller })).length,
  };
}

type Sale = Awaited<ReturnType<typeof openSale>>;

/** Nobody asks for it: the reconciler sends it again. */
const isPaidAnew = ({ debits }: Sale) => vi.waitFor(async () => expect(await debits()).toBe(1), LONG);

/** What was delivered stays: the kept answer for its buyer, and no second run. */
async function expectDelivered({ buy, seller, debits }: Sale, runs: number): Promise<void> {
  const again = await buy();
  expect([again.status, again.body, again.headers["payment-replayed"]]).toEqual([200, "the goods", "true"]);
  expect([seller.runs.length, await debits()]).toEqual([runs, 1]);
}

describe.concurrent.each(STORES)("on %s", (_name, newStore) => {
  it("a settlement that is gone while the handler runs: the goods once, and the money in the end", async (test) => {
    const sale = await openSale(test, newStore, "/upfront");
    sale.seller.handler = async () => {
      await sale.sandbox.chain.reorg(1);
      return { status: 200, body: "the goods" };
    };
    expect((await sale.buy()).body).toBe("the goods");
    expect(await sale.debits()).toBe(0);
    await isPaidAnew(sale);
    await expectDelivered(sale, 1);
  }, 150_000);

  it("one that is gone while the handler fails: the money in the end, and then the goods for the same payment", async (test) => {
    const sale = await openSale(test, newStore, "/upfront");
    sale.seller.handler = async () => {
      await sale.sandbox.chain.reorg(1);
      return { status: 500, body: "sorry" };
    };
    expect((await sale.buy()).status).toBe(500);
    expect(await sale.debits()).toBe(0);
    await isPaidAnew(sale);
    sale.seller.handler = () => ({ status: 200, body: "the goods" });
    expect((await sale.buy()).body).toBe("the goods");
    await expectDelivered(sale, 2);
  }, 150_000);

  it("one that is gone between its receipt and the answer: the goods once, and the money in the end", async (test) => {
    const sale = await openSale(test, newStore, "/report");
    const { rpc, sandbox } = sale;
    let forks = 0;
    const forkAfterwards: Fault = async ({ forward }) => {
      const answer = await forward();
      if (answer.result && forks === 0) {
        forks += 1;
        await sandbox.chain.reorg(1);
      }
      return { kind: "answer", answer };
    };
    rpc.script("eth_getTransactionReceipt", forkAfterwards, 100_000);
    expect((await sale.buy()).body).toBe("the goods");
    expect([forks, await sale.debits()]).toEqual([1, 0]);
    await isPaidAnew(sale);
    await expectDelivered(sale, 1);
  }, 150_000);
});
