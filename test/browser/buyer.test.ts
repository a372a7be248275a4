// A page of one origin buys at a seller of another, in a real Chromium: what CORS permits, what is exposed, and what is not sent.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Browser, Page } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createPaywall } from "../../adapters/express.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { type Bundle, bundle } from "../support/bundle.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import type { Errand, Outcome } from "./page.js";

const skipped = reasonToSkip();
const PRICE = 10_000n;

let sandbox: Sandbox;
let browser: Browser;
let script: Bundle;
let origin: string;
let page: Page;
/** Every request that reached a seller, in order, as it came: the paywall takes the payment's headers away. */
let seen: { readonly method: string | undefined; readonly headers: IncomingHttpHeaders }[];
const see = ({ method, headers }: IncomingMessage) => seen.push({ method, headers: { ...headers } });

/** Until the end of the file, or of the test where it asks for that. */
async function serve(listener: RequestListener): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close().closeAllConnections() };
}

const closing: (() => unknown)[] = [];
beforeAll(async () => {
  if (skipped) return;
  [sandbox, browser, script] = await Promise.all([
    createSandbox(),
    startChromium(),
    bundle({ file: "test/browser/page.ts" }, { script: true, conditions: ["browser"] }),
  ]);
  const code = readFileSync(script.entry);
  const site = await serve((req, res) => {
    res.setHeader("content-type", req.url === "/entry.js" ? "text/javascript" : "text/html");
    res.end(
      req.url === "/entry.js" ? code : '<!doctype html><title>shop window</title><script src="/entry.js"></script>',
    );
  });
  origin = site.origin;
  closing.push(() => site.close());
}, 60_000);
afterAll(async () => {
  for (const close of closing) close();
  script?.remove();
  await Promise.all([browser?.close(), sandbox?.close()]);
});

beforeEach(async () => {
  if (skipped) return;
  seen = [];
  page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(origin);
});

const buy = (errand: Errand): Promise<Outcome> =>
  page.evaluate(
    (given) => (globalThis as unknown as { bundled: typeof import("./page.js") }).bundled.buy(given),
    errand,
  );

/** The example seller of the README, whose pages of `origins` may pay. */
async function openShop(origins: readonly string[] = [origin]): Promise<string> {
  const pay = createPaywall({
    payTo: sandbox.payTo,
    network: sandbox.network,
    receive: sandbox.receive(),
    cors: { origins: [...origins] },
  });
  const app = express();
  app.use((req, _res, next) => {
    see(req);
    next();
  });
  app.use(pay.routes({ "/report": "$0.01" }));
  app.all("/report", express.json(), (req, res) => {
    res.json({ report: "Sales went up by 4 %.", got: req.body ?? null });
  });
  await pay.ready();
  const shop = await serve(app);
  onTestFinished(async () => {
    shop.close();
    await pay.close();
  });
  return `${shop.origin}/report`;
}

async function newBuyer() {
  const evmKey = generatePrivateKey();
  const { address } = privateKeyToAccount(evmKey);
  await sandbox.token.mint(address, 1_000_000n);
  const debits = async () => (await sandbox.token.transfers({ from: address })).map(({ value }) => value);
  return { evmKey, debits };
}

const paidRequests = () => seen.filter(({ headers }) => headers["payment-signature"] ?? headers["x-payment"]);

describe.skipIf(skipped)("a page of another origin", { timeout: 30_000 }, () => {
  it("pays a GET, and reads the receipt that the seller exposes", async () => {
    const [url, { debits, ...buyer }] = [await openShop(), await newBuyer()];
    const outcome = await buy({ url, ...buyer });
    expect(outcome).toMatchObject({ status: 200, body: expect.stringContaining("4 %") });
    expect(outcome.transactions).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
    expect(await debits()).toEqual([PRICE]);
  });

  it("pays a POST, whose body arrives unchanged, with an account behind an injected provider", async () => {
    const [url, { debits, ...buyer }] = [await openShop(), await newBuyer()];
    const init = { method: "POST", body: '{"q":"ä"}', headers: { "Content-Type": "application/json" } };
    const outcome = await buy({ url, init, ...buyer, injected: true });
    expect(outcome).toMatchObject({ status: 200, body: expect.stringContaining('"got":{"q":"ä"}') });
    expect(await debits()).toEqual([PRICE]);
  });

  it("sends no header that the seller's answer to the preflight might not permit", async () => {
    const url = await openShop();
    const { debits, ...buyer } = await newBuyer();
    expect((await buy({ url, ...buyer })).status).toBe(200);
    const [paid] = paidRequests();
    expect(paid?.headers).not.toHaveProperty("idempotency-key");
    // The retry key travels inside the payment.
    const proof: unknown = JSON.parse(Buffer.from(`${paid?.headers["payment-signature"]}`, "base64").toString());
    expect(proof).toMatchObject({ extensions: { "payment-identifier": { info: { id: expect.any(String) } } } });
    expect(await debits()).toEqual([PRICE]);
  });

  it("asks a free API as fetch would: no preflight, no header of ours", async () => {
    const shop = await serve((req, res) => {
      see(req);
      res.setHeader("access-control-allow-origin", origin);
      res.end("free");
    });
    onTestFinished(() => shop.close());
    const url = `${shop.origin}/free`;
    const { debits: _, ...buyer } = await newBuyer();
    expect(await buy({ url, ...buyer, init: {} })).toMatchObject({ status: 200, body: "free" });
    await page.evaluate((given) => fetch(given), url);
    const [ours, plain] = seen;
    expect(seen).toHaveLength(2);
    expect(ours).toEqual(plain);
  });

  it("signs nothing for a seller who does not let this origin read", async () => {
    const url = await openShop(["https://elsewhere.example"]);
    const { debits, ...buyer } = await newBuyer();
    expect(await buy({ url, ...buyer })).toEqual({ error: expect.stringContaining("TypeError"), transactions: [] });
    expect(paidRequests()).toEqual([]);
    expect(await debits()).toEqual([]);
  });

  it("does not follow where a paid answer leads, because a page cannot see where: the same payment goes out again next time", async () => {
    const url = await openShop();
    let redirects = 1;
    const door = await serve((req, res) => {
      // In front of the seller: the first paid answer becomes a redirect, as a misconfigured proxy makes it.
      const isPaid = req.headers["payment-signature"] !== undefined;
      if (isPaid && redirects-- > 0) return void res.writeHead(302, { location: "/elsewhere", ...cors }).end();
      const headers = { ...req.headers, host: undefined } as unknown as Record<string, string>;
      if (isPaid) see(req);
      void fetch(url, { method: req.method ?? "GET", headers }).then(async (answer) => {
        res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
      });
    });
    const cors = { "access-control-allow-origin": origin, "access-control-expose-headers": "PAYMENT-RESPONSE" };
    onTestFinished(() => door.close());
    const { debits, ...buyer } = await newBuyer();
    const through = { url: `${door.origin}/report`, ...buyer };
    expect(await buy(through)).toMatchObject({ error: "outcome_unknown unknown" });
    expect(await buy(through)).toMatchObject({ status: 200 });
    expect(await debits()).toEqual([PRICE]);
  });
});
