// The promises of a paywall, on Solana, over sockets, with the real programs: one payment one debit one grant, whatever the
// copies, losses and strangers.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Money, usdcOnSolana } from "./money.js";
import { type Framework, type Got, send } from "./seller.js";
import { openWorld, receiptOf, type TransactionPayment, type World, withoutKey, withPayload } from "./world.js";

const FRAMEWORKS: readonly Framework[] = ["Express 5", "Hono"];
const KEY = "retry-key-0123456789";
const PRICE = 10_000n;
/** Two signatures, and 20,000 units at a millionth of a lamport each, rounded up. */
const NETWORK_FEE = 10_001n;
/** What a settlement on Solana may take. */
const BOUND_MS = 3_000;
/** With what the guard waits beyond it, and what a busy machine is late: far from the minute for which a blockhash lives. */
const ANSWERED_MS = BOUND_MS + 12_000;

const transactionOf = ({ bytes }: TransactionPayment) => Buffer.from(bytes);
const tally = (all: readonly Got[]) => {
  const counts = new Map<number, number>();
  for (const { status } of all) counts.set(status, (counts.get(status) ?? 0) + 1);
  return Object.fromEntries(counts);
};

/** The same payment again until nobody is at work on it and its outcome is known. */
async function insist(world: World, payment: TransactionPayment): Promise<Got> {
  for (let tries = 0; tries < 400; tries += 1) {
    const got = await world.buy(payment);
    const working = got.json.code === "payment_in_progress" || got.json.code === "settlement_unknown";
    if (!working) return got;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("nobody ever knew what became of the payment");
}

describe.each(FRAMEWORKS)("on %s", (framework) => {
  let sandbox: SolanaSandbox;
  let money: Money;
  beforeAll(async () => {
    sandbox = await createSolanaSandbox();
    money = usdcOnSolana(sandbox);
  });
  afterAll(() => sandbox?.close());

  it.each([1, 2] as const)(
    "a payment of version %i moves exactly the price, and costs the fee payer the network fee and nothing else",
    async (version) => {
      const world = await openWorld(framework, money);
      const feePayer = sandbox.feePayer.publicKey.toBase58();
      const before = await sandbox.balances(feePayer);
      const payment = await world.sign({ version });
      const got = await world.buy(payment);
      expect([got.status, got.body]).toEqual([200, "the goods"]);

      const { transaction, payer, ...receipt } = receiptOf(got);
      expect(receipt).toMatchObject({ success: true, network: version === 1 ? "solana-devnet" : sandbox.caip2 });
      const moved = await sandbox.token.transfers({ to: world.payTo });
      expect(moved).toMatchObject([{ from: payer, value: PRICE, transaction }]);
      expect(await sandbox.balances(String(payer))).toEqual({ lamports: 10n ** 10n, usdc: 10n ** 9n - PRICE });
      expect(await sandbox.balances(world.payTo)).toEqual({ lamports: 0n, usdc: PRICE });
      expect(await sandbox.balances(feePayer)).toEqual({ lamports: before.lamports - NETWORK_FEE, usdc: 0n });
      expect(world.seller.runs[0]).toMatchObject({ payer, amount: PRICE, asset: sandbox.usdc, run: 1 });
      await world.close();
    },
  );

  it("20 copies at once through two guards that share a store: one run, one debit, one body", async () => {
    const one = await openWorld(framework, money);
    const two = await openWorld(framework, money, { payTo: one.payTo, store: one.store });
    const payment = await one.sign();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, copy) => (copy % 2 === 0 ? one : two).buy(payment, "/report")),
    );
    expect(tally(all)).toEqual({ 200: 1, 409: 19 });
    const [first, second] = await Promise.all([one.counters(), two.counters()]);
    expect([first.runs + second.runs, first.debits, first.bodies + second.bodies]).toEqual([1, 1, 1]);
    await Promise.all([one.close(), two.close()]);
  });

  it("100 different payments at once: 100 runs, 100 debits, 100 bodies, each receipt its payer's own", async () => {
    const world = await openWorld(framework, money);
    const payments = await Promise.all(Array.from({ length: 100 }, () => world.sign()));
    const all = await Promise.all(payments.map((payment) => world.buy(payment)));
    expect(tally(all)).toEqual({ 200: 100 });
    expect(await world.counters()).toEqual({ runs: 100, debits: 100, bodies: 100 });
    const receipts = all.map(receiptOf);
    const moved = await sandbox.token.transfers({ to: world.payTo });
    const pairs = (list: readonly (readonly unknown[])[]) => list.map((pair) => pair.join(" ")).sort();
    expect(pairs(receipts.map(({ payer, transaction }) => [payer, transaction]))).toEqual(
      pairs(moved.map(({ from, transaction }) => [from, transaction])),
    );
    await world.close();
  }, 120_000);

  it("50 variants of one payment with other bytes in the fee payer's slot: one grant (A20)", async () => {
    const world = await openWorld(framework, money);
    const payment = await world.sign();
    const variants = Array.from({ length: 50 }, (_, variant) => {
      const bytes = transactionOf(payment);
      for (let at = 1; at <= 64; at += 1) bytes[at] = (at * 37 + variant * 101) & 255;
      return { headers: withPayload(payment.headers, { transaction: bytes.toString("base64") }) };
    });
    const all = await Promise.all(variants.map((variant) => world.buy(variant)));
    expect(tally(all)).toEqual({ 200: 1, 409: 49 });
    for (const variant of variants.slice(0, 5)) expect((await world.buy(variant)).status).toBe(409);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
  });

  it("a stranger with a copy of a settled payment gets nothing: here, elsewhere, and after a restart", async () => {
    const world = await openWorld(framework, money);
    const payment = await world.sign({ retryKey: KEY });
    expect((await world.buy(payment)).status).toBe(200);
    const stranger = { headers: withoutKey(payment.headers) };
    const same = await world.buy(stranger);
    expect([same.status, same.json.code]).toEqual([409, "payment_already_used"]);
    const elsewhere = await world.buy(stranger, "/other");
    expect([elsewhere.status, elsewhere.json.code]).toEqual([402, "payment_used_elsewhere"]);
    const restarted = await openWorld(framework, money, { payTo: world.payTo });
    const later = await restarted.buy(stranger);
    expect([later.status, later.json.code]).toEqual([409, "payment_already_used"]);
    expect(later.headers["payment-required"]).toBeUndefined();
    expect(await restarted.counters()).toEqual({ runs: 0, debits: 1, bodies: 0 });
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await Promise.all([world.close(), restarted.close()]);
  });

  it("a client that left during the handler gets the answer with its retry key, and is charged once", async () => {
    const world = await openWorld(framework, money);
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    world.seller.handler = async () => {
      await finished;
      return { status: 200, body: "the goods" };
    };
    const payment = await world.sign({ retryKey: KEY });
    const url = `${world.seller.url}/report`;
    await send(url, { headers: payment.headers, leave: world.seller.ran(1) });
    finish();
    const got = await insist(world, payment);
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    const again = await world.buy(payment);
    expect([again.status, again.body, again.headers["payment-replayed"]]).toEqual([200, "the goods", "true"]);
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 2 });
    await world.close();
  });

  it("a handler that fails costs nothing, and the payment is still good while its blockhash lives", async () => {
    const world = await openWorld(framework, money);
    world.seller.handler = ({ count }) =>
      count === 1 ? { status: 503, body: "sorry" } : { status: 200, body: "the goods" };
    const payment = await world.sign();
    expect((await world.buy(payment)).status).toBe(503);
    expect((await world.counters()).debits).toBe(0);
    expect((await world.buy(payment)).status).toBe(200);
    expect(await world.counters()).toEqual({ runs: 2, debits: 1, bodies: 1 });
    await world.close();
  });
});

describe.concurrent("a transaction that the network swallows", () => {
  /** A world on a chain of its own, because its chain is disturbed. */
  const disturbed = async (disturb: (sandbox: SolanaSandbox) => void) => {
    const sandbox = await createSolanaSandbox();
    const receive = sandbox.receive({ settleMs: BOUND_MS });
    const world = await openWorld("Express 5", usdcOnSolana(sandbox), { receive });
    const payment = await world.sign({ retryKey: KEY });
    world.seller.handler = ({ count }) => {
      if (count === 1) disturb(sandbox);
      return { status: 200, body: "the goods" };
    };
    const begun = Date.now();
    const got = await world.buy(payment);
    return { sandbox, world, payment, got, ms: Date.now() - begun };
  };

  it("is unknown within the bound, and gets the goods once it has landed after all", async () => {
    const { sandbox, world, payment, got, ms } = await disturbed(({ chain }) => chain.pause());
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect(ms).toBeLessThan(ANSWERED_MS);
    expect(got.headers["payment-required"]).toBeUndefined();
    const pending = receiptOf(got);
    expect(pending).toMatchObject({ success: false, errorReason: "settlement_pending" });
    sandbox.chain.resume();
    const later = await insist(world, payment);
    expect([later.status, later.body]).toEqual([200, "the goods"]);
    expect(receiptOf(later)).toMatchObject({ success: true, transaction: pending.transaction });
    expect(await world.counters()).toEqual({ runs: 1, debits: 1, bodies: 1 });
    await world.close();
    await sandbox.close();
  }, 90_000);

  it("is unknown within the bound, and cleanly refused once it can never land: no debit, no goods", async () => {
    const { sandbox, world, payment, got, ms } = await disturbed(({ chain }) => chain.dropTransactions(1_000));
    expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
    expect(ms).toBeLessThan(ANSWERED_MS);
    sandbox.chain.advanceSlots(400);
    const later = await insist(world, payment);
    expect([later.status, later.json.code]).toEqual([402, "payment_expired"]);
    expect(await world.counters()).toEqual({ runs: 1, debits: 0, bodies: 0 });
    await world.close();
    await sandbox.close();
  }, 90_000);
});
