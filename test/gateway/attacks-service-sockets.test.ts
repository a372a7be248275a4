// Attacks by how bytes come and go: readers that stop reading, senders that never end, connections that are only held.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type RunningGateway, serve } from "../../src/gateway/serve.js";
import { ask } from "./call.js";
import { REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const { engine, answer, hold, reached } = scriptEngine();
const [, , [, STATUS], [, HISTORY]] = REQUESTS;
/** Of no other timer here. */
const ANSWER_MS = 543;
let world: GatewayWorld;
let server: RunningGateway;
beforeAll(async () => {
  world = await createGatewayWorld({ context: { engine } });
  server = await serve(world.gateway, { port: 0, answerMs: ANSWER_MS });
});
afterAll(async () => {
  await server.close();
  await world.close();
});

/** A connection from both of its ends. */
async function open(bytes: string): Promise<{ readonly client: Socket; readonly served: Socket }> {
  const accepted = once(server.server, "connection") as Promise<[Socket]>;
  const client = connect(server.port, "127.0.0.1", () => void client.write(bytes));
  client.on("error", () => undefined);
  const [served] = await accepted;
  return { client, served };
}
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.apiKey}\r\n\r\n`;

describe("a caller that does not read its answer", () => {
  it("is cut, while one that still waits for its own is not", async () => {
    // More than the buffers of both ends hold together.
    const text = "x".repeat(30_000_000);
    answer("history", async () => ({ ok: true, value: { success: true, text } }));
    const release = hold("status");
    const waiting = ask(server.url, "GET", STATUS, undefined, { key: world.apiKey });
    await expect.poll(() => reached.some(({ verb }) => verb === "status")).toBe(true);
    const { client, served } = await open("");
    client.pause();
    const cut = once(served, "close");
    client.write(get(HISTORY));
    await cut;
    release({ success: true });
    expect((await waiting).status).toBe(200);
    const { text: got } = await ask(world.url, "GET", HISTORY, undefined, { key: world.apiKey });
    expect(got.length).toBeGreaterThan(text.length);
    client.destroy();
    answer("history", undefined);
    answer("status", undefined);
  });

  it("is cut behind an earlier answer of its connection only once its turn has come", async () => {
    const release = hold("status");
    const { client, served } = await open(get(STATUS) + get(HISTORY));
    const got: Buffer[] = [];
    client.on("data", (chunk) => got.push(chunk));
    await expect.poll(() => reached.at(-1)?.verb).toBe("history");
    // Another connection is opened and cut meanwhile: the time of an answer has passed.
    answer("history", async () => ({ ok: true, value: { text: "x".repeat(30_000_000) } }));
    const other = await open(get(HISTORY));
    other.client.pause();
    await once(other.served, "close");
    expect(served.destroyed).toBe(false);
    release({ success: true });
    await expect.poll(() => Buffer.concat(got).toString().split("HTTP/1.1 200").length).toBe(3);
    client.destroy();
    other.client.destroy();
    answer("history", undefined);
    answer("status", undefined);
  });
});

describe("a caller that has gone before its answer", () => {
  it("is waited for by nothing", async () => {
    const release = hold("status");
    const { client, served } = await open(get(STATUS));
    await expect.poll(() => reached.at(-1)?.verb).toBe("status");
    const gone = once(served, "close");
    client.destroy();
    await gone;
    const timers = vi.spyOn(globalThis, "setTimeout");
    const before = world.log.of("request").length;
    release({ success: true });
    await expect.poll(() => world.log.of("request").length).toBe(before + 1);
    expect(timers.mock.calls.filter(([, ms]) => ms === ANSWER_MS)).toEqual([]);
    timers.mockRestore();
    answer("status", undefined);
  });
});

describe("connections that are only held", () => {
  it("keep nobody from an answer: half a request, half a body, and nothing at all", async () => {
    const half = "POST /payment/send HTTP/1.1\r\nHost: x\r\n";
    const own = `${half}Authorization: Bearer ${world.apiKey}\r\nContent-Type: application/json\r\n`;
    const kinds = ["", half, `${own}Content-Length: 60000\r\n\r\n{`, `${own}Transfer-Encoding: chunked\r\n\r\n9\r\n{`];
    const clients = Array.from({ length: 600 }, (_, n) => {
      const client = connect(server.port, "127.0.0.1", () => void client.write(kinds[n % kinds.length] ?? ""));
      client.on("error", () => undefined);
      return client;
    });
    await Promise.all(clients.map((client) => once(client, "connect")));
    expect((await ask(server.url, "GET", HISTORY, undefined, { key: world.apiKey })).status).toBe(200);
    for (const client of clients) client.destroy();
    const count = () => new Promise<number>((resolve) => server.server.getConnections((_error, open) => resolve(open)));
    await expect.poll(count, { timeout: 10_000 }).toBe(0);
    // Nor are they counted as our own failures.
    expect(world.log.of("a request failed")).toEqual([]);
    await expect.poll(() => world.log.of("request").filter(({ status }) => status === 400)).toHaveLength(300);
  });
});
