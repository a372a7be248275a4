// The frameworks under test, each as a server with the paywall in front of one handler.
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express, { type Express } from "express";
import { Hono } from "hono";
import { toMiddleware as forExpress } from "../../adapters/express-middleware.js";
import { toMiddleware as forHono, type PaymentVariables } from "../../adapters/hono-middleware.js";
import type { Guard } from "../../src/guard.js";
import type { Style } from "./styles.js";

/** Express 4 has no types of its own here; what the tests use of it is the same. */
export const express4 = createRequire(import.meta.url)("express4") as typeof express;

export interface Running {
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

export interface Site {
  readonly guard: Guard;
  readonly style: Style;
  /** What the handler waits for before it answers. */
  readonly wait?: () => Promise<void>;
  /** No middleware but the paywall. */
  readonly plain?: boolean;
  /** Thrown by the handler in place of an answer. */
  readonly throws?: unknown;
}

export interface Framework {
  readonly name: string;
  readonly start: (site: Site) => Promise<Running>;
}

export function listen(server: Server): Promise<Running> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ port, server, close });
    });
  });
}

function expressSite(app: Express, { guard, style, wait, throws, plain }: Site): Express {
  app.use((_req, res, next) => {
    if (plain) return next();
    res.set({
      "Access-Control-Allow-Origin": "https://page.test",
      "Access-Control-Expose-Headers": "X-Foo",
      Vary: "Origin",
    });
    next();
  });
  app.use(forExpress(guard));
  app.all("/paid", (req, res, next) => {
    const run = async () => {
      if (wait) await wait();
      if (throws !== undefined) throw throws;
      return style.express(req, res);
    };
    // Express 4 does not look at promises.
    run().catch(next);
  });
  return app;
}

function honoSite({ guard, style, wait, throws, plain }: Site): Hono<{ Variables: PaymentVariables }> {
  const app = new Hono<{ Variables: PaymentVariables }>();
  app.use(async (c, next) => {
    // Whoever touches the response before the handler makes Hono copy the handler's own.
    if (plain) return next();
    // As Hono's own cors() does it.
    c.res.headers.set("Access-Control-Allow-Origin", "https://page.test");
    c.res.headers.set("Access-Control-Expose-Headers", "X-Foo");
    c.res.headers.set("Vary", "Origin");
    await next();
  });
  app.use(forHono(guard));
  app.all("/paid", async (c) => {
    if (wait) await wait();
    if (throws !== undefined) throw throws;
    return style.hono(c);
  });
  app.onError((_, c) => c.text("broken", 500));
  return app;
}

export const FRAMEWORKS: readonly Framework[] = [
  { name: "Express 5", start: (site) => listen(createServer(expressSite(express(), site))) },
  { name: "Express 4", start: (site) => listen(createServer(expressSite(express4(), site))) },
  { name: "Hono", start: (site) => listen(createAdaptorServer({ fetch: honoSite(site).fetch }) as Server) },
];
