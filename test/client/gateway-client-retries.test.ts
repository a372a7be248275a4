// What is asked again, when, how often and under which key: on a scripted server, with a clock that moves when somebody waits.
import { describe, expect, it } from "vitest";
import type { GatewayClient, GatewayClientOptions } from "../../src/client/gateway-client.js";
import { createGatewayClient } from "../../src/client/gateway-client.js";
import { GatewayError } from "../../src/client/gateway-client-error.js";
import {
  API_KEY,
  fault,
  inTurn,
  type MovedClock,
  movedClock,
  type Scripted,
  startScriptedGateway,
} from "./scripted-gateway.js";

const SENT = { success: true, paymentId: "pay_1", status: "confirmed", paymentProof: "proof" };
const ok: Scripted = { body: SENT };
const order = { walletAddress: "0x1", recipientAddress: "0x2", amount: 0.001 };

async function open(replies: readonly Scripted[], options: Partial<GatewayClientOptions> = {}, clock = movedClock()) {
  const server = await startScriptedGateway(inTurn(...replies));
  const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY, ...options }, clock);
  const keys = () => server.asked.map(({ headers }) => headers["idempotency-key"]);
  return { server, client, clock, keys };
}

/** The error with which it ends. */
async function errorOf(call: Promise<unknown>): Promise<GatewayError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error(`expected a GatewayError, got ${String(error)}`);
  return error;
}

const busy = fault(503, "UNAVAILABLE", { retryable: true });
const broken = fault(500, "INTERNAL_ERROR", { retryable: true });

const AGAIN: readonly (readonly [string, Scripted])[] = [
  ["a connection that breaks", "reset"],
  ["an answer that is cut off", "cut"],
  ["INTERNAL_ERROR", broken],
  ["UNAVAILABLE", busy],
  ["a proxy's 502", { status: 502, body: "<html>Bad Gateway</html>" }],
  ["RATE_LIMIT", fault(429, "RATE_LIMIT", { retryable: true, headers: { "retry-after": "2" } })],
  ["a 409 that still runs", fault(409, "CONFLICT", { retryable: true, headers: { "retry-after": "2" } })],
];

const FINAL: readonly (readonly [string, Scripted])[] = [
  ["INVALID_REQUEST", fault(400, "INVALID_REQUEST")],
  ["UNAUTHORIZED", fault(401, "UNAUTHORIZED")],
  ["FORBIDDEN", fault(403, "FORBIDDEN")],
  ["an UNAVAILABLE that only the operator can lift", fault(503, "UNAVAILABLE", { retryable: false })],
  ["a 409 for other content", fault(409, "CONFLICT", { retryable: true })],
  ["a page in place of an answer", { body: "<html>Welcome</html>" }],
  ["JSON of something else", { body: { success: true, hello: "world" } }],
  ["a redirect", { status: 307, headers: { location: "http://127.0.0.1:9/" } }],
];

describe("a call of the gateway client", () => {
  it.each(AGAIN)("is repeated after %s, under the same key", async (_, reply) => {
    const { client, server, keys, clock } = await open([reply, reply, ok]);
    expect(await client.send(order)).toEqual(SENT);
    expect(server.asked).toHaveLength(3);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(clock.pauses).toHaveLength(2);
  });

  it.each(FINAL)("is not repeated after %s", async (_, reply) => {
    const { client, server } = await open([reply, ok]);
    expect((await errorOf(client.send(order))).retryable).toBe(false);
    expect(server.asked).toHaveLength(1);
  });

  it("is not repeated where nothing tells the gateway that it is the same: a POST without a key", async () => {
    const { client, server, keys } = await open(["reset"]);
    await errorOf(client.walletChallenge({ walletAddress: "0x1" }));
    expect(keys()).toEqual([undefined]);
    const facilitated = client.verify({} as Parameters<GatewayClient["verify"]>[0]);
    await errorOf(facilitated);
    expect(server.asked).toHaveLength(2);
  });

  it("carries a key of its own wherever money is moved or built, another one in each call", async () => {
    const { client, server, keys } = await open([fault(400, "INVALID_REQUEST")]);
    const asked = { walletAddress: "0x1", paymentProof: "proof", expectedAmount: 1 };
    const calls = [
      () => client.send(order),
      () => client.receive(asked),
      () => client.buildSend(order),
      () => client.buildReceive(asked),
      () => client.settle({} as Parameters<GatewayClient["settle"]>[0]),
      () => client.walletProve({ walletAddress: "0x1", nonce: "n", signature: "s" }),
    ];
    for (const call of calls) await errorOf(call());
    expect(new Set(keys().filter((key) => key !== undefined)).size).toBe(calls.length);
    expect(server.asked.map(({ url }) => url)).toContain("/payment/receive");
  });

  it("takes the caller's key, and tells under which key it can be repeated", async () => {
    const { client, keys } = await open([broken], { retries: 1 });
    const error = await errorOf(client.send(order, { idempotencyKey: "order-17" }));
    expect([keys(), error.idempotencyKey]).toEqual([["order-17", "order-17"], "order-17"]);
    await expect(client.send(order, { idempotencyKey: "two words" })).rejects.toThrow(TypeError);
  });

  it("is made once where retries are 0, and four times where nothing is said", async () => {
    const none = await open([broken], { retries: 0 });
    await errorOf(none.client.send(order));
    expect(none.server.asked).toHaveLength(1);
    const usual = await open([broken]);
    await errorOf(usual.client.send(order));
    expect(usual.server.asked).toHaveLength(4);
  });

  it("waits longer each time, and not the same for two callers", async () => {
    const pausesWith = async (clock: MovedClock) => {
      await errorOf((await open([broken], { retries: 8, totalMs: 600_000 }, clock)).client.send(order));
      return clock.pauses;
    };
    expect(await pausesWith(movedClock(1))).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
    expect(await pausesWith(movedClock(0))).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("waits as long as Retry-After says", async () => {
    const limited = fault(429, "RATE_LIMIT", { retryable: true, headers: { "retry-after": "7" } });
    const { client, clock } = await open([limited, ok], {}, movedClock(0));
    await client.send(order);
    expect(clock.pauses).toEqual([7_000]);
  });

  it("ends before its whole time is over, and tells how long to wait", async () => {
    const limited = fault(429, "RATE_LIMIT", { retryable: true, headers: { "retry-after": "61" } });
    const { client, server, clock } = await open([limited, ok], { totalMs: 60_000 });
    const error = await errorOf(client.send(order));
    expect(error).toMatchObject({ code: "RATE_LIMIT", retryAfterMs: 61_000, retryable: true, inDoubt: false });
    expect([server.asked.length, clock.pauses]).toEqual([1, []]);
    const slow = await open([broken], { retries: 10, totalMs: 1_000 }, movedClock(1));
    await errorOf(slow.client.send(order));
    expect(slow.clock.pauses).toEqual([250, 500]);
  });

  it("asks how things are once: health and ready", async () => {
    const { client, server } = await open([busy]);
    await errorOf(client.health());
    expect(await errorOf(client.ready())).toMatchObject({ code: "UNAVAILABLE", status: 503 });
    expect(server.asked).toHaveLength(2);
  });

  it("ends with the caller's own reason when it is aborted, in flight and while it waits", async () => {
    const reason = new Error("enough");
    const hanging = await open(["hang"]);
    const inFlight = new AbortController();
    const call = hanging.client.send(order, { signal: inFlight.signal });
    await expect.poll(() => hanging.server.asked.length).toBe(1);
    inFlight.abort(reason);
    await expect(call).rejects.toBe(reason);

    const waiting = new AbortController();
    const clock = { ...movedClock(), wait: async () => waiting.abort(reason) };
    const server = await startScriptedGateway(inTurn(broken));
    const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY }, clock);
    await expect(client.send(order, { signal: waiting.signal })).rejects.toBe(reason);
    expect(server.asked).toHaveLength(1);
    await expect(client.send(order, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(server.asked).toHaveLength(1);
  });

  it("gives a gateway that is silent no more than its time", async () => {
    const { client, server } = await open(["hang"], { timeoutMs: 1_000, retries: 1 });
    const error = await errorOf(client.send(order));
    expect(error).toMatchObject({ code: "UNREACHABLE", inDoubt: true });
    expect(server.asked).toHaveLength(2);
  });

  it("gives a receive the time that it asks the gateway to take", async () => {
    const asked = { walletAddress: "0x1", paymentProof: "proof", expectedAmount: 1 };
    const server = await startScriptedGateway(async () => {
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { body: { success: true, verified: true, status: "confirmed", payer: "0x2" } };
    });
    const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY, timeoutMs: 150, retries: 0 });
    expect(await errorOf(client.receive(asked))).toMatchObject({ code: "UNREACHABLE" });
    expect(await client.receive({ ...asked, timeout: 10 })).toMatchObject({ verified: true });
  });
});

describe("whether a call that failed may have been carried out", () => {
  const DOUBT: readonly (readonly [string, readonly Scripted[], boolean])[] = [
    ["an answer that never came", ["reset"], true],
    ["INTERNAL_ERROR", [broken], true],
    ["a page of status 200", [{ body: "<html>" }], true],
    ["a proxy's 504", [{ status: 504, body: "" }], true],
    ["a proxy's 404", [{ status: 404, body: "<html>" }], false],
    ["UNAVAILABLE, which says that nothing was done", [busy], false],
    ["FORBIDDEN", [fault(403, "FORBIDDEN")], false],
    ["a lost answer and then RATE_LIMIT", ["reset", fault(429, "RATE_LIMIT", { retryable: false })], true],
    ["a lost answer and then UNAUTHORIZED", ["reset", fault(401, "UNAUTHORIZED")], true],
    ["a lost answer and then a refusal of the very request", ["reset", fault(400, "INSUFFICIENT_BALANCE")], false],
  ];
  it.each(DOUBT)("is told after %s", async (_, replies, inDoubt) => {
    const { client } = await open(replies);
    expect((await errorOf(client.send(order))).inDoubt).toBe(inDoubt);
  });

  it("is never in doubt where nobody was reached, or nothing is done by it", async () => {
    const client = createGatewayClient({ baseUrl: "http://127.0.0.1:9", apiKey: API_KEY }, movedClock());
    expect(await errorOf(client.send(order))).toMatchObject({ code: "UNREACHABLE", inDoubt: false });
    const { client: reading } = await open(["reset"]);
    expect((await errorOf(reading.status("pay_1"))).inDoubt).toBe(false);
  });
});
