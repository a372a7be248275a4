// What the published buyers buy from: one priced route for every method, on Express and on Hono, over sockets. The goods tell
// the request and the payer as the handler saw them.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import type { PaywallOptions, Price } from "tollgate";
import { createPaywall as createExpressPaywall } from "tollgate/express";
import { createPaywall as createHonoPaywall, type PaymentVariables } from "tollgate/hono";

export interface PublishedSeller {
  readonly url: string;
  /** How often the handler ran. */
  readonly runs: () => number;
  close(): void;
}
export type StartSeller = (price: Price, options: PaywallOptions) => Promise<PublishedSeller>;

/** Every seller, by the name of its framework. */
export const SELLERS: readonly (readonly [framework: string, start: StartSeller])[] = [
  ["Express", startOnExpress],
  ["Hono", startOnHono],
];

const goods = (method: string, body: unknown, payer: string | undefined) => ({ method, body, payer });

async function startOnExpress(...[price, options]: Parameters<StartSeller>): Promise<PublishedSeller> {
  let runs = 0;
  const pay = createExpressPaywall(options);
  const app = express();
  app.all("/goods", pay(price), express.json(), (req, res) => {
    runs += 1;
    res.json(goods(req.method, req.body ?? null, req.payment?.payer));
  });
  await pay.ready();
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: urlOf(server.address()), runs: () => runs, close: () => void server.close() };
}

async function startOnHono(...[price, options]: Parameters<StartSeller>): Promise<PublishedSeller> {
  let runs = 0;
  const pay = createHonoPaywall(options);
  const app = new Hono<{ Variables: PaymentVariables }>();
  app.all("/goods", pay(price), async (c) => {
    runs += 1;
    const body: unknown = c.req.method === "POST" ? await c.req.json() : null;
    return c.json(goods(c.req.method, body, c.get("payment")?.payer));
  });
  await pay.ready();
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  await once(server, "listening");
  return { url: urlOf(server.address()), runs: () => runs, close: () => void server.close() };
}

const urlOf = (address: string | AddressInfo | null) => `http://127.0.0.1:${(address as AddressInfo).port}/goods`;
