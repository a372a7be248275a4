// The oracle of a payment: handler runs, debits on the chain, 2xx bodies on distinct connections. They have to agree
// whatever the copies, failures and leavings, on both majors of Express and on Hono, on a real chain.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  createSandbox,
  readChallenge,
  type Sandbox,
  type SignedPayment,
  signPayment,
} from "../../src/testing/index.js";
import { FRAMEWORKS, type Framework, type Got, type Seller, type SendOptions, send, startSeller } from "./seller.js";
import { cutAfterHead, pendingTransaction, rebuiltFromChain, stripKey, submit } from "./stranger.js";

/** 5 in CI; `ROUNDS=100` by command. */
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const KEY = "retry-key-0123456789";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

describe.each(FRAMEWORKS)("on %s", (framework: Framework) => {
  let seller: Seller;
  let bodies: Got[] = [];
  const sold: { path: string; payment: SignedPayment; retryKey: string | undefined }[] = [];
  const delivered = new Set<SignedPayment>();
  let debitsBefore = 0;

  const debits = async () => (await sandbox.token.transfers({ to: sandbox.seller })).length - debitsBefore;
  const open = async () => {
    seller = await startSeller(framework, {
      payTo: sandbox.payTo,
      network: sandbox.network,
      // Two hundred at once, on a machine that has other things to do.
      receive: sandbox.receive({ settleMs: 20_000 }),
      handlerTimeoutMs: 20_000,
    });
    await seller.ready();
    bodies = [];
    debitsBefore = (await sandbox.token.transfers({ to: sandbox.seller })).length;
  };
  // The standing test: every delivered proof, and every charged one whose record has a retry key, once more from a
  // stranger's connection, against the store that sold it: zero bodies.
  afterEach(async () => {
    for (const { path, payment, retryKey } of sold.splice(0)) {
      if (!delivered.has(payment) && !retryKey) continue;
      const got = await send(seller.url + path, { headers: stripKey(payment) });
      expect(got?.status).toBeGreaterThanOrEqual(400);
    }
    await seller.close();
  });

  const sign = async (path = "/report", retryKey?: string, account?: Awaited<ReturnType<Sandbox["newBuyer"]>>) => {
    const challenge = await readChallenge(await fetch(seller.url + path), 2);
    const offer = challenge.accepts[0];
    if (!offer) throw new Error("no offer");
    const payment = await signPayment({
      account: account ?? (await sandbox.newBuyer()),
      offer,
      version: 2,
      challenge,
      ...(retryKey && { retryKey }),
    });
    sold.push({ path, payment, retryKey });
    return payment;
  };
  const buy = async (payment: SignedPayment, path = "/report", options: SendOptions = {}) => {
    const got = await send(seller.url + path, { ...options, headers: { ...payment.headers, ...options.headers } });
    if (got && got.status < 300) {
      bodies.push(got);
      delivered.add(payment);
    }
    return got;
  };
  const counters = async () => ({ runs: seller.runs.length, debits: await debits(), bodies: bodies.length });

  it(`one proof 125 times at once: one run, one debit, one body (${ROUNDS} rounds)`, async () => {
    await open();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const payment = await sign();
      const all = await Promise.all(Array.from({ length: 125 }, () => buy(payment)));
      expect(await counters()).toEqual({ runs: round, debits: round, bodies: round });
      expect(new Set(all.map((got) => got?.status))).toEqual(new Set([200, 409]));
    }
  }, 300_000);

  it("200 different proofs at once: 200 runs, 200 debits, 200 bodies, each receipt its payer's own", async () => {
    await open();
    const buyers = await sandbox.newBuyers(200);
    const payments = await Promise.all(buyers.map((account) => sign("/report", undefined, account)));
    // A block a second: with this many at once, Anvil's mining on demand leaves transactions in its pool.
    await sandbox.chain.setAutomine(false);
    await sandbox.chain.rpc("evm_setIntervalMining", [1]);
    const all = await Promise.all(payments.map((payment) => buy(payment))).finally(async () => {
      await sandbox.chain.rpc("evm_setIntervalMining", [0]);
      await sandbox.chain.setAutomine(true);
    });
    expect(await counters()).toEqual({ runs: 200, debits: 200, bodies: 200 });
    const receipts = all.map((got) => JSON.parse(atob(String(got?.headers["payment-response"]))));
    expect(receipts.map(({ payer }) => payer)).toEqual(buyers.map(({ address }) => address));
    expect(new Set(receipts.map(({ transaction }) => transaction)).size).toBe(200);
  }, 120_000);

  it("a replay after success: the kept answer with the retry key, 409 without, 402 on another route", async () => {
    await open();
    const payment = await sign("/report", KEY);
    expect((await buy(payment))?.status).toBe(200);
    const kept = await buy(payment);
    expect([kept?.status, kept?.body, kept?.headers["payment-replayed"]]).toEqual([200, "the goods", "true"]);
    const stranger = await send(`${seller.url}/report`, { headers: stripKey(payment) });
    expect([stranger?.status, stranger?.json.code]).toEqual([409, "payment_already_used"]);
    const other = await buy(payment, "/other");
    expect([other?.status, other?.json.code]).toEqual([402, "payment_used_elsewhere"]);
    const method = await buy(payment, "/report", { method: "POST", body: "x" });
    expect([method?.status, method?.json.code]).toEqual([402, "payment_used_elsewhere"]);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 2 });
  });

  it("a handler that fails twice and then works, with one proof: one debit", async () => {
    await open();
    seller.handler = ({ count }) => (count < 3 ? { status: 503, body: "sorry" } : { status: 200, body: "the goods" });
    const payment = await sign();
    const statuses = [];
    for (let round = 0; round < 3; round += 1) statuses.push((await buy(payment))?.status);
    expect(statuses).toEqual([503, 503, 200]);
    expect(await counters()).toEqual({ runs: 3, debits: 1, bodies: 1 });
    expect(seller.runs.map((run) => run?.run)).toEqual([1, 2, 3]);
  });

  it("a handler that throws: 500, no debit, and the proof is still good", async () => {
    await open();
    seller.handler = ({ count }) => {
      if (count === 1) throw new Error("boom");
      return { status: 200, body: "the goods" };
    };
    const payment = await sign();
    expect((await buy(payment))?.status).toBe(500);
    expect(await debits()).toBe(0);
    expect((await buy(payment))?.status).toBe(200);
    expect(await counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
  });

  it("upfront: one debit before the handler, which may fail and run again without another", async () => {
    await open();
    const debitsSeen: number[] = [];
    seller.handler = async ({ count }) => {
      debitsSeen.push(await debits());
      return count === 1 ? { status: 500, body: "sorry" } : { status: 200, body: "the goods" };
    };
    const payment = await sign("/upfront");
    const failed = await buy(payment, "/upfront");
    expect(failed?.status).toBe(500);
    expect(JSON.parse(atob(String(failed?.headers["payment-response"])))).toMatchObject({ success: true });
    expect((await buy(payment, "/upfront"))?.status).toBe(200);
    expect(debitsSeen).toEqual([1, 1]);
    expect(await counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
  });

  it.each(["OPTIONS", "HEAD"])("%s never runs the handler, with and without a proof", async (method) => {
    await open();
    const payment = await sign();
    for (const headers of [{}, payment.headers]) {
      const got = await send(`${seller.url}/report`, { method, headers });
      expect([got?.status, got?.body]).toEqual([method === "HEAD" ? 402 : 204, ""]);
    }
    expect(await counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
  });

  describe("a client that leaves", () => {
    const gate = () => {
      let open = () => {};
      const opened = new Promise<void>((resolve) => (open = resolve));
      return { open, opened };
    };
    /** Waits until nobody is at work on the payment any more, without asking for it: by a stranger's request. */
    const idle = async (payment: SignedPayment): Promise<void> => {
      for (;;) {
        const got = await send(`${seller.url}/report`, { headers: stripKey(payment) });
        if (got?.json.code !== "payment_in_progress") return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    /** The same payment again until the paywall has noticed the loss. */
    const collect = async (payment: SignedPayment): Promise<Got | undefined> => {
      for (let tries = 0; tries < 100; tries += 1) {
        const got = await buy(payment);
        if (got?.status !== 409 && got?.status !== 503) return got;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error("the goods never came");
    };

    it("before the handler has begun loses nothing: its retry gets the goods, one debit", async () => {
      await open();
      const payment = await sign("/report", KEY);
      await buy(payment, "/report", { leave: Promise.resolve() });
      expect((await collect(payment))?.body).toBe("the goods");
      expect(await debits()).toBe(1);
    });

    it("during the handler is still charged for the answer, which its retry gets", async () => {
      await open();
      const { open: finish, opened } = gate();
      seller.handler = async () => {
        await opened;
        return { status: 200, body: "the goods" };
      };
      const payment = await sign("/report", KEY);
      const first = buy(payment, "/report", { leave: seller.ran(1) });
      await first;
      finish();
      expect((await collect(payment))?.body).toBe("the goods");
      expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    });

    it("while the answer is on its way, again and again, is sent it at most three times and charged once", async () => {
      await open();
      seller.handler = () => ({ status: 200, body: "x".repeat(900_000) });
      const payment = await sign("/report", KEY);
      const heads: (number | undefined)[] = [];
      for (let round = 0; round < 6; round += 1) {
        heads.push(await cutAfterHead(`${seller.url}/report`, payment));
        await idle(payment);
      }
      expect(heads.filter((status) => status === 200).length).toBeLessThanOrEqual(3);
      expect(heads.at(-1)).toBe(409);
      expect(await debits()).toBe(1);
    });

    it("during the settlement is charged once, and its retry gets the goods", async () => {
      await open();
      await sandbox.chain.setAutomine(false);
      try {
        const payment = await sign("/report", KEY);
        const { open: leave, opened } = gate();
        const first = buy(payment, "/report", { leave: opened });
        await seller.ran(1);
        await pendingTransaction(sandbox);
        leave();
        await first;
        await sandbox.chain.setAutomine(true);
        await sandbox.chain.mine();
        expect((await collect(payment))?.body).toBe("the goods");
        expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
      } finally {
        await sandbox.chain.setAutomine(true);
      }
    });
  });

  it("a stranger who rebuilds the payment from the chain's calldata gets nothing that was delivered", async () => {
    await open();
    const payment = await sign("/report", KEY);
    await buy(payment);
    const rebuilt = await rebuiltFromChain(sandbox, payment);
    const got = await send(`${seller.url}/report`, { headers: rebuilt });
    expect([got?.status, got?.json.code]).toEqual([409, "payment_already_used"]);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
  });

  it("a proof that was used on the chain before this store saw it gets nothing", async () => {
    await open();
    const payment = await sign();
    expect((await buy(payment))?.status).toBe(200);
    await seller.close();
    await open();
    const got = await buy(payment);
    expect([got?.status, got?.json.code]).toEqual([409, "payment_already_used"]);
    expect(got?.headers["payment-required"]).toBeUndefined();
    expect(await counters()).toEqual({ runs: 0, debits: 0, bodies: 0 });
  });

  it("an outsider who submits our claimed authorization first has paid for us: the buyer gets the goods", async () => {
    await open();
    const payment = await sign();
    seller.handler = async () => {
      await submit(sandbox, payment);
      return { status: 200, body: "the goods" };
    };
    expect((await buy(payment))?.status).toBe(200);
    expect(await counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
  });
});
