// A hundred calls at once from one wallet, some of them given up at a moment that dice choose: a hundred payments and no clash,
// and a day's budget that holds to the atomic unit. What is counted is what was debited, and what is still under way.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPaywall } from "../../adapters/express.js";
import { BuyerError } from "../../src/client/errors.js";
import type { BuyerEvent } from "../../src/client/events.js";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { fileBuyerStore } from "../../src/client/file.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { type PayingFetch, payingFetch } from "../../src/client/paying-fetch.js";
import type { BuyerStore } from "../../src/client/store.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { dice } from "../support/dice.js";

const PRICE = 10_000n;
const COUNT = 100;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

const STORES: Readonly<Record<string, () => BuyerStore>> = {
  memory: () => memoryBuyerStore(),
  file() {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-buyer-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return fileBuyerStore(join(folder, "buyer.json"));
  },
};

/** A seller of one priced route, and a buyer with a wallet of his own. */
async function meet(store: BuyerStore, perDay: `$${string}`, onEvent: (event: BuyerEvent) => void = () => {}) {
  const pay = createPaywall({ payTo: sandbox.payTo, network: sandbox.network, receive: sandbox.receive() });
  const app = express();
  app.get("/goods", pay("$0.01"), (_req, res) => {
    res.json({ goods: true });
  });
  await pay.ready();
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await pay.close();
  });
  const account = await sandbox.newBuyer();
  const buy = payingFetch({ wallets: [evmWallet(account)], budget: { perRequest: "$0.01", perDay }, store, onEvent });
  const debits = () => sandbox.token.transfers({ from: account.address });
  return { url: (id: number) => `${origin}/goods?id=${id}`, buy, debits };
}

/** When a call is given up; half of them are not. */
const MOMENTS = ["at once", "chosen", "signed", "sent", "later", "never", "never", "never", "never", "never"] as const;

const outcomeOf = (call: ReturnType<PayingFetch>): Promise<number | string> =>
  call.then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    (error: unknown) => (error instanceof BuyerError ? error.code : (error as Error).name),
  );

describe("many calls at once from one wallet", { timeout: 90_000 }, () => {
  it("make a payment each", async () => {
    const { url, buy, debits } = await meet(memoryBuyerStore(), "$1");
    const outcomes = await Promise.all(Array.from({ length: COUNT }, (_, id) => outcomeOf(buy(url(id)))));
    expect(outcomes).toEqual(Array(COUNT).fill(200));
    expect((await debits()).map(({ value }) => value)).toEqual(Array(COUNT).fill(PRICE));
    const bought = await buy.receipts();
    expect(new Set(bought.map(({ transaction }) => transaction)).size).toBe(COUNT);
  });

  it("make a payment each for the same request, too", async () => {
    const { url, buy, debits } = await meet(memoryBuyerStore(), "$1");
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(buy(url(0)))));
    expect(outcomes).toEqual(Array(20).fill(200));
    expect(await debits()).toHaveLength(20);
  });

  for (const [name, open] of Object.entries(STORES)) {
    it(`stop at the day's budget, to the atomic unit, with a store in ${name}`, async () => {
      // The last one would go a millionth of a dollar too far.
      const { url, buy, debits } = await meet(open(), "$0.399999");
      const outcomes = await Promise.all(Array.from({ length: COUNT }, (_, id) => outcomeOf(buy(url(id)))));
      expect(outcomes.filter((one) => one === 200)).toHaveLength(39);
      expect(outcomes.filter((one) => one === "over_budget")).toHaveLength(COUNT - 39);
      expect(await debits()).toHaveLength(39);
    });

    it(`count what was debited and what is under way, also when calls are given up, with a store in ${name}`, async () => {
      const draw = dice(20261128);
      const fates = Array.from({ length: COUNT }, () => ({
        at: MOMENTS[draw(MOMENTS.length)],
        end: new AbortController(),
      }));
      const { url, buy, debits } = await meet(open(), "$0.50", (event) => {
        if (!("purchase" in event)) return;
        const fate = fates[Number(new URL(event.purchase.url).searchParams.get("id"))];
        if (fate && event.type === fate.at) fate.end.abort();
        // Bytes of it are on their way by then.
        if (fate?.at === "later" && event.type === "sent") setImmediate(() => fate.end.abort());
      });
      const outcomes = await Promise.all(
        fates.map(({ at, end }, id) => {
          const called = outcomeOf(buy(url(id), { signal: end.signal }));
          if (at === "at once") end.abort();
          return called;
        }),
      );
      const debited = async () => (await debits()).reduce((sum, { value }) => sum + value, 0n);
      expect(new Set(outcomes)).toContain(200);
      for (const [id, { at }] of fates.entries()) {
        if (at !== "never" && outcomes[id] !== "over_budget") expect([at, outcomes[id]]).toEqual([at, "AbortError"]);
      }
      expect(await debited()).toBeLessThanOrEqual(50n * PRICE);

      // Whatever is under way is decided by the same request again, with nothing new to pay.
      const undecided = (await buy.receipts()).filter(({ status, served }) => status === "sent" || !served);
      for (const { url: again } of undecided) expect(await outcomeOf(buy(again))).toBe(200);
      const bought = await buy.receipts();
      expect(bought.every(({ status, served }) => status === "settled" && served)).toBe(true);
      expect(bought.reduce((sum, { amount }) => sum + amount, 0n)).toBe(await debited());

      // What is left of the budget is left exactly: as many more payments as fit, and not one more.
      const left = 50 - bought.length;
      const more = await Promise.all(Array.from({ length: left + 5 }, (_, id) => outcomeOf(buy(url(1_000 + id)))));
      expect(more.filter((one) => one === 200)).toHaveLength(left);
      expect(more.filter((one) => one === "over_budget")).toHaveLength(5);
      expect(await debited()).toBe(50n * PRICE);
    });
  }
});
