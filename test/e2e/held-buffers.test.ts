// A handler may use its buffer again once its answer is written: what is held until the money has moved, and what is kept for a
// retry, is that buyer's own all the same.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPaywall } from "../../adapters/express.js";
import { createPaywall as createHonoPaywall } from "../../adapters/hono.js";
import { silentLogger } from "../../src/logger.js";
import { createSandbox, readChallenge, type Sandbox, signPayment } from "../../src/testing/index.js";
import { send } from "./seller.js";
import { olderStore } from "./world.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

const options = () => {
  const { network, payTo } = sandbox;
  return { network, payTo, receive: sandbox.receive(), store: olderStore(), logger: silentLogger };
};
/** One buffer for all requests, as a pool gives it out again. */
const shared = new Uint8Array(5);
const fill = (name: unknown) => new TextEncoder().encodeInto(String(name), shared);

async function startExpress(): Promise<Server> {
  const pay = createPaywall(options());
  const app = express().set("env", "test");
  app.get("/data", pay("$0.01"), (req, res) => {
    fill(req.headers["x-user"]);
    res.end(shared);
  });
  const server = createServer(app).listen(0);
  await Promise.all([once(server, "listening"), pay.ready()]);
  return server;
}

async function startHono(): Promise<Server> {
  const pay = createHonoPaywall(options());
  const app = new Hono();
  app.get("/data", pay("$0.01"), (c) => {
    fill(c.req.header("x-user"));
    return c.body(shared as never);
  });
  const server = serve({ fetch: app.fetch, port: 0 }) as Server;
  await Promise.all([once(server, "listening"), pay.ready()]);
  return server;
}

it.each([
  ["Express", startExpress],
  ["Hono", startHono],
])("gives each of two buyers at once, and a retry, the bytes of their own answer on %s", async (_name, start) => {
  const server = await start();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data`;
  const challenge = await readChallenge(await fetch(url), 2);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("no offer");
  const buyers = ["carol", "david"];
  const payments = await Promise.all(
    buyers.map(async (name) => {
      const retryKey = `retry-key-of-${name}-1234`;
      return signPayment({ account: await sandbox.newBuyer(), offer, version: 2, challenge, retryKey });
    }),
  );
  const ask = () =>
    Promise.all(
      buyers.map((name, i) =>
        send(url, { headers: { ...payments[i]?.headers, "x-user": name } }).then((got) => got?.body),
      ),
    );
  expect(await ask()).toEqual(buyers);
  fill("other");
  expect(await ask()).toEqual(buyers);
  server.close();
});
