import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createHttpClient, type HttpCall, type HttpClient, MAX_ANSWER_BYTES } from "../../src/receive/http.js";
import { answer, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";

const PAYMENT = JSON.stringify({
  x402Version: 2,
  paymentPayload: { payload: { signature: "0x", authorization: { from: "0xa", nonce: "0xb" } } },
  paymentRequirements: { network: "eip155:84532", asset: "0x1", payTo: "0x2", amount: "1" },
});

/** Long enough for a busy machine to connect and to get the first byte within it; what is tested never ends by itself. */
const LIMIT_MS = 2_000;

/** A TCP server that sends these bytes to whoever connects and writes; nothing when `bytes` is undefined. */
async function startRawServer(bytes: string): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

describe.each(["node", "fetch"] as const)("a JSON call over %s", (transport) => {
  let facilitator: ScriptedFacilitator;
  let client: HttpClient;

  beforeAll(async () => {
    facilitator = await startScriptedFacilitator();
  });
  afterAll(() => facilitator.close());
  beforeEach(() => {
    client = createHttpClient(transport);
  });
  afterEach(() => client.close());

  const settle = (more: Partial<HttpCall> = {}) =>
    client.call({
      method: "POST",
      url: `${facilitator.url}/settle`,
      headers: { authorization: "Bearer sesame" },
      body: PAYMENT,
      timeoutMs: 5_000,
      ...more,
    });

  it("sends JSON with the given headers and returns the parsed answer", async () => {
    const reply = await settle();
    expect(reply).toMatchObject({ outcome: "answer", status: 200, body: { success: true }, retryAfterMs: undefined });
    const { headers, body } = facilitator.requests.at(-1)!;
    expect(headers).toMatchObject({ authorization: "Bearer sesame", "content-type": "application/json" });
    expect(body).toEqual(JSON.parse(PAYMENT));
  });

  it("sends non-ASCII text whole", async () => {
    await settle({ body: JSON.stringify({ ...JSON.parse(PAYMENT), note: "€ 一 🙂" }) });
    expect(facilitator.requests.at(-1)?.body).toMatchObject({ note: "€ 一 🙂" });
  });

  it("follows no redirect", async () => {
    facilitator.script(
      "settle",
      answer.redirect(`${facilitator.url}/verify`),
      answer.redirect(`${facilitator.url}/verify`, 302),
    );
    const before = facilitator.requests.length;
    expect(await settle()).toMatchObject({ outcome: "answer", status: 308 });
    expect(await settle()).toMatchObject({ outcome: "answer", status: 302 });
    expect(facilitator.requests.slice(before).map(({ endpoint }) => endpoint)).toEqual(["settle", "settle"]);
  });

  it("gives a body that is not JSON as undefined", async () => {
    facilitator.script("settle", answer.html(), answer.empty(), answer.text("\xff", 200));
    expect(await settle()).toMatchObject({ outcome: "answer", status: 200, body: undefined });
    expect(await settle()).toMatchObject({ outcome: "answer", status: 200, body: undefined });
    expect(await settle()).toMatchObject({ outcome: "answer", status: 200, body: undefined });
  });

  it("refuses a body that is not UTF-8", async () => {
    facilitator.script("settle", ({ response }) => void response.writeHead(200).end(Buffer.from('"\xff"', "latin1")));
    expect(await settle()).toMatchObject({ outcome: "answer", body: undefined });
  });

  it("reads Retry-After as seconds and as a date", async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    facilitator.script(
      "settle",
      answer.status(429, { "retry-after": "7" }),
      answer.status(429, { "retry-after": date }),
      answer.status(429, { "retry-after": "soon" }),
    );
    expect(await settle()).toMatchObject({ status: 429, retryAfterMs: 7_000 });
    const dated = await settle();
    expect(dated).toMatchObject({
      status: 429,
      retryAfterMs: expect.toSatisfy((ms: number) => ms > 50_000 && ms <= 60_000),
    });
    expect(await settle()).toMatchObject({ status: 429, retryAfterMs: undefined });
  });

  it("stops reading an answer at the size limit", async () => {
    facilitator.script("settle", answer.huge(1024 * 1024));
    expect(await settle()).toMatchObject({
      outcome: "failed",
      failure: "bad_answer",
      sent: true,
      message: expect.stringContaining("larger"),
    });
  });

  it("reads an answer just below the size limit", async () => {
    facilitator.script("settle", answer.text(`"${"a".repeat(MAX_ANSWER_BYTES - 2)}"`));
    expect(await settle()).toMatchObject({ outcome: "answer", status: 200 });
  });

  it("gives up on an answer that drips beyond the time limit", async () => {
    facilitator.script("settle", answer.drip());
    const reply = await settle({ timeoutMs: LIMIT_MS });
    expect(reply).toMatchObject({ outcome: "failed", failure: "bad_answer", sent: true });
  });

  it("gives up on a peer that never answers, and says that the request left", async () => {
    facilitator.script("settle", answer.hang());
    const reply = await settle({ timeoutMs: LIMIT_MS });
    expect(reply).toMatchObject({ outcome: "failed", failure: "unreachable", sent: true });
  });

  it("says that the request left when the connection is reset before the answer", async () => {
    facilitator.script("settle", answer.reset());
    expect(await settle()).toMatchObject({ outcome: "failed", failure: "unreachable", sent: true });
  });

  it("calls an answer bad that breaks off half way", async () => {
    facilitator.script("settle", answer.cutOff());
    expect(await settle()).toMatchObject({ outcome: "failed", failure: "bad_answer", sent: true });
  });

  it("knows that nothing left when the connection is refused", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/settle`;
    expect(await settle({ url })).toMatchObject({ outcome: "failed", failure: "unreachable", sent: false });
  });

  it("knows that nothing left when the host has no address", async () => {
    expect(await settle({ url: "http://facilitator.invalid/settle" })).toMatchObject({
      outcome: "failed",
      sent: false,
    });
  });

  it("sends nothing when the caller gave up before the call", async () => {
    const before = facilitator.requests.length;
    expect(await settle({ signal: AbortSignal.abort() })).toMatchObject({ outcome: "failed", sent: false });
    expect(facilitator.requests.length).toBe(before);
  });

  it("ends a running call when the caller gives up", async () => {
    facilitator.script("settle", answer.hang());
    const count = facilitator.requests.filter(({ endpoint }) => endpoint === "settle").length;
    const abort = new AbortController();
    const reply = settle({ signal: abort.signal });
    await facilitator.received("settle", count + 1);
    abort.abort();
    expect(await reply).toMatchObject({ outcome: "failed", failure: "unreachable", sent: true });
  });

  it("keeps headers, body and address out of every failure message", async () => {
    facilitator.script("settle", answer.reset(), answer.cutOff(), answer.hang());
    const url = `http://127.0.0.1:${await closedPort()}/settle`;
    const replies = [
      await settle(),
      await settle(),
      await settle({ timeoutMs: 100 }),
      await settle({ url }),
      await settle({ headers: { authorization: "Bearer sesame\nx: y" } }),
    ];
    for (const reply of replies) {
      expect(reply.outcome).toBe("failed");
      expect(JSON.stringify(reply)).not.toMatch(/sesame|0xa|127\.0\.0\.1/);
    }
  });
});

describe("a JSON call over node", () => {
  it("uses one connection for calls in sequence", async () => {
    const facilitator = await startScriptedFacilitator();
    const client = createHttpClient("node");
    for (let i = 0; i < 20; i++) {
      const reply = await client.call({
        method: "GET",
        url: `${facilitator.url}/supported`,
        headers: {},
        timeoutMs: 5_000,
      });
      expect(reply).toMatchObject({ outcome: "answer", status: 200 });
    }
    expect(facilitator.connections).toBe(1);
    client.close();
    await facilitator.close();
  });

  it("opens a new connection after one was cut off, and the next call succeeds", async () => {
    const facilitator = await startScriptedFacilitator();
    const client = createHttpClient("node");
    const url = `${facilitator.url}/supported`;
    const get = () => client.call({ method: "GET", url, headers: {}, timeoutMs: LIMIT_MS });
    facilitator.script("supported", answer.honest(), answer.reset(), answer.drip(), answer.honest());
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push((await get()).outcome);
    expect(outcomes).toEqual(["answer", "failed", "failed", "answer"]);
    expect(facilitator.connections).toBe(3);
    client.close();
    await facilitator.close();
  });

  it("does not read an answer in an encoding that was not asked for", async () => {
    const facilitator = await startScriptedFacilitator();
    const client = createHttpClient("node");
    facilitator.script("supported", answer.text("{}", 200, { "content-encoding": "br" }));
    const reply = await client.call({
      method: "GET",
      url: `${facilitator.url}/supported`,
      headers: {},
      timeoutMs: 5_000,
    });
    expect(reply).toMatchObject({ outcome: "answer", status: 200, body: undefined });
    expect(facilitator.requests[0]?.headers["accept-encoding"]).toBe("identity");
    client.close();
    await facilitator.close();
  });

  it("writes nothing to a peer that accepts the connection and fails the TLS handshake", async () => {
    const raw = await startRawServer("not TLS");
    const client = createHttpClient("node");
    const reply = await client.call({
      method: "POST",
      url: raw.url.replace("http:", "https:"),
      headers: {},
      body: PAYMENT,
      timeoutMs: 5_000,
    });
    expect(reply).toMatchObject({ outcome: "failed", failure: "unreachable", sent: false });
    client.close();
    await raw.close();
  });

  it("calls bytes that are not HTTP a bad answer", async () => {
    const raw = await startRawServer("SSH-2.0-OpenSSH\r\n\r\n");
    const client = createHttpClient("node");
    const reply = await client.call({ method: "POST", url: raw.url, headers: {}, body: PAYMENT, timeoutMs: 5_000 });
    expect(reply).toMatchObject({ outcome: "failed", failure: "bad_answer", sent: true });
    client.close();
    await raw.close();
  });
});

describe("the place that a URL names", () => {
  it("is called with its query and its credentials, also the second time", async () => {
    const seen: (string | undefined)[] = [];
    const server = createHttpServer((request, response) => {
      seen.push(request.url, request.headers.authorization, request.headers.host);
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const client = createHttpClient("node");
    const url = `http://a%3Ab:c%40d@127.0.0.1:${port}/v2/key?chain=8453`;
    for (let call = 0; call < 2; call++) await client.call({ method: "GET", url, headers: {}, timeoutMs: 5_000 });
    client.close();
    await new Promise((resolve) => server.close(resolve));
    const expected = ["/v2/key?chain=8453", `Basic ${Buffer.from("a:b:c@d").toString("base64")}`, `127.0.0.1:${port}`];
    expect(seen).toEqual([...expected, ...expected]);
  });
});
