// What needs no key: health, readiness, figures; and the log line of a request.
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXAMPLES } from "../../src/gateway/http/examples.js";
import { noRedis } from "../support/redis.js";
import { NOBODY_KEY, REQUESTS, scriptEngine } from "./scripted-engine.js";
import { sharedRedis } from "./services.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const { engine } = scriptEngine();
const [[, SEND, ORDER]] = REQUESTS;
const TOKEN = "5b0c7e4d91f2a8366e1d4c9b72f05ae83d61c7f4a9b2e058";
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({
    ...{ context: { engine }, chains: { evm: true, solana: true } },
    options: { metricsToken: TOKEN },
  });
});
afterAll(() => world.close());
const open = (path: string, headers: Record<string, string> = {}) =>
  world.call("GET", path, undefined, { key: null, headers });

describe("GET /healthz", () => {
  it("answers to anybody, by HEAD too", async () => {
    expect(await open("/healthz")).toMatchObject({ status: 200, body: { success: true, status: "ok" } });
    expect((await world.call("HEAD", "/healthz", undefined, { key: null })).status).toBe(200);
  });
});

describe("GET /readyz", () => {
  it("names each part and whether it answers, and nothing else", async () => {
    const { status, body, text } = await open("/readyz");
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        status: "ready",
        checks: [
          { name: "database", ok: true },
          { name: "base-sepolia", ok: true },
          { name: "solana-devnet", ok: true },
        ],
      },
    ]);
    expect(text).not.toContain("127.0.0.1");
    expect(await world.gateway.ready()).toBe(true);
  });

  it("is asked for once in five seconds, however many ask", async () => {
    let now = Date.now();
    const own = await createGatewayWorld({ chains: { evm: world.evm! }, context: { now: () => now }, watch: false });
    const asked = own.gateway.networks.all[0]?.transfers.rpc;
    if (!asked || !("requests" in asked)) throw new Error("expected an EVM node");
    await own.call("GET", "/readyz");
    const before = asked.requests;
    await Promise.all(Array.from({ length: 50 }, () => own.call("GET", "/readyz")));
    expect(asked.requests).toBe(before);
    now += 5_000;
    await own.call("GET", "/readyz");
    expect(asked.requests).toBe(before + 1);
    await own.close();
  });

  it("is 503 without any node, and without the database", async () => {
    let now = Date.now();
    const own = await createGatewayWorld({ context: { now: () => now }, watch: false });
    expect(await own.call("GET", "/readyz")).toMatchObject({
      status: 503,
      body: { error: { code: "UNAVAILABLE", details: [{ path: "base-sepolia", message: "does not answer" }] } },
    });
    await own.gateway.database.close();
    now += 5_000;
    const { body } = await own.call("GET", "/readyz");
    expect(body.error?.details).toContainEqual({ path: "database", message: "does not answer" });
    await own.close();
  });

  it.skipIf(noRedis() !== undefined)("says degraded while Redis is down", async () => {
    let now = Date.now();
    const context = { now: () => now };
    const own = await createGatewayWorld({ chains: { evm: world.evm! }, redis: true, context, watch: false });
    expect((await own.call("GET", "/readyz")).body.status).toBe("ready");
    const redis = await sharedRedis();
    redis.freeze();
    now += 5_000;
    const { status, body } = await own.call("GET", "/readyz");
    redis.thaw();
    expect([status, body.status]).toEqual([200, "degraded"]);
    expect(body.checks).toContainEqual({ name: "redis", ok: false });
    await own.close();
  });
});

describe("GET /metrics", () => {
  it("counts answers by pattern and status, without any id, address or key", async () => {
    await world.call("POST", SEND, ORDER);
    await world.call("POST", SEND, {});
    await world.call("GET", REQUESTS[2][1]);
    await world.call("GET", "/no/such/path?secret=1");
    const { status, text, headers } = await open("/metrics");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/plain");
    expect(text).toContain('http_requests_total{endpoint="POST /payment/send",status="200"} 1');
    expect(text).toContain('http_requests_total{endpoint="POST /payment/send",status="400"} 1');
    expect(text).toContain('http_requests_total{endpoint="GET /payment/status",status="200"} 1');
    expect(text).toContain('http_requests_total{endpoint="unmatched",status="404"} 1');
    expect(text).toContain('http_request_duration_seconds_count{endpoint="POST /payment/send"} 2');
    expect(text).toContain("process_cpu_seconds_total");
    expect(text).not.toMatch(/0x[0-9a-fA-F]{40}|pay_|tg_test|acc_|secret/);
  });

  it("counts settlements by outcome", async () => {
    await world.call("POST", "/settle", EXAMPLES.settle.request);
    await world.call("POST", "/payment/receive", REQUESTS[1][2]);
    expect((await open("/metrics")).text).toContain('tollgate_settlements_total{outcome="settled"} 2');
  });

  it("is for this machine, not for what a proxy of this machine passes on, and for who has the token", async () => {
    const forwarded = { "X-Forwarded-For": "203.0.113.1" };
    expect((await open("/metrics", forwarded)).status).toBe(401);
    expect((await open("/metrics", { ...forwarded, Authorization: `Bearer ${NOBODY_KEY}` })).status).toBe(401);
    expect((await open("/metrics", { ...forwarded, Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    // An app without a socket knows of no machine.
    expect((await world.gateway.app.request("/metrics")).status).toBe(401);
  });
});

describe("the log", () => {
  it("has one line a request: by its pattern, without query, body, address or credential", async () => {
    const id = "log-line-test";
    await world.call("GET", `${REQUESTS[3][1]}?limit=7`, undefined, { headers: { "X-Request-Id": id } });
    const lines = world.log.of("request").filter(({ requestId }) => requestId === id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      ...{ method: "GET", endpoint: "GET /payment/history", status: 200 },
      ...{ key: world.apiKey.slice(0, 16), account: world.account },
    });
    const text = world.log.lines.join("\n");
    expect(text).not.toMatch(/limit=7|paymentProof":"eyJ|Bearer/);
    expect(text).not.toContain(world.apiKey);
    expect(text).not.toContain(String(REQUESTS[3][1].split("/").pop()));
  });

  it("cuts out what slips in by a secret's name or a key's form", () => {
    const { logger, lines } = world.log;
    const { apiKey } = world;
    // No words that the part of the key that stays could hold by chance.
    const facts = { secret: "hidden-1", deep: { passphrase: "hidden-2", paymentProof: "hidden-3" } };
    logger.info({ ...facts, words: `key ${apiKey} end` }, `of ${apiKey}`);
    const line = lines.at(-1) ?? "";
    expect(line).not.toMatch(/hidden/);
    expect(line).not.toContain(apiKey);
    expect(line).toContain(apiKey.slice(0, 16));
  });
});

describe("a shutdown", () => {
  it("lets requests under way end, takes no new ones, and leaves no connection", async () => {
    const script = scriptEngine();
    const end = script.hold("send");
    const own = await createGatewayWorld({ context: { engine: script.engine } });
    const running = own.call("POST", SEND, ORDER);
    await expect.poll(() => script.reached.length).toBe(1);
    const closed = own.server.close();
    await expect.poll(() => isListening(own.server.port)).toBe(false);
    end({ done: true });
    expect(await running).toMatchObject({ status: 200, body: { done: true } });
    await closed;
    await own.close();
  });

  it("waits no longer than it was told to", async () => {
    const script = scriptEngine();
    script.answer("send", () => new Promise(() => {}));
    const own = await createGatewayWorld({ context: { engine: script.engine }, options: { shutdownMs: 50 } });
    const running = own.call("POST", SEND, ORDER).catch(() => "cut");
    await expect.poll(() => script.reached.length).toBe(1);
    await own.close();
    expect(await running).toBe("cut");
    expect(own.log.lines.join()).toContain("requests are still under way");
  });
});

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
