// A seller whose routes, handlers and server settings a fault's test writes itself: the same on Express 5, Express 4 and
// Hono. The facilitator behind it is scripted; the handler sees what the framework gives it.
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express, { type Express, type RequestHandler } from "express";
import express4 from "express4";
import { Hono } from "hono";
import * as onExpress from "../../adapters/express.js";
import * as onHono from "../../adapters/hono.js";
import type { PaywallOptions, RouteOptions } from "../../src/options.js";
import type { Price, PriceFunction } from "../../src/price.js";
import { facilitator } from "../../src/receive/facilitator.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Framework } from "../e2e/seller.js";
import { type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { PAY_TO, recorder } from "./market.js";

export interface ShopRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly payer: string | undefined;
}
export interface ShopReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}
export type ShopHandler = (request: ShopRequest) => ShopReply | Promise<ShopReply>;
export interface ShopRoute {
  readonly path: string;
  readonly price?: Price | PriceFunction<unknown>;
  readonly options?: RouteOptions;
  readonly handler?: ShopHandler;
}

export interface ShopOptions
  extends Partial<Pick<PaywallOptions, "payTo" | "publicUrl" | "trustProxy" | "cors" | "store">> {
  readonly limits?: PaywallOptions["limits"];
  readonly handlerTimeoutMs?: number;
  readonly maxTimeoutSeconds?: number;
  readonly verify?: "remote" | "local";
  /** In place of the scripted facilitator. */
  readonly receive?: Receiver;
  readonly routes?: readonly ShopRoute[];
  /** What the app's own middleware sets before the paywall. */
  readonly appHeaders?: Readonly<Record<string, string>>;
  /** The app's own middleware in front of the paywall on Express, such as body parsers. */
  readonly before?: readonly RequestHandler[];
  readonly expressSettings?: Readonly<Record<string, unknown>>;
  readonly maxHeaderSize?: number;
}

export interface Shop {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  readonly remote: ScriptedFacilitator;
  /** What the handlers saw, in order. */
  readonly runs: ShopRequest[];
  readonly log: string[];
  close(): Promise<void>;
}

const GOODS: ShopHandler = () => ({ headers: { "content-type": "text/plain" }, body: "the goods" });

/** One route at `/report` for $0.01, unless routes are given. */
export async function openShop(framework: Framework, options: ShopOptions = {}): Promise<Shop> {
  const { routes = [{ path: "/report" }], appHeaders = {}, before = [], expressSettings = {}, ...rest } = options;
  const { maxHeaderSize = 16_384, verify = "local", receive, ...paywall } = rest;
  const remote = await startScriptedFacilitator();
  const log: string[] = [];
  const logger = recorder(log);
  const settings = {
    payTo: PAY_TO,
    network: "base-sepolia",
    store: memoryStore(),
    logger,
    handlerTimeoutMs: 5000,
    ...paywall,
    receive: receive ?? facilitator({ url: remote.url, verify, timeoutMs: 10_000, logger }),
  };
  const runs: ShopRequest[] = [];
  const handle = (route: ShopRoute, request: ShopRequest) => {
    runs.push(request);
    return (route.handler ?? GOODS)(request);
  };
  const site = { settings, routes, appHeaders, before, expressSettings, handle };
  const { listener, pay } = framework === "Hono" ? honoSite(site) : expressSite(framework, site);
  const server = listener(maxHeaderSize);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await pay.ready();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    remote,
    runs,
    log,
    async close() {
      await pay.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await remote.close();
    },
  };
}

interface Site extends Required<Pick<ShopOptions, "routes" | "appHeaders" | "before" | "expressSettings">> {
  readonly settings: PaywallOptions;
  readonly handle: (route: ShopRoute, request: ShopRequest) => ShopReply | Promise<ShopReply>;
}

function expressSite(framework: Framework, site: Site) {
  const app: Express = framework === "Express 5" ? express() : express4();
  app.set("env", "test");
  for (const [name, value] of Object.entries(site.expressSettings)) app.set(name, value);
  app.use((_req, res, next) => {
    res.set(site.appHeaders);
    next();
  });
  for (const middleware of site.before) app.use(middleware);
  const pay = onExpress.createPaywall(site.settings);
  for (const route of site.routes) {
    // The parser stands behind the paywall; where one stood before it, the body is there already.
    const text = express.text({ type: "*/*", limit: "2mb" });
    app.all(route.path, pay(route.price ?? "$0.01", route.options), text, (req, res, next) => {
      const body = typeof req.body === "string" ? req.body : JSON.stringify(req.body ?? "");
      const seen = { method: req.method, headers: req.headers, body, payer: req.payment?.payer };
      Promise.resolve(seen)
        .then((request) => site.handle(route, request))
        .then(({ status = 200, headers = {}, body: answer }) => res.status(status).set(headers).send(answer))
        .catch(next);
    });
  }
  return { listener: (maxHeaderSize: number) => createServer({ maxHeaderSize }, app), pay };
}

function honoSite(site: Site) {
  const app = new Hono<{ Variables: onHono.PaymentVariables }>();
  app.onError((_error, c) => c.text("the handler failed", 500));
  app.use(async (c, next) => {
    for (const [name, value] of Object.entries(site.appHeaders)) c.res.headers.set(name, value);
    await next();
  });
  const pay = onHono.createPaywall(site.settings);
  for (const route of site.routes) {
    app.all(route.path, pay(route.price ?? "$0.01", route.options), async (c) => {
      const headers = c.req.header();
      const seen = { method: c.req.method, headers, body: await c.req.text(), payer: c.get("payment")?.payer };
      const { status = 200, headers: own = {}, body } = await site.handle(route, seen);
      return c.body(body, status as 200, own);
    });
  }
  const listener = (maxHeaderSize: number) =>
    createAdaptorServer({ fetch: app.fetch, serverOptions: { maxHeaderSize } }) as Server;
  return { listener, pay };
}
