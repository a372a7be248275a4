// What no client of good will sends, byte by byte over raw sockets: each gets a 4xx in the one shape, or a closed connection,
// and the gateway goes on.
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { errorAnswer } from "../../src/gateway/schemas/index.js";
import { detailsOf } from "./call.js";
import { REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const { engine, reached } = scriptEngine();
const [[, SEND, ORDER]] = REQUESTS;
const STATUS = REQUESTS[2][1];
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ context: { engine } });
});
afterAll(() => world.close());
afterEach(async () => {
  expect((await world.call("GET", STATUS)).status).toBe(200);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

/** Everything that comes back for these bytes until the connection ends. */
function raw(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(world.server.port, "127.0.0.1");
    const got: Buffer[] = [];
    socket.on("data", (chunk) => got.push(chunk));
    socket.on("close", () => resolve(Buffer.concat(got).toString("latin1")));
    // A server that has answered may close before it has read everything.
    socket.on("error", (error) => (got.length > 0 ? resolve(Buffer.concat(got).toString("latin1")) : reject(error)));
    socket.end(bytes);
  });
}
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));

/** A POST to /payment/send with this body and these header lines. */
function request(body: string | Buffer, lines: readonly string[] = ["Content-Type: application/json"]): Buffer {
  const bytes = Buffer.from(body);
  const head = [
    `POST ${SEND} HTTP/1.1`,
    "Host: gateway.example",
    `Authorization: Bearer ${world.apiKey}`,
    `Content-Length: ${bytes.length}`,
    "Connection: close",
    ...lines,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
}

async function expectRefused(bytes: string | Buffer, ...statuses: number[]): Promise<void> {
  const before = reached.length;
  const answer = await raw(bytes);
  expect(statuses).toContain(statusOf(answer));
  expect(errorAnswer.strict().safeParse(bodyOf(answer)).error).toBeUndefined();
  expect(reached.length).toBe(before);
}

const order = (own: string): string => JSON.stringify(ORDER).replace(/}$/, `,${own}}`);
/** An order that is whole but for the bytes of one text. */
const withNetwork = (bytes: readonly number[]): Buffer =>
  Buffer.concat([Buffer.from(order('"network":"')).subarray(0, -1), Buffer.from(bytes), Buffer.from('"}')]);
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("a body that is no order", () => {
  it.each([
    ["empty", ""],
    ["cut off", '{"amount":'],
    ["a word", "null"],
    ["a list", "[]"],
    ["a text", '"x"'],
    ["NaN", order('"priorityFee":NaN')],
    ["a number beyond a double", order('"priorityFee":1e999')],
    ["a negative number beyond a double", order('"priorityFee":-1e999')],
    ["a number below a double", '{"amount":1e-999}'],
    ["two documents", `${JSON.stringify(ORDER)}${JSON.stringify(ORDER)}`],
    ["a comment", `/* */${JSON.stringify(ORDER)}`],
    ["__proto__", order('"__proto__":{"polluted":true}')],
    ["__proto__ deep inside", order('"metadata":{"a":[{"__proto__":{"polluted":true}}]}')],
    ["constructor.prototype", order('"metadata":{"constructor":{"prototype":{"polluted":true}}}')],
    ["toString as a field", order('"toString":1')],
    ["30,000 levels where a field may have some", order(`"metadata":{"a":${nested(30_000)}}`)],
    ["300 levels", order(`"metadata":{"a":${nested(300)}}`)],
    ["32,000 levels", nested(32_000)],
    ["32,000 levels of objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["10,000 fields", `{${Array.from({ length: 6_000 }, (_, n) => `"f${n}":1`).join()}}`],
    ["a NUL", "{\u0000}"],
  ])("is 400: %s", async (_name, body) => {
    await expectRefused(request(body), 400);
  });

  it.each([
    ["not UTF-8", Buffer.from([0x22, 0xff, 0xfe, 0x22])],
    ["UTF-16", Buffer.from(JSON.stringify(ORDER), "utf16le")],
    ["half a character", withNetwork([0xe2, 0x82])],
    ["half of a pair", withNetwork([0xed, 0xa0, 0x80])],
    ["gzip", Buffer.from("H4sIAAAAAAAAA6tWKkktLlGyUlAqS8wpTtVRKkktLgEA", "base64")],
  ])("is 400: %s", async (_name, bytes) => {
    await expectRefused(request(bytes), 400);
  });

  it("keeps words that only look dangerous", async () => {
    const { status } = await world.call("POST", SEND, { ...ORDER, metadata: { constructor: "Ferrari", prototype: 7 } });
    expect(status).toBe(200);
  });

  it("limits the details of an answer", async () => {
    const body = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`field${n}`, 1]));
    const got = await world.call("POST", SEND, body);
    expect(detailsOf(got).length).toBeLessThanOrEqual(50);
  });
});

describe("headers that are no request", () => {
  it("takes the first of two content types, and no list of them", async () => {
    await expectRefused(request("x=1", ["Content-Type: text/plain", "Content-Type: application/json"]), 415);
    await expectRefused(request("{}", ["Content-Type: application/json, application/json"]), 415);
  });

  it("refuses two lengths, a length beside chunks, and a bad chunk", async () => {
    await expectRefused(request("{}", ["Content-Length: 3", "Content-Type: application/json"]), 400);
    await expectRefused(request("0\r\n\r\n", ["Transfer-Encoding: chunked", "Content-Type: application/json"]), 400);
    const chunked = `POST ${SEND} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.apiKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    expect(statusOf(await raw(chunked))).toBe(400);
  });

  it("refuses an Idempotency-Key that stands twice", async () => {
    const lines = ["Content-Type: application/json", "Idempotency-Key: one", "Idempotency-Key: two"];
    await expectRefused(request(JSON.stringify(ORDER), lines), 400);
  });

  it("takes the first of two keys, which Node keeps, and no list of them", async () => {
    const two = `GET ${STATUS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\nAuthorization: Bearer ${world.apiKey}\r\nConnection: close\r\n\r\n`;
    await expectRefused(two, 401);
    await expectRefused(
      `GET ${STATUS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.apiKey}, x\r\nConnection: close\r\n\r\n`,
      401,
    );
  });

  it.each([
    ["a Host that is none", "GET /healthz HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n"],
    ["a Host with a space", "GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
    ["an empty Host", "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"],
    ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["no Host in HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n"],
    ["headers without an end", `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
    ["a target that is none", "GET http:///:x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["a backslash", "GET /payment\\send HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    [
      "an expectation that nobody has",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n",
    ],
    ["no HTTP at all", "hello\r\n\r\n"],
    ["a TLS greeting", Buffer.from("160301020001000001fc0303", "hex")],
  ])("answers %s with a 4xx in the one shape", async (_name, bytes) => {
    await expectRefused(bytes, 400, 404, 431);
  });

  it("takes an absolute target by its path, and an id from a caller only if it is one", async () => {
    const absolute = "GET http://other.example/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    expect(statusOf(await raw(absolute))).toBe(200);
    for (const id of ["short", "x".repeat(65), "with space1", "line\tbreak1", "a;b;c;d;e"]) {
      const { headers } = await world.call("GET", "/healthz", undefined, { headers: { "X-Request-Id": id } });
      expect(headers.get("x-request-id")).toMatch(/^req_[\w-]{16}$/);
    }
    const { headers } = await world.call("GET", "/healthz", undefined, { headers: { "X-Request-Id": "abc-DEF_123" } });
    expect(headers.get("x-request-id")).toBe("abc-DEF_123");
  });

  it("answers a body of 10 MB for which nobody has authenticated without reading it", async () => {
    const head = `POST ${SEND} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000000\r\n\r\n`;
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(world.server.port, "127.0.0.1", () => socket.write(head));
      socket.once("data", (chunk) => {
        socket.destroy();
        resolve(chunk.toString());
      });
    });
    expect(statusOf(answer)).toBe(401);
  });
});
