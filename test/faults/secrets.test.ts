// Secrets: after purchases that went right and wrong in every way, with every log level on, no signature, nonce, API key or
// settler key stands in a log line, an event or an answer to a stranger.
import { afterAll, beforeAll, expect, it } from "vitest";
import * as onExpress from "../../adapters/express.js";
import type { EventName } from "../../src/events.js";
import { facilitator } from "../../src/receive/facilitator.js";
import { memoryStore } from "../../src/store/memory.js";
import { createSandbox, type Sandbox, type SignedPayment } from "../../src/testing/index.js";
import { startSeller } from "../e2e/seller.js";
import { answer, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { ask, signFor } from "./buyer.js";
import { PAY_TO, RETRY_KEY, recorder } from "./market.js";

const API_KEY = "secret-api-key-7f3a9c";
const EVENTS: readonly EventName[] = [
  ...(["challenge", "refusal", "verified", "claimed", "released", "settled"] as const),
  ...(["refused", "unknown", "delivered", "undelivered", "replayed"] as const),
];

let sandbox: Sandbox;
let rpc: ScriptedRpc;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
});
afterAll(async () => {
  await rpc.close();
  await sandbox.close();
});

/** Whatever must not be found, in every spelling in which it could stand. */
function expectNoSecret(text: string, payments: readonly SignedPayment[]): void {
  const lower = text.toLowerCase();
  const secrets = payments.flatMap(({ signature, message, value }) => [
    signature.slice(2),
    signature.slice(2, 66),
    message.nonce.slice(2),
    value.toLowerCase(),
  ]);
  for (const secret of [...secrets, API_KEY, sandbox.settlerKey.slice(2), RETRY_KEY]) {
    expect(lower.includes(secret), `${secret.slice(0, 12)}… stands in the log`).toBe(false);
  }
}

it.each(["Express 5", "Hono"] as const)(
  "A7: a run at debug level against a chain on %s leaves no secret behind",
  async (framework) => {
    const log: string[] = [];
    const { logger, payments, seller, url } = await selling();
    rpc.script("eth_getTransactionReceipt", fault.lie(null), 2);
    await buy();
    await buy({ signature: `0x${"11".repeat(65)}` });
    await buy({ overrides: { validBefore: 1n } });
    await buy({ overrides: { value: 1n } });
    rpc.script("*", fault.resetBefore(), 1000);
    await buy();
    rpc.clear();
    seller.handler = () => {
      throw new Error("the handler's own words");
    };
    const failed = await buy();
    seller.handler = () => ({ status: 200, body: "the goods" });
    await ask(url, { headers: failed.headers });
    await ask(url, { headers: failed.headers });
    await sandbox.token.setFeeBasisPoints(100);
    await buy();
    await sandbox.token.setFeeBasisPoints(0);
    await ask(url, { headers: { "X-PAYMENT": `${failed.value}AAAA` } });
    await seller.close();
    expect(log.length).toBeGreaterThan(5);
    expectNoSecret(log.join("\n"), payments);

    async function selling() {
      const logger = recorder(log);
      const receive = sandbox.receive({ rpcUrl: rpc.url, settler: sandbox.settlerKey });
      const started = await startSeller(framework, { payTo: sandbox.payTo, network: "base-sepolia", receive, logger });
      await started.ready();
      const signed: SignedPayment[] = [];
      return { logger, payments: signed, seller: started, url: `${started.url}/report` };
    }
    async function buy(parts: Parameters<typeof signFor>[1] = {}) {
      const payment = await signFor(url, { account: await sandbox.newBuyer(), retryKey: RETRY_KEY, ...parts });
      payments.push(payment);
      const got = await ask(url, payment);
      logger.debug("what the buyer got", { status: got.status });
      return payment;
    }
  },
  120_000,
);

it("A7: a run at debug level against a facilitator with an API key leaves no secret in logs, events or refusals", async () => {
  const { createServer } = await import("node:http");
  const { default: express } = await import("express");
  const log: string[] = [];
  const logger = recorder(log);
  const remote = await startScriptedFacilitator();
  const headers = { authorization: `Bearer ${API_KEY}` };
  const receive = facilitator({ url: remote.url, headers, timeoutMs: 500, logger });
  const pay = onExpress.createPaywall({
    payTo: PAY_TO,
    network: "base-sepolia",
    receive,
    logger,
    store: memoryStore(),
  });
  for (const name of EVENTS) pay.on(name, (facts) => logger.debug(name, facts));
  const app = express();
  app.get("/report", pay("$0.01"), (_req, res) => void res.send("the goods"));
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/report`;
  await pay.ready();

  const payments: SignedPayment[] = [];
  const echo = { error: `Bearer ${API_KEY}` };
  const faults = [answer.status(401), answer.html(), answer.reset(), answer.hang(), answer.json(echo, 500)];
  for (const endpoint of ["verify", "settle"] as const) {
    for (const broken of [...faults, answer.honest(), answer.cutOff()]) {
      remote.script(endpoint, broken);
      const payment = await signFor(url, { retryKey: RETRY_KEY });
      payments.push(payment);
      const got = await ask(url, payment);
      logger.debug("the buyer's answer", { body: got.body });
      logger.debug("a repeat's answer", { body: (await ask(url, payment)).body });
    }
  }
  expect(remote.requests.some((request) => request.headers.authorization === `Bearer ${API_KEY}`)).toBe(true);
  await pay.close();
  await receive.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await remote.close();
  expect(log.filter((line) => line.startsWith("settled ")).length).toBeGreaterThan(0);
  expectNoSecret(log.join("\n"), payments);
}, 60_000);
