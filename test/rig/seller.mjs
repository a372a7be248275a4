// One process of a seller, for the rig: it prints its port and sells for $0.01 at `/report`. Everything comes from the environment:
// STORE_URL, RPC_URL (or FACILITATOR_URL, or GATEWAY_URL with GATEWAY_KEY; with SECOND_URL a facilitator stands behind its own keys),
// SETTLER_KEY, PAY_TO, FRAMEWORK
// (express, hono), RUNS_FILE (a line for each run of the handler), SETTLE_MS, LEASE_MS, UNCHARGED_RUNS, HANDLER_MS (how long the
// handler takes), MAX_TIMEOUT, and POINT with ACT (see points.mjs).
import { appendFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { facilitator, failover, hosted, local, memoryStore } from "tollgate";
import * as onExpress from "tollgate/express";
import * as onHono from "tollgate/hono";
import { redisStore } from "tollgate/store/redis";
import { sqlStore } from "tollgate/store/sql";
import { createPoints } from "./points.mjs";

const env = process.env;
const number = (name, otherwise) => Number(env[name] ?? otherwise);
const points = createPoints(env.POINT, env.ACT);

const storeTimeout = number("STORE_TIMEOUT_MS", 5_000);
function openStore(url) {
  if (url === undefined) return memoryStore();
  if (/^redis:/.test(url)) return redisStore({ url, timeoutMs: storeTimeout });
  if (/^sqlite:/.test(url)) return sqlStore({ file: new URL(url).pathname, timeoutMs: storeTimeout });
  return sqlStore({ url, timeoutMs: storeTimeout });
}

// Standard output is the rig's: what the paywall has to say goes to the other stream.
const say = (level) => (message, facts) => process.stderr.write(`${level} ${message} ${JSON.stringify(facts ?? {})}\n`);
const logger = { debug() {}, info: say("info"), warn: say("warn"), error: say("error") };

async function openReceiver() {
  const settleMs = number("SETTLE_MS", 10_000);
  if (env.FACILITATOR_URL) return facilitator({ url: env.FACILITATOR_URL, rpcUrl: env.RPC_URL });
  if (env.GATEWAY_URL) return hosted({ baseUrl: env.GATEWAY_URL, apiKey: env.GATEWAY_KEY, logger });
  const rpcUrl = await points.passOn(env.RPC_URL);
  const own = local({ networks: { "base-sepolia": { rpcUrl, settler: env.SETTLER_KEY, settleMs } }, logger });
  if (!env.SECOND_URL) return own;
  return failover([own, facilitator({ url: env.SECOND_URL, rpcUrl: env.RPC_URL, timeoutMs: settleMs })], { logger });
}

const options = {
  payTo: env.PAY_TO,
  network: "base-sepolia",
  receive: points.receiver(await openReceiver()),
  store: points.store(openStore(env.STORE_URL)),
  logger,
  limits: { leaseMs: number("LEASE_MS", 15_000), unchargedRunsPerProof: number("UNCHARGED_RUNS", 3) },
  maxTimeoutSeconds: number("MAX_TIMEOUT", 60),
  handlerTimeoutMs: number("HANDLER_TIMEOUT_MS", 5_000),
};

let runs = 0;
/** The goods of one run: no two are the same. */
async function goods({ payer, run }) {
  runs += 1;
  const name = `${process.pid}.${runs}`;
  if (env.RUNS_FILE) appendFileSync(env.RUNS_FILE, `${JSON.stringify({ payer, run, name })}\n`);
  await points.at("the handler runs");
  if (env.HANDLER_MS) await after(number("HANDLER_MS"));
  return `the goods of ${name} ${"x".repeat(2_000)}`;
}

function openExpress() {
  const pay = onExpress.createPaywall(options);
  const app = express();
  app.set("env", "test");
  app.get("/report", pay("$0.01"), async (req, res) => res.type("text/plain").send(await goods(req.payment)));
  return { pay, listener: app };
}

function openHono() {
  const pay = onHono.createPaywall(options);
  const app = new Hono();
  app.get("/report", pay("$0.01"), async (c) => c.text(await goods(c.get("payment"))));
  return { pay, listener: getRequestListener(app.fetch) };
}

const { pay, listener } = env.FRAMEWORK === "hono" ? openHono() : openExpress();
// Beside the paywall: how much memory it holds.
const memory = () => {
  globalThis.gc?.();
  return JSON.stringify(process.memoryUsage());
};
const server = createServer((req, res) => {
  if (req.url === "/memory") return void res.end(memory());
  points.answer(res);
  listener(req, res);
});
if (env.WAITS_READY !== "no") await pay.ready();
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
