// What a Worker finds out about a payment whose outcome it does not know. Its timers and connections end with the request that began
// them, so its buyer makes it be looked up by asking again, and no lookup that died with another request stands in the way.
import { connect } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSandbox, pay, readChallenge, type Sandbox, signPayment } from "../../src/testing/index.js";
import { type Bundle, bundle } from "../support/bundle.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { type RunningWorker, startWorkerd } from "../support/workerd.js";

let sandbox: Sandbox;
let rpc: ScriptedRpc;
let code: Bundle;
let shop: RunningWorker;
beforeAll(async () => {
  [sandbox, code] = await Promise.all([createSandbox(), bundle({ file: "test/runtimes/shop.ts" })]);
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  const settling = { RPC_URL: rpc.url, SETTLER_KEY: sandbox.settlerKey, SETTLE_MS: "5000" };
  shop = await startWorkerd(code, { PAY_TO: sandbox.payTo, ...settling });
});
afterAll(async () => {
  await shop?.stop();
  await rpc?.close();
  code?.remove();
  await sandbox?.close();
});

/** A payment that is signed, and sent as often as a test likes. */
async function sign() {
  const challenge = await readChallenge(await fetch(`${shop.url}/report`), 2);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("no offer");
  const account = await sandbox.newBuyer();
  const { headers } = await signPayment({ account, offer, version: 2, challenge, retryKey: "retry-key-0123456789" });
  return { account, headers, send: () => fetch(`${shop.url}/report`, { headers }) };
}

/** Sends it, and is gone without a word while the node keeps the shop waiting. */
async function sendAndDie(headers: Readonly<Record<string, string>>): Promise<void> {
  rpc.script("*", fault.hang(), 1);
  const before = rpc.count();
  const socket = connect(Number(new URL(shop.url).port), "127.0.0.1");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write(["GET /report HTTP/1.1", "Host: shop.example", ...lines, "", ""].join("\r\n"));
  await expect.poll(() => rpc.count()).toBeGreaterThan(before);
  socket.resetAndDestroy();
  rpc.clear();
}

/** The debit has happened, and the shop has not seen it. */
async function payUnseen() {
  const { account, headers, send } = await sign();
  rpc.script("eth_getTransactionReceipt", fault.lie(null), Number.POSITIVE_INFINITY);
  const lost = await send();
  expect([lost.status, ((await lost.json()) as { code?: string }).code]).toEqual([503, "settlement_unknown"]);
  rpc.clear();
  return { payer: account.address, headers, send };
}

const debits = async () => (await sandbox.token.transfers({ to: sandbox.seller })).length;
const listed = async () => (await (await fetch(`${shop.url}/payments`)).json()) as string[];

it("a buyer who asks again gets the goods for the one debit", { timeout: 60_000 }, async () => {
  const before = await debits();
  const { payer, send } = await payUnseen();
  await expect.poll(async () => (await send()).status, { timeout: 30_000, interval: 500 }).toBe(200);
  expect(await listed()).toContain(`${payer} settled`);
  expect((await debits()) - before).toBe(1);
});

it("a lookup that the runtime has let die with somebody's request keeps its buyer from nothing", {
  timeout: 90_000,
}, async () => {
  const before = await debits();
  const { payer, send } = await payUnseen();
  expect(await listed()).toContain(`${payer} unknown`);
  // The round of that request counts as dead now, so each of these may begin another one that ends with its request.
  for (let count = 0; count < 3; count += 1) {
    await fetch(`${shop.url}/later/125000`, { method: "POST" });
    const { response } = await pay(`${shop.url}/report`, {}, { account: await sandbox.newBuyer(), version: 2 });
    expect(response.status).toBe(200);
  }
  await expect.poll(async () => (await send()).status, { timeout: 30_000, interval: 500 }).toBe(200);
  expect((await debits()) - before).toBe(4);
});

it("a buyer whose connection broke while his payment was looked up gets the goods by his next tries", {
  timeout: 60_000,
}, async () => {
  const before = await debits();
  const { headers, send } = await payUnseen();
  // A payment is looked up once a second at most.
  await after(1_200);
  await sendAndDie(headers);
  await expect.poll(async () => (await send()).status, { timeout: 40_000, interval: 500 }).toBe(200);
  expect((await debits()) - before).toBe(1);
});

it("and so does one whose connection broke while his payment was verified", { timeout: 60_000 }, async () => {
  const before = await debits();
  const { headers, send } = await sign();
  await sendAndDie(headers);
  await expect.poll(async () => (await send()).status, { timeout: 40_000, interval: 500 }).toBe(200);
  expect((await debits()) - before).toBe(1);
});
