// The two sellers of the demo. Both have a free route and four priced ones: one price, a pricing table, a price that depends
// on the request, a choice of currencies. One settles with keys of its own, the other receives through a gateway. What a
// framework's guide would show; nothing here knows that the chains are local.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { hosted, times } from "tollgate";
import { createPaywall as createExpressPaywall } from "tollgate/express";
import { createPaywall as createHonoPaywall, type PaymentVariables } from "tollgate/hono";
import type { Chains } from "./chains.js";
import type { DemoGateway } from "./gateway.js";

export interface Seller {
  readonly name: string;
  /** `http://localhost:PORT` */
  readonly origin: string;
  close(): Promise<void>;
}

const table = {
  "/weather/today": "$0.001",
  "/weather/week": { price: "$0.005", description: "Seven days" },
} as const;

const greeting = "Free. Priced: /report, /weather/today, /weather/week, /book?pages=3, /map\n";
/** The buyer chooses: either chain's stablecoin, or its own currency. */
const choice = ["$0.01", "0.001 SOL", "0.0002 ETH"] as const;

/** From 1 to 100; anything else is the buyer's mistake, a 400. */
function pagesOf(target: string): number {
  const pages = Number(new URL(target, "http://localhost").searchParams.get("pages"));
  if (Number.isInteger(pages) && pages >= 1 && pages <= 100) return pages;
  throw Object.assign(new Error("Say how many pages you want: ?pages=1 to ?pages=100"), { status: 400 });
}

export async function startExpressSeller({ terms, receive }: Chains): Promise<Seller> {
  const pay = createExpressPaywall({ ...terms, receive: receive() });
  const app = express();
  app.use(pay.routes(table));
  app.get("/", (_req, res) => {
    res.send(greeting);
  });
  app.get("/report", pay("$0.01"), (req, res) => {
    res.json({ report: "Sales went up by 4 %.", paidBy: req.payment?.payer });
  });
  app.get("/weather/:when", (req, res) => {
    res.json({ when: req.params.when, celsius: 21 });
  });
  app.get(
    "/book",
    pay((request) => times("$0.002", pagesOf(request.target))),
    (req, res) => {
      res.json({ pages: pagesOf(req.originalUrl) });
    },
  );
  app.get("/map", pay(choice), (req, res) => {
    res.json({ map: "Here be dragons.", paidIn: req.payment?.asset });
  });
  await pay.ready();
  return listening("Express", createServer(app), 4021, () => pay.close());
}

export async function startHonoSeller({ terms }: Chains, { url, receiveKey }: DemoGateway): Promise<Seller> {
  const pay = createHonoPaywall({ ...terms, receive: hosted({ baseUrl: url, apiKey: receiveKey }) });
  const app = new Hono<{ Variables: PaymentVariables }>();
  app.use(pay.routes(table));
  app.get("/", (c) => c.text(greeting));
  app.get("/report", pay("$0.01"), (c) => c.json({ report: "Sales went up by 4 %.", paidBy: c.get("payment")?.payer }));
  app.get("/weather/:when", (c) => c.json({ when: c.req.param("when"), celsius: 21 }));
  const perPage = pay((request) => times("$0.002", pagesOf(request.target)));
  app.get("/book", perPage, (c) => c.json({ pages: pagesOf(c.req.url) }));
  app.get("/map", pay(choice), (c) => c.json({ map: "Here be dragons.", paidIn: c.get("payment")?.asset }));
  await pay.ready();
  return listening("Hono", createAdaptorServer({ fetch: app.fetch }) as Server, 4022, () => pay.close());
}

/** At the port that the README names, or at a free one where that is taken. */
async function listening(
  name: string,
  server: Server,
  wanted: number,
  closePaywall: () => Promise<void>,
): Promise<Seller> {
  const listen = (port: number) => once(server.listen(port), "listening");
  await listen(wanted).catch(() => listen(0));
  const { port } = server.address() as AddressInfo;
  return {
    name,
    origin: `http://localhost:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await closePaywall();
    },
  };
}
