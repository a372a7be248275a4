// Answers that are none, and requests that somebody else has answered: nothing is sold then, and nothing breaks.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { serve } from "@hono/node-server";
import express, { type RequestHandler } from "express";
import { Hono } from "hono";
import { afterEach, expect, it } from "vitest";
import { toMiddleware } from "../../adapters/express-middleware.js";
import * as onHono from "../../adapters/hono-middleware.js";
import { FetchRequest } from "../../adapters/web-request.js";
import { answerPriced } from "../../adapters/web-wrapper.js";
import { silentLogger } from "../../src/logger.js";
import type { Verification } from "../../src/receive/receiver.js";
import { send } from "../e2e/seller.js";
import { createWorld } from "../support/world.js";

let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  servers = [];
});

/** A world on the real clock: sockets do not wait for a fake one. */
async function open(handler: RequestHandler, before: RequestHandler[] = []) {
  const world = createWorld();
  const app = express();
  for (const middleware of before) app.use(middleware);
  app.all("/report", toMiddleware(world.guard), handler);
  const server = createServer(app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { world, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/report` };
}

it("a request that the app's own timeout has answered meanwhile runs no handler, takes no money, and breaks nothing", async () => {
  let decide = () => {};
  const decided = new Promise<void>((resolve) => (decide = resolve));
  let runs = 0;
  const outer: RequestHandler = (_req, res, next) => {
    res.once("finish", decide);
    setImmediate(() => setImmediate(() => res.status(503).end("too slow")));
    next();
  };
  const { world, url } = await open(
    (_req, res) => {
      runs += 1;
      res.send("the goods");
    },
    [outer],
  );
  const verify = world.receiver.verify.bind(world.receiver);
  world.receiver.verify = async (...args): Promise<Verification> => {
    await decided;
    return verify(...args);
  };
  const headers = await world.sign();
  const got = await send(url, { headers });
  expect([got?.status, got?.body]).toEqual([503, "too slow"]);
  await expect.poll(() => world.receiver.calls.verify).toBe(1);
  expect([runs, world.receiver.calls.settle]).toEqual([0, 0]);
});

it("a pipe whose source is destroyed without an error is a failure, not a short answer", async () => {
  const { world, url } = await open((_req, res) => {
    const source = new Readable({ read() {} });
    source.push("first");
    source.pipe(res);
    setImmediate(() => source.destroy());
  });
  const got = await send(url, { headers: await world.sign() });
  expect(got?.status).toBe(500);
  expect(world.receiver.calls.settle).toBe(0);
});

const NO_ANSWERS: [string, () => Response | Promise<Response>][] = [
  ["a network error", () => Response.error()],
  [
    "a body that was read already",
    async () => {
      const response = new Response("the goods");
      await response.text();
      return response;
    },
  ],
  [
    "a body that was read in part",
    async () => {
      const response = new Response("the goods");
      const reader = response.body?.getReader();
      await reader?.read();
      reader?.releaseLock();
      return response;
    },
  ],
];

it.each(NO_ANSWERS)("a fetch handler that answers with %s has sold nothing", async (_what, handler) => {
  const world = createWorld();
  const request = new Request("http://shop.example/report", { headers: await world.sign() });
  const asked = new FetchRequest(request);
  const response = await answerPriced({ guard: world.guard, logger: silentLogger }, request, asked, handler);
  expect(response.status).toBe(500);
  expect(world.receiver.calls.settle).toBe(0);
});

it.each(NO_ANSWERS)("a Hono handler that answers with %s has sold nothing", async (_what, handler) => {
  const world = createWorld();
  const app = new Hono();
  app.get("/report", onHono.toMiddleware(world.guard), handler);
  const server = await new Promise<Server>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(started as Server));
  });
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  const got = await send(url, { headers: await world.sign() });
  expect(got?.status).toBe(500);
  expect(world.receiver.calls.settle).toBe(0);
});
