// A settlement on the real Solana programs whose fork is left after it was confirmed: the reconciler sends it again while its
// blockhash lives, and says that it is lost where none does any more. Nothing is granted twice. All wait at the same time.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it as plain, type TestContext, vi } from "vitest";
import type { PaywallEvents } from "../../src/events.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { usdcOnSolana } from "./money.js";
import { openWorld } from "./world.js";

const it = plain.concurrent;
const LONG = { timeout: 100_000, interval: 200 };
const PRICE = 10_000n;
const KEY = "retry-key-0123456789";

/** Time stands still but for transactions: nothing gets final by itself. */
async function openChain({ onTestFinished }: TestContext): Promise<SolanaSandbox> {
  const sandbox = await createSolanaSandbox({ slotTimeMs: 0 });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

type Name = "reconciled" | "reorganised" | "expired";

async function openSale(test: TestContext) {
  const sandbox = await openChain(test);
  const world = await openWorld("Express 5", usdcOnSolana(sandbox));
  test.onTestFinished(() => world.close());
  const told: [Name, PaywallEvents[Name]][] = [];
  const ours = ({ proofId }: PaywallEvents[Name]) => world.seller.runs.some((run) => run?.proofId === proofId);
  for (const name of ["reconciled", "reorganised", "expired"] as const) {
    const hear: Parameters<typeof subscribe>[1] = (event) => {
      const message = event as PaywallEvents[Name];
      if (ours(message)) told.push([name, message]);
    };
    subscribe(`tollgate:${name}`, hear);
    test.onTestFinished(() => void unsubscribe(`tollgate:${name}`, hear));
  }
  const debits = async () => (await sandbox.token.transfers({ to: world.payTo })).map(({ value }) => value);
  return { sandbox, world, told, debits };
}

it("is sent again while its blockhash lives, for one debit and no second delivery", async (test) => {
  const { sandbox, world, told, debits } = await openSale(test);
  const payment = await world.sign({ retryKey: KEY });
  expect((await world.buy(payment)).body).toBe("the goods");
  const [before] = await sandbox.token.transfers({ to: world.payTo });
  sandbox.chain.advanceSlots(2);
  // The fork is left before anybody has looked at the settlement for a second time.
  sandbox.chain.reorg(3);
  expect(await debits()).toEqual([]);
  await vi.waitFor(() => expect(told.map(([name]) => name)).toEqual(["reorganised", "reconciled"]), LONG);
  expect(told[1]?.[1]).toMatchObject({ outcome: "settled", how: "sent_again", transaction: before?.transaction });
  expect(await debits()).toEqual([PRICE]);
  const again = await world.buy(payment);
  expect([again.status, again.headers["payment-replayed"]]).toEqual([200, "true"]);
  expect([world.seller.runs.length, await debits()]).toEqual([1, [PRICE]]);
}, 150_000);

it("is told as lost once no blockhash of its time lives, and buys nothing more", async (test) => {
  const { sandbox, world, told, debits } = await openSale(test);
  const payment = await world.sign({ retryKey: KEY });
  expect((await world.buy(payment)).body).toBe("the goods");
  sandbox.chain.advanceSlots(2);
  sandbox.chain.reorg(3);
  sandbox.chain.advanceSlots(300);
  await vi.waitFor(() => expect(told.map(([name]) => name)).toContain("expired"), LONG);
  expect(told.find(([name]) => name === "expired")?.[1]).toMatchObject({ delivered: true });
  const again = await world.buy(payment);
  expect([again.status, again.json.code]).toEqual([402, "payment_expired"]);
  expect([world.seller.runs.length, await debits()]).toEqual([1, []]);
}, 150_000);

it("that is left while the handler runs is one debit and one grant, whether it succeeds or has to be run again", async (test) => {
  const { sandbox, world, told, debits } = await openSale(test);
  let status = 500;
  world.seller.handler = () => {
    sandbox.chain.advanceSlots(2);
    sandbox.chain.reorg(3);
    return { status, body: status === 200 ? "the goods" : "sorry" };
  };
  const payment = await world.sign({ retryKey: KEY, path: "/upfront" });
  expect((await world.buy(payment, "/upfront")).status).toBe(500);
  expect(await debits()).toEqual([]);
  await vi.waitFor(
    () =>
      expect(told).toMatchObject([
        ["reorganised", {}],
        ["reconciled", {}],
      ]),
    LONG,
  );
  expect(await debits()).toEqual([PRICE]);
  status = 200;
  world.seller.handler = () => ({ status, body: "the goods" });
  expect((await world.buy(payment, "/upfront")).body).toBe("the goods");
  expect([world.seller.runs.length, await debits()]).toEqual([2, [PRICE]]);
}, 150_000);
