// Two receivers on a real chain, and the first one dies at each step of a payment: at most one debit, one grant, and whoever has
// paid gets the goods by sending the same payment again.
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { facilitator, failover } from "../../src/index.js";
import { silentLogger } from "../../src/logger.js";
import { memoryStore } from "../../src/store/memory.js";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  type SignedPayment,
  signPayment,
} from "../../src/testing/index.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { type Got, type Seller, send, startSeller } from "./seller.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

interface Shop {
  readonly seller: Seller;
  readonly first: ScriptedFacilitator;
  /** How many settlements the second receiver was asked for; undefined where that cannot be counted. */
  readonly seconds: () => number | undefined;
  debits(): Promise<number>;
  sign(): Promise<SignedPayment>;
  buy(payment: SignedPayment): Promise<Got>;
  /** The same payment again until it is decided. */
  collect(payment: SignedPayment): Promise<Got>;
  restart(): Promise<void>;
}

const SECONDS = ["a facilitator", "local"] as const;
/** How long a facilitator that says nothing is waited for: an honest one on a busy machine settles in less. */
const FACILITATOR_MS = 6_000;

async function openShop(kind: (typeof SECONDS)[number]): Promise<Shop> {
  const settle = settleOnChain(sandbox);
  const [first, second] = [await startScriptedFacilitator({ settle }), await startScriptedFacilitator({ settle })];
  opened.push(first, second);
  const store = memoryStore();
  const before = (await sandbox.token.transfers({ to: sandbox.seller })).length;
  const open = async () => {
    const common = { timeoutMs: FACILITATOR_MS, logger: silentLogger };
    const other =
      kind === "local" ? sandbox.receive() : facilitator({ url: second.url, rpcUrl: sandbox.rpcUrl, ...common });
    const receive = failover([facilitator({ url: first.url, ...common }), other], { logger: silentLogger });
    const { payTo, network } = sandbox;
    const started = await startSeller("Express 5", { payTo, network, receive, store, handlerTimeoutMs: 10_000 });
    opened.push(started);
    await started.ready();
    return started;
  };
  let seller = await open();
  const buy: Shop["buy"] = async ({ headers }) => {
    const got = await send(`${seller.url}/report`, { headers });
    if (!got) throw new Error("no answer");
    return got;
  };
  return {
    get seller() {
      return seller;
    },
    first,
    seconds: () =>
      kind === "local" ? undefined : second.requests.filter(({ endpoint }) => endpoint === "settle").length,
    debits: async () => (await sandbox.token.transfers({ to: sandbox.seller })).length - before,
    async sign() {
      const challenge = await readChallenge(await fetch(`${seller.url}/report`), 2);
      const [offer] = challenge.accepts;
      if (!offer) throw new Error("the 402 holds no offer");
      const account = await sandbox.newBuyer();
      return signPayment({ account, offer, version: 2, challenge, retryKey: "retry-key-0123456789" });
    },
    buy,
    async collect(payment) {
      for (let tries = 0; tries < 200; tries += 1) {
        const got = await buy(payment);
        if (got.status === 200 || got.status === 402) return got;
        expect(got.json).not.toHaveProperty("accepts");
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error("the outcome never came");
    },
    async restart() {
      seller = await open();
    },
  };
}

describe.each(SECONDS)("with %s behind it, a facilitator", (kind) => {
  it("that works settles alone", async () => {
    const shop = await openShop(kind);
    expect((await shop.buy(await shop.sign())).body).toBe("the goods");
    expect([shop.first.settled.size, await shop.debits()]).toEqual([1, 1]);
  });

  const nothingLeft: [name: string, die: (first: ScriptedFacilitator) => unknown, inHandler: boolean][] = [
    ["before the payment comes", (first) => first.close(), false],
    ["while it verifies", (first) => first.script("verify", answer.reset()), false],
    ["while the handler runs", (first) => first.close(), true],
  ];
  it.each(nothingLeft)(
    "that dies %s costs nobody anything: the payment buys at once",
    async (_name, die, inHandler) => {
      const shop = await openShop(kind);
      const payment = await shop.sign();
      if (inHandler) {
        shop.seller.handler = async () => {
          await die(shop.first);
          // Kept connections have to be seen to be closed, or the settlement is written into one of them.
          for (let i = 0; i < 20; i += 1) await turn();
          return { status: 200, body: "the goods" };
        };
      } else await die(shop.first);
      const got = await shop.collect(payment);
      expect([got.status, got.body]).toEqual([200, "the goods"]);
      expect([shop.seller.runs.length, await shop.debits()]).toEqual([1, 1]);
      // Sent again, it is the kept answer and no second debit.
      expect((await shop.buy(payment)).status).toBe(200);
      expect([shop.seller.runs.length, await shop.debits()]).toEqual([1, 1]);
    },
  );

  it.each([
    ["settles and resets", answer.resetAfterActing()],
    ["settles and hangs", answer.hangAfterActing()],
  ])("that %s has been paid: the second settles nothing, and the same payment gets the goods", async (_name, dies) => {
    const shop = await openShop(kind);
    const payment = await shop.sign();
    shop.first.script("settle", dies);
    const got = await shop.buy(payment);
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect(await shop.debits()).toBe(1);
    await shop.first.close();
    expect((await shop.collect(payment)).body).toBe("the goods");
    expect([shop.seller.runs.length, await shop.debits(), shop.seconds() ?? 0]).toEqual([1, 1, 0]);
  });

  it("that settles and dies with the seller's process is found by the next one", async () => {
    const shop = await openShop(kind);
    const payment = await shop.sign();
    shop.first.script("settle", answer.resetAfterActing());
    expect((await shop.buy(payment)).status).toBe(503);
    // Its successor finds the first one back, or it could not start its checks over it.
    await shop.restart();
    expect((await shop.collect(payment)).body).toBe("the goods");
    expect([await shop.debits(), shop.first.settled.size, shop.seconds() ?? 0]).toEqual([1, 1, 0]);
  });

  it.each([
    ["resets before it acts", answer.reset()],
    ["answers 500", answer.status(500)],
    ["lies that another network was paid", answer.json({ success: true, transaction: "0x1", network: "base" })],
  ])("that %s at /settle may have settled: no second settlement and no new bill", async (_name, dies) => {
    const shop = await openShop(kind);
    const payment = await shop.sign();
    shop.first.script("settle", dies);
    for (let tries = 0; tries < 3; tries += 1) {
      const got = await shop.buy(payment);
      expect(got.status).toBe(503);
      expect(got.body).not.toContain("the goods");
      expect(got.json).not.toHaveProperty("accepts");
      expect(got.headers["payment-required"]).toBeUndefined();
    }
    expect([await shop.debits(), shop.seconds() ?? 0]).toEqual([0, 0]);
    const settlements = shop.first.requests.filter(({ endpoint }) => endpoint === "settle");
    expect(settlements).toHaveLength(1);
    // And others go on buying, over whoever works.
    expect((await shop.collect(await shop.sign())).body).toBe("the goods");
    expect(await shop.debits()).toBe(1);
  });
});
