// The published x402 clients, as their users install them, buy from real Express and Hono sellers on a local chain.
// One and the same route serves all of them; the oracle is the token's balances.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { createPaywall as createExpressPaywall } from "tollgate/express";
import { createPaywall as createHonoPaywall, type PaymentVariables } from "tollgate/hono";
import { createSandbox, type Sandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUYERS, buyWith, reasonToSkip } from "./support/published.js";

const price = 10_000n; // "$0.01" in atomic USDC
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

interface Seller {
  readonly url: string;
  readonly runs: () => number;
  close(): void;
}

/** What both sellers sell: the request as the handler saw it. */
const goods = (method: string, body: unknown, payer: string | undefined) => ({ method, body, payer });

async function startExpress(sandbox: Sandbox): Promise<Seller> {
  let runs = 0;
  const pay = createExpressPaywall(settings(sandbox));
  const app = express();
  app.all("/goods", pay("$0.01"), express.json(), (req, res) => {
    runs += 1;
    res.json(goods(req.method, req.body ?? null, req.payment?.payer));
  });
  await pay.ready();
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/goods`, runs: () => runs, close: () => void server.close() };
}

async function startHono(sandbox: Sandbox): Promise<Seller> {
  let runs = 0;
  const pay = createHonoPaywall(settings(sandbox));
  const app = new Hono<{ Variables: PaymentVariables }>();
  app.all("/goods", pay("$0.01"), async (c) => {
    runs += 1;
    const body: unknown = c.req.method === "POST" ? await c.req.json() : null;
    return c.json(goods(c.req.method, body, c.get("payment")?.payer));
  });
  await pay.ready();
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/goods`, runs: () => runs, close: () => void server.close() };
}

const settings = (sandbox: Sandbox) => ({
  payTo: sandbox.payTo,
  network: sandbox.network,
  receive: sandbox.receive(),
});

describe.skipIf(skipped).each([
  ["Express", startExpress],
  ["Hono", startHono],
] as const)("published buyers at a seller on %s", (_framework, start) => {
  let sandbox: Sandbox;
  let seller: Seller;

  beforeAll(async () => {
    sandbox = await createSandbox();
    seller = await start(sandbox);
  });
  afterAll(async () => {
    seller?.close();
    await sandbox?.close();
  });

  it.each(BUYERS)("%s pays for a GET and for a POST with a body, once each and exactly the price", async (buyer) => {
    const privateKey = generatePrivateKey();
    const { address } = privateKeyToAccount(privateKey);
    await sandbox.token.setBalances([address], 1_000_000n);
    const earnedBefore = await sandbox.token.balanceOf(sandbox.payTo);
    const runsBefore = seller.runs();

    const order = { query: "weather", days: 3 };
    const [get, post] = await buyWith(buyer, [
      { url: seller.url, method: "GET", privateKey },
      { url: `${seller.url}?page=2`, method: "POST", body: order, privateKey },
    ]);

    expect(get).toMatchObject({ status: 200, receipt: { success: true } });
    expect(JSON.parse(get!.body)).toEqual({
      method: "GET",
      body: null,
      payer: expect.stringMatching(new RegExp(address, "i")),
    });
    expect(post).toMatchObject({ status: 200, receipt: { success: true } });
    expect(JSON.parse(post!.body)).toEqual({
      method: "POST",
      body: order,
      payer: expect.stringMatching(new RegExp(address, "i")),
    });
    expect(get!.receipt?.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect(post!.receipt?.transaction).not.toBe(get!.receipt?.transaction);

    expect(seller.runs() - runsBefore).toBe(2);
    expect(await sandbox.token.balanceOf(address)).toBe(1_000_000n - 2n * price);
    expect(await sandbox.token.balanceOf(sandbox.payTo)).toBe(earnedBefore + 2n * price);
  });
});
