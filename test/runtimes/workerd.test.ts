// The Hono paywall in Cloudflare's runtime itself, without nodejs_compat: it answers 402, judges proofs, settles and serves.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createSandbox, pay, readChallenge, type Sandbox, signPayment } from "../../src/testing/index.js";
import { type Bundle, bundle } from "../support/bundle.js";
import { startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { type RunningWorker, startWorkerd } from "../support/workerd.js";

let sandbox: Sandbox;
let code: Bundle;
let shop: RunningWorker;
beforeAll(async () => {
  [sandbox, code] = await Promise.all([createSandbox(), bundle({ file: "test/runtimes/shop.ts" })]);
});
afterAll(async () => {
  code?.remove();
  await sandbox?.close();
});

async function open(receive: Record<string, string>): Promise<RunningWorker> {
  const worker = await startWorkerd(code, { PAY_TO: sandbox.payTo, ...receive });
  onTestFinished(worker.stop);
  return worker;
}

describe("F101: the core and the Hono adapter in workerd, settling on a chain", () => {
  beforeEach(async () => {
    shop = await open({ RPC_URL: sandbox.rpcUrl, SETTLER_KEY: sandbox.settlerKey });
  });

  it("run where there is no process and no Buffer", async () => {
    const runtime = await fetch(`${shop.url}/runtime`);
    expect(await runtime.json()).toEqual({ hasProcess: false, hasBuffer: false });
  });

  it("answer 402 in both versions, and take a payment of each", async () => {
    const unpaid = await fetch(`${shop.url}/report`);
    expect(unpaid.status).toBe(402);
    expect((await readChallenge(unpaid.clone(), 2)).accepts).toHaveLength(1);
    expect((await readChallenge(unpaid, 1)).accepts).toHaveLength(1);
    for (const version of [1, 2] as const) {
      const account = await sandbox.newBuyer();
      const before = await sandbox.token.balanceOf(sandbox.seller);
      const { response } = await pay(`${shop.url}/report`, {}, { account, version });
      expect([response.status, await response.json()]).toEqual([200, { payer: account.address, run: 1 }]);
      expect((await sandbox.token.balanceOf(sandbox.seller)) - before).toBe(10_000n);
    }
  });

  it("give the handler the body of a paid POST", async () => {
    const account = await sandbox.newBuyer();
    const { response } = await pay(`${shop.url}/echo`, { method: "POST", body: "hello" }, { account, version: 2 });
    expect(await response.text()).toBe("hello for 20000");
  });

  it("refuse a signature of another key, and a payment that was used", async () => {
    const [account, other] = await sandbox.newBuyers(2);
    const challenge = await readChallenge(await fetch(`${shop.url}/report`), 2);
    const offer = challenge.accepts[0]!;
    const good = await signPayment({ account: account!, offer, version: 2, challenge });
    const forged = await signPayment({
      account: other!,
      offer,
      version: 2,
      challenge,
      overrides: { from: account!.address },
    });
    const send = async (headers: Record<string, string>) => {
      const response = await fetch(`${shop.url}/report`, { headers });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    expect(await send(forged.headers)).toEqual([402, "signature_invalid"]);
    expect(await send(good.headers)).toEqual([200, undefined]);
    expect(await send(good.headers)).toEqual([409, "payment_already_used"]);
  });

  it("serve buyers that come at once, each for his own payment", async () => {
    const accounts = await sandbox.newBuyers(12);
    const paid = await Promise.all(accounts.map((account) => pay(`${shop.url}/report`, {}, { account, version: 2 })));
    const payers = await Promise.all(paid.map(({ response }) => response.json()));
    expect(payers).toEqual(accounts.map(({ address }) => ({ payer: address, run: 1 })));
  });
});

describe("a paywall whose requests end while something runs", () => {
  it("is ready for the first payment although the request that began the checks is gone", async () => {
    shop = await open({ RPC_URL: sandbox.rpcUrl, SETTLER_KEY: sandbox.settlerKey });
    // This request opens the shop, which begins the checks, and is answered before they can end: the runtime drops them.
    const challenge = await readChallenge(await fetch(`${shop.url}/report`), 2);
    const payment = await signPayment({
      account: await sandbox.newBuyer(),
      offer: challenge.accepts[0]!,
      version: 2,
      challenge,
    });
    const answer = await fetch(`${shop.url}/report`, { headers: payment.headers });
    expect(answer.status).toBe(200);
  });

  it("is ready through a facilitator too, and when it was opened outside of any request", async () => {
    const service = await startScriptedFacilitator({ settle: settleOnChain(sandbox) });
    onTestFinished(service.close);
    const early = await bundle(
      { file: "test/runtimes/early-shop.ts" },
      { define: { FACILITATOR_URL: service.url, PAY_TO: sandbox.payTo } },
    );
    onTestFinished(early.remove);
    const worker = await startWorkerd(early);
    onTestFinished(worker.stop);
    for (const { url } of [worker, await open({ FACILITATOR_URL: service.url })]) {
      const account = await sandbox.newBuyer();
      const { response } = await pay(`${url}/report`, {}, { account, version: 2 });
      expect([response.status, ((await response.json()) as { payer?: string }).payer]).toEqual([200, account.address]);
    }
  });
});
