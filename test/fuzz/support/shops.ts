// One shop on each framework, with a pricing table in front of everything, a priced route that carries its own paywall, and
// a server that takes very long heads, so that the paywall and not Node is what meets them.
import { createServer, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express, { type RequestHandler } from "express";
import express4 from "express4";
import { Hono } from "hono";
import * as onExpress from "../../../adapters/express.js";
import * as onHono from "../../../adapters/hono.js";
import type { PaywallOptions } from "../../../src/options.js";
import { listen } from "../../adapters/frameworks.js";
import type { Framework } from "../../e2e/seller.js";

export interface Shop {
  readonly port: number;
  /** Paths whose priced handlers ran. */
  readonly runs: string[];
  close(): Promise<void>;
}

export const GOODS = "the goods";
export const FREE = "nothing to pay";
const MAX_HEADER_SIZE = 2 * 1024 * 1024;

const TABLE = {
  "GET /free": "free",
  "/paid": "$0.01",
  "/paid/*": "$0.01",
  "/report/:id": "$0.01",
  "/api/paid": "$0.01",
} as const;
const PRICED = ["/paid", "/report/:id", "/api/paid", "/paid/x/f.txt"];

/** Priced: `/paid`, `/paid/x/f.txt`, `/report/:id`, `/api/paid` by the table, `/direct` by a paywall of its own. */
export async function startShop(framework: Framework, options: PaywallOptions): Promise<Shop> {
  const runs: string[] = [];
  const opened = framework === "Hono" ? honoShop(options, runs) : expressShop(framework, options, runs);
  await opened.ready();
  const { port, close } = await listen(opened.server);
  return {
    port,
    runs,
    async close() {
      await close();
      await opened.close();
    },
  };
}

interface Opened {
  readonly server: Server;
  ready(): Promise<void>;
  close(): Promise<void>;
}

function expressShop(framework: Framework, options: PaywallOptions, runs: string[]): Opened {
  const app = framework === "Express 5" ? express() : express4();
  const pay = onExpress.createPaywall(options);
  const goods: RequestHandler = (req, res) => {
    runs.push(req.originalUrl);
    res.type("text/plain").send(GOODS);
  };
  app.set("env", "test");
  app.use(pay.routes(TABLE));
  for (const path of PRICED) app.all(path, goods);
  app.all("/direct", pay("$0.01"), goods);
  app.get("/free", (_req, res) => void res.send(FREE));
  return { server: createServer({ maxHeaderSize: MAX_HEADER_SIZE }, app), ready: pay.ready, close: pay.close };
}

function honoShop(options: PaywallOptions, runs: string[]): Opened {
  const app = new Hono<{ Variables: onHono.PaymentVariables }>();
  const pay = onHono.createPaywall(options);
  app.use(pay.routes(TABLE));
  for (const path of PRICED) {
    app.all(path, (c) => {
      runs.push(c.req.url);
      return c.text(GOODS);
    });
  }
  app.all("/direct", pay("$0.01"), (c) => {
    runs.push(c.req.url);
    return c.text(GOODS);
  });
  app.get("/free", (c) => c.text(FREE));
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: { maxHeaderSize: MAX_HEADER_SIZE } }) as Server;
  return { server, ready: pay.ready, close: pay.close };
}
