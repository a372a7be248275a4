// One seller on each framework, over real sockets, with the same routes; and a raw buyer whose every request is a
// connection of its own, so that the oracle can count: handler runs, debits on the chain, 2xx bodies delivered.
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import express4 from "express4";
import { Hono } from "hono";
import * as onExpress from "../../adapters/express.js";
import * as onHono from "../../adapters/hono.js";
import { silentLogger } from "../../src/logger.js";
import type { PaywallOptions } from "../../src/options.js";
import type { Payment } from "../../src/payment.js";
import type { Price } from "../../src/price.js";
import { memoryStore } from "../../src/store/memory.js";

export const FRAMEWORKS = ["Express 5", "Express 4", "Hono"] as const;
export type Framework = (typeof FRAMEWORKS)[number];

export interface Reply {
  readonly status: number;
  readonly body: string;
}
/** What a test's handler answers, on every framework. */
export type SellerHandler = (run: {
  readonly payment: Payment | undefined;
  readonly count: number;
}) => Reply | Promise<Reply>;

export interface Seller {
  readonly url: string;
  /** Runs of the handlers, in order. */
  readonly runs: (Payment | undefined)[];
  handler: SellerHandler;
  ready(): Promise<void>;
  /** Resolves when the handler has run `count` times in all. */
  ran(count: number): Promise<void>;
  close(): Promise<void>;
}

const GOODS: SellerHandler = () => ({ status: 200, body: "the goods" });

/** `/report` and `/other` for one price and any method, `/upfront` settled first. */
export async function startSeller(
  framework: Framework,
  options: PaywallOptions,
  price: Price = "$0.01",
): Promise<Seller> {
  const runs: (Payment | undefined)[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const seller = { handler: GOODS };
  const handle = (payment: Payment | undefined) => {
    runs.push(payment);
    for (const { count, resolve } of waiting) if (runs.length >= count) resolve();
    return seller.handler({ payment, count: runs.length });
  };
  const started = await start(framework, { store: memoryStore(), logger: silentLogger, ...options }, price, handle);
  return {
    ...started,
    runs,
    get handler() {
      return seller.handler;
    },
    set handler(handler) {
      seller.handler = handler;
    },
    ran: (count) =>
      new Promise((resolve) => {
        if (runs.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

type Handle = (payment: Payment | undefined) => Reply | Promise<Reply>;
type Started = Pick<Seller, "url" | "ready" | "close">;

function start(framework: Framework, options: PaywallOptions, price: Price, handle: Handle): Promise<Started> {
  return framework === "Hono" ? startHono(options, price, handle) : startExpress(framework, options, price, handle);
}

async function startExpress(
  framework: Framework,
  options: PaywallOptions,
  price: Price,
  handle: Handle,
): Promise<Started> {
  const app = framework === "Express 5" ? express() : express4();
  const pay = onExpress.createPaywall(options);
  const answer: express.RequestHandler = async (req, res, next) => {
    try {
      const { status, body } = await handle(req.payment);
      res.status(status).type("text/plain").send(body);
    } catch (error) {
      next(error);
    }
  };
  app.set("env", "test");
  app.all("/report", pay(price), answer);
  app.all("/other", pay(price), answer);
  app.all("/upfront", pay(price, { flow: "upfront" }), answer);
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return started(server, pay);
}

async function startHono(options: PaywallOptions, price: Price, handle: Handle): Promise<Started> {
  const app = new Hono<{ Variables: onHono.PaymentVariables }>();
  app.onError((_error, c) => c.text("the handler failed", 500));
  const pay = onHono.createPaywall(options);
  for (const [path, guard] of [
    ["/report", pay(price)],
    ["/other", pay(price)],
    ["/upfront", pay(price, { flow: "upfront" })],
  ] as const) {
    app.all(path, guard, async (c) => {
      const { status, body } = await handle(c.get("payment"));
      return c.body(body, status as 200, { "content-type": "text/plain" });
    });
  }
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () =>
      resolve(started(server as Server, pay)),
    );
  });
}

function started(server: Server, pay: { ready(): Promise<void>; close(): Promise<void> }): Started {
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: () => pay.ready(),
    async close() {
      await pay.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Cuts the connection when it resolves. */
  readonly leave?: Promise<unknown>;
}

/** One request on a connection of its own; undefined when the connection was cut first. */
export function send(
  url: string,
  { method = "GET", headers = {}, body, leave }: SendOptions = {},
): Promise<Got | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      url,
      { method, headers: { connection: "close", ...headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", () => resolve(undefined));
        incoming.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = incoming.headers["content-type"]?.includes("json") ?? false;
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: text,
            json: isJson && text ? JSON.parse(text) : {},
          });
        });
      },
    );
    outgoing.on("error", (error) => (leave ? resolve(undefined) : reject(error)));
    void leave?.then(() => outgoing.destroy());
    outgoing.end(body);
  });
}
