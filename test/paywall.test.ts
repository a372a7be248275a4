// The public functions as a seller calls them: every form of `paywall`, the environment, start-up checks, audit, events.
import express from "express";
import { Hono } from "hono";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createPaywall as createOnExpress, paywall } from "../adapters/express.js";
import * as onHono from "../adapters/hono.js";
import { silentLogger } from "../src/logger.js";
import { memoryStore } from "../src/store/memory.js";
import { createSandbox, type Sandbox, signPayment } from "../src/testing/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

const shared = () => ({
  payTo: sandbox.payTo,
  network: sandbox.network,
  receive: sandbox.receive(),
  store: memoryStore(),
  logger: silentLogger,
});

/** Pays what a 402 asks; gives the header to send. */
async function payFor(unpaid: request.Response): Promise<Record<string, string>> {
  const challenge = JSON.parse(Buffer.from(String(unpaid.headers["payment-required"]), "base64").toString());
  const account = await sandbox.newBuyer();
  const payment = await signPayment({ account, offer: challenge.accepts[0], version: 2, challenge });
  return { ...payment.headers };
}

describe("app.use(paywall()), everything from the environment", () => {
  it("asks for the price first and sells then", async () => {
    vi.stubEnv("TOLLGATE_PAY_TO", sandbox.payTo);
    vi.stubEnv("TOLLGATE_NETWORKS", "base-sepolia");
    vi.stubEnv("TOLLGATE_PRICE", "$0.01");
    vi.stubEnv("TOLLGATE_RPC_URL_BASE_SEPOLIA", sandbox.rpcUrl);
    vi.stubEnv("TOLLGATE_SETTLER_KEY_EVM", sandbox.settlerKey);
    const app = express();
    const guard = paywall();
    app.use(guard);
    app.get("/anything", (req, res) => {
      res.json({ paidBy: req.payment?.payer, payment: req.payment });
    });
    vi.unstubAllEnvs();
    const before = await sandbox.token.balanceOf(sandbox.seller);
    const unpaid = await request(app).get("/anything").expect(402);
    const headers = await payFor(unpaid);
    const paid = await request(app).get("/anything").set(headers).expect(200);
    expect(paid.body.payment).toMatchObject({ amount: "10000", network: "eip155:84532", run: 1 });
    expect(paid.body.paidBy).toBe(paid.body.payment.payer);
    expect((await sandbox.token.balanceOf(sandbox.seller)) - before).toBe(10_000n);
    await guard.close();
  });
});

describe("a pricing table", () => {
  const build = () => {
    const pay = createOnExpress(shared());
    const app = express();
    app.use(pay.routes({ "GET /health": "free", "GET /weather": "$0.001", "/files/*": "$0.002" }));
    for (const path of ["/health", "/weather", "/open", "/files/:name"]) {
      app.get(path, (_req, res) => {
        res.send("ok");
      });
    }
    return { app, pay };
  };

  it("prices what it lists, opens what it calls free and what it does not list", async () => {
    const { app, pay } = build();
    await request(app).get("/health").expect(200, "ok");
    await request(app).get("/open").expect(200, "ok");
    const weather = await request(app).get("/weather").expect(402);
    expect(weather.body.accepts[0].maxAmountRequired).toBe("1000");
    expect((await request(app).get("/files/a").expect(402)).body.accepts[0].maxAmountRequired).toBe("2000");
    await request(app)
      .get("/weather")
      .set(await payFor(weather))
      .expect(200, "ok");
    await pay.close();
  });

  it("is compared with the app by audit, which lists every route and fails on a key that no route answers", async () => {
    const { app, pay } = build();
    expect(pay.audit(app).lines).toContain("GET /weather  $0.001");
    const wrong = createOnExpress(shared());
    app.use(wrong.routes({ "GET /wether": "$0.001" }));
    expect(() => wrong.audit(app)).toThrow(/"GET \/wether": no route of the app answers/);
    const hono = new Hono();
    const onTable = onHono.createPaywall(shared());
    hono.use(onTable.routes({ "GET /nowhere": "$0.01" }));
    expect(() => onTable.audit(hono)).toThrow(/"GET \/nowhere"/);
  });

  it("prices what a rewritten request is dispatched as", async () => {
    const app = express();
    app.use((req, _res, next) => {
      req.url = req.url.replace(/^\/v1/, "");
      next();
    });
    app.use(paywall({ ...shared(), routes: { "GET /paid": "$0.01", "GET /other": "$0.02" } }));
    app.get(["/paid", "/free"], (_req, res) => {
      res.send("ok");
    });
    await request(app).get("/v1/paid").expect(402);
    await request(app).get("/v1/free").expect(200);
    const mounted = express();
    const inner = express.Router();
    inner.use(paywall({ ...shared(), routes: { "GET /api": "$0.01" } }));
    inner.get("/", (_req, res) => {
      res.send("ok");
    });
    mounted.use("/api", inner);
    for (const path of ["/api", "/api/", "/api?x=1"]) await request(mounted).get(path).expect(402);
  });

  it("that is strict refuses what it does not list", async () => {
    const app = express();
    app.use(paywall({ ...shared(), strict: true, routes: { "GET /a": "$0.01" } }));
    app.get("/b", (_req, res) => {
      res.send("ok");
    });
    expect((await request(app).get("/b").expect(404)).body.code).toBe("route_not_listed");
  });
});

describe("start-up", () => {
  it("is done when ready() resolves", async () => {
    const guard = paywall("$0.01", shared());
    await expect(guard.ready()).resolves.toBeUndefined();
    await guard.close();
  });

  it("closes the routes when the chain is not the configured one, naming both values, and ready() rejects", async () => {
    const receive = sandbox.receive({ rpcUrl: sandbox.rpcUrl });
    // Before the paywall is made: it begins its checks at once.
    await sandbox.token.setDomain("USD Coin", "2");
    const guard = paywall("$0.01", { ...shared(), network: "base-sepolia", receive });
    try {
      await expect(guard.ready()).rejects.toThrow(/USD Coin/);
      const app = express();
      app.get("/report", guard, (_req, res) => {
        res.send("the goods");
      });
      const refused = await request(app).get("/report").expect(503);
      expect(refused.body.code).toBe("misconfigured");
    } finally {
      await sandbox.token.setDomain("", "");
      await guard.close();
    }
  });

  it("refuses a network that its own receiver was not set up for, at construction", () => {
    const receive = sandbox.receive();
    expect(() => paywall("$0.01", { ...shared(), network: "base", receive })).toThrow(
      /local\(\) is not set up for base/,
    );
    const pay = createOnExpress({ ...shared(), receive });
    expect(() => pay("$0.01", { network: "base", payTo: sandbox.payTo })).toThrow(/is not set up for base/);
  });

  it("that has priced nothing yet still checks the chain, and is not ready when it is closed before that", async () => {
    const pay = createOnExpress(shared());
    await sandbox.token.setDomain("USD Coin", "2");
    try {
      await expect(pay.ready()).rejects.toThrow(/USD Coin/);
    } finally {
      await sandbox.token.setDomain("", "");
      await pay.close();
    }
    const dead = createOnExpress({ ...shared(), receive: sandbox.receive({ rpcUrl: "http://127.0.0.1:1" }) });
    const ready = expect(dead.ready()).rejects.toThrow(/closed before/);
    await dead.close();
    await ready;
  });

  it("with the public test facilitator says so once, and on a main network without a receiver refuses", () => {
    const lines: string[] = [];
    const logger = { ...silentLogger, info: (line: string) => void lines.push(line) };
    const guard = paywall("$0.01", { payTo: sandbox.payTo, network: "base-sepolia", logger });
    expect(lines.filter((line) => line.includes("https://x402.org/facilitator"))).toHaveLength(1);
    void guard.close();
    expect(() => paywall("$0.01", { payTo: sandbox.payTo, network: "base" })).toThrow(/local\(.*facilitator\(/s);
  });
});

it("tells observers what happened, in order", async () => {
  const guard = paywall("$0.01", shared());
  const told: string[] = [];
  for (const name of ["challenge", "verified", "claimed", "settled", "delivered"] as const) {
    guard.on(name, () => told.push(name));
  }
  const app = express();
  app.get("/report", guard, (_req, res) => {
    res.send("the goods");
  });
  const unpaid = await request(app).get("/report").expect(402);
  await request(app)
    .get("/report")
    .set(await payFor(unpaid))
    .expect(200);
  await vi.waitFor(() => expect(told).toEqual(["challenge", "verified", "claimed", "settled", "delivered"]), {
    timeout: 10_000,
  });
  await guard.close();
});

it("answers a page on an allowed origin so that it can read every header, and no other page", async () => {
  const app = express();
  app.use(paywall({ ...shared(), cors: { origins: ["https://shop.example"] }, routes: { "GET /report": "$0.01" } }));
  app.get("/report", (_req, res) => {
    res.send("the goods");
  });
  const allowed = await request(app).get("/report").set("Origin", "https://shop.example").expect(402);
  expect(allowed.headers["access-control-allow-origin"]).toBe("https://shop.example");
  expect(allowed.headers.vary).toContain("Origin");
  const other = await request(app).get("/report").set("Origin", "https://evil.example").expect(402);
  expect(other.headers["access-control-allow-origin"]).toBeUndefined();
  const paid = await request(app)
    .get("/report")
    .set({ Origin: "https://shop.example", ...(await payFor(allowed)) })
    .expect(200);
  expect(paid.headers["access-control-allow-origin"]).toBe("https://shop.example");
  expect(paid.headers["access-control-expose-headers"]).toContain("PAYMENT-RESPONSE");
  await request(app).options("/report").set("Origin", "https://shop.example").expect(204);
});
