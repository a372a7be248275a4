// `client.events()` against a gateway that refuses, breaks off, floods or falls silent: it comes back with jitter, resumes where
// it was, holds a bounded backlog, and ends with the gateway's own code where another connection would bring no more.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { gatewayClient } from "../../src/client/gateway-client.js";
import { GatewayError } from "../../src/client/gateway-client-error.js";
import { streamEvents } from "../../src/client/gateway-client-events.js";
import type { PaymentEvent } from "../../src/client/gateway-client-shapes.js";
import { newPayment } from "../gateway/database/payments-made.js";
import { createGatewayWorld } from "../gateway/world.js";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0)) await end();
});

interface Line {
  readonly socket: WebSocket;
  /** From which it was subscribed. */
  readonly since: number | undefined;
}

/** A gateway that takes every key, and does with a subscription what the test says. */
async function startScripted(subscribed: (line: Line) => void) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  ends.push(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const lines: Line[] = [];
  server.on("connection", (socket) => {
    socket.on("message", (text) => {
      const { method, since } = JSON.parse(String(text)) as { method: string; since?: number };
      if (method === "authenticate") socket.send(JSON.stringify({ type: "authenticated", account: "a", plan: "p" }));
      if (method !== "subscribe") return;
      const line = { socket, since };
      lines.push(line);
      socket.send(JSON.stringify({ type: "subscribed", keys: ["payments"], cursor: since ?? 0 }));
      subscribed(line);
    });
  });
  const { port } = server.address() as AddressInfo;
  return { base: `http://127.0.0.1:${port}`, lines };
}
const tell = ({ socket }: Line, cursor: number, note = "") =>
  socket.send(
    JSON.stringify({
      type: "payment",
      id: `evt_${cursor}`,
      cursor,
      at: 0,
      data: { paymentId: "p", status: "s", note },
    }),
  );

/** Iterates without a pause between connections, which are written down. */
function stream(
  base: string,
  { retries = 3, draw = 0, signal }: { retries?: number; draw?: number; signal?: AbortSignal },
) {
  const pauses: number[] = [];
  const wait = async (ms: number) => void pauses.push(ms);
  const events = streamEvents(
    { base, secret: "tg_test_x", retries },
    { keys: ["payments"], signal },
    { random: () => draw, wait },
  );
  return { events, pauses };
}

describe("events", () => {
  it("of a key that is revoked meanwhile end with UNAUTHORIZED, typed, and no further connection", async () => {
    const world = await createGatewayWorld({ watch: false, context: { eventTimes: { beatMs: 50 } } });
    ends.push(() => world.close());
    const account = await world.newAccount();
    const client = gatewayClient({ baseUrl: world.url, apiKey: await world.newKey({ account }) });
    const events = client.events({ keys: ["payments"], since: 0 });
    await world.gateway.parts.database.payments.insert(newPayment(account));
    expect((await events.next()).value).toMatchObject({ cursor: 1 });
    const next = events.next();
    const [key] = await world.gateway.database.keys.list(account);
    await world.gateway.database.keys.revoke(account, key?.id ?? "");
    const error = await next.catch((reason) => reason);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: "UNAUTHORIZED", endpoint: "GET /events", retryable: false });
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  it.each([
    ["least", 0, [125, 250, 500, 1_000, 2_000, 4_000, 4_000]],
    ["most", 1, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]],
  ])(
    "come back after pauses that grow and are drawn, at %s, and give up where nobody ever answered",
    async (_, draw, expected) => {
      const { events, pauses } = stream("http://127.0.0.1:9", { retries: expected.length, draw });
      await expect(events.next()).rejects.toMatchObject({ code: "UNREACHABLE" });
      expect(pauses).toEqual(expected);
    },
  );

  it("resume after the last one that was handed out, however often the connection breaks", async () => {
    const { base, lines } = await startScripted((line) => {
      const from = line.since ?? 0;
      // The first one is told again, as by an instance that knows no better.
      for (const cursor of [from, from + 1, from + 2]) if (cursor > 0) tell(line, cursor);
      line.socket.close();
    });
    const { events } = stream(base, { retries: 0 });
    const got: number[] = [];
    for await (const { cursor } of events) if (got.push(cursor) === 12) break;
    expect(got).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
    expect(lines.map(({ since }) => since)).toEqual([undefined, 2, 4, 6, 8, 10]);
  });

  it.each([
    ["of small ones", 5_000, "", 1_100],
    ["of large ones", 60, "x".repeat(500_000), 20],
  ])(
    "do not pile up %s before a slow reader: the connection is given up, and the rest asked for again",
    async (_, total, note, most) => {
      const { base, lines } = await startScripted((line) => {
        for (let cursor = (line.since ?? 0) + 1; cursor <= total; cursor += 1) tell(line, cursor, note);
      });
      const { events } = stream(base, {});
      const got: PaymentEvent[] = [];
      const read = async () => {
        const { value } = await events.next();
        if (value) got.push(value);
      };
      await read();
      const [first] = lines;
      if (first && first.socket.readyState < 3) await once(first.socket, "close");
      while (got.length < total) await read();
      expect(got.every(({ cursor }, at) => cursor === at + 1)).toBe(true);
      // What came before it was given up; a reader that keeps up is told the rest on one connection.
      expect(lines.length).toBeGreaterThan(1);
      expect(lines[1]?.since).toBeLessThan(most);
      await events.return();
    },
    60_000,
  );

  it("of a gateway that has fallen silent come from another connection", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { base, lines } = await startScripted((line) => {
      if (line.since !== undefined) tell(line, line.since + 1);
    });
    const { events } = stream(base, {});
    const next = events.next();
    let got: unknown;
    void next.then((one) => {
      got = one;
    });
    // Asked after 20 s whether anybody is there, and left after 20 more.
    while (got === undefined) {
      await vi.advanceTimersByTimeAsync(1_000);
      await new Promise(setImmediate);
    }
    expect(got).toMatchObject({ value: { cursor: 1 } });
    expect(lines).toHaveLength(2);
    await events.return();
  });

  it("end at once when the signal comes between two connections", async () => {
    const stop = new AbortController();
    const waiting: number[] = [];
    const wait = (ms: number, signal?: AbortSignal) =>
      new Promise<void>((_, reject) => {
        waiting.push(ms);
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
        stop.abort();
      });
    const at = { base: "http://127.0.0.1:9", secret: "tg_test_x", retries: 9 };
    const events = streamEvents(at, { keys: ["payments"], signal: stop.signal }, { random: () => 0, wait });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(waiting).toHaveLength(1);
  });
});
