// The guard reads the body first, and whoever reads it afterwards finds every byte.
import { createServer, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express, { type Request, type RequestHandler, type Response } from "express";
import fc from "fast-check";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { toMiddleware as forExpress } from "../../adapters/express-middleware.js";
import { toMiddleware as forHono } from "../../adapters/hono-middleware.js";
import { peekBody } from "../../adapters/node-body.js";
import { express4, listen, type Running } from "./frameworks.js";
import { createScript, latch } from "./script.js";
import { open, send } from "./wire.js";

const LIMIT = 2 * 1024 * 1024;
const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(server: Server): Promise<number> {
  const started = await listen(server);
  running.push(started);
  return started.port;
}

/** A guard that peeks and then opens; what it saw is kept. */
function peeking(limit = LIMIT) {
  const seen: (string | undefined)[] = [];
  const script = createScript({
    verdict: async (_, request) => {
      const body = await request.body(limit);
      const again = await request.body(limit);
      const [first, second] = [body, again].map((bytes) => bytes && Buffer.from(bytes).toString());
      expect(second === first).toBe(true);
      seen.push(first);
      return { kind: "open" };
    },
  });
  return { guard: script.guard, seen };
}

const JSON_BODIES = { "0 B": "", "1 B": "1", "1 MB": JSON.stringify({ text: "x".repeat(1_000_000) }) };

describe.each([
  ["Express 5", express],
  ["Express 4", express4],
] as const)("%s", (_, create) => {
  const limit = "2mb";
  const parsers: readonly (readonly [string, RequestHandler, string])[] = [
    ["json()", create.json({ limit, strict: false }), "application/json"],
    ["raw()", create.raw({ limit, type: "*/*" }), "application/json"],
    ["text()", create.text({ limit, type: "*/*" }), "text/plain"],
    ["urlencoded()", create.urlencoded({ limit, extended: true }), "application/x-www-form-urlencoded"],
  ];
  const echo = (req: Request, res: Response) => {
    const body: unknown = req.body;
    if (Buffer.isBuffer(body)) res.end(body);
    else res.end(typeof body === "string" ? body : JSON.stringify(body ?? "none"));
  };

  describe.each(parsers)("with %s", (name, parser, type) => {
    it.each(Object.entries(JSON_BODIES))("behind the paywall, a body of %s is read by both", async (size, json) => {
      const body = name === "urlencoded()" && json ? `a=${"x".repeat(json.length)}` : json;
      const { guard, seen } = peeking();
      const app = create().use(forExpress(guard), parser, echo);
      const answer = await send(await start(createServer(app)), "/", {
        method: "POST",
        body,
        headers: { "Content-Type": type },
      });
      expect(seen).toEqual([body]);
      expect(answer.status).toBe(200);
      if (size !== "0 B")
        expect(answer.text).toBe(name === "urlencoded()" ? JSON.stringify({ a: body.slice(2) }) : body);
    });

    it.each(Object.entries(JSON_BODIES))(
      "before the paywall, a body of %s is known to be gone",
      async (_size, body) => {
        const { guard, seen } = peeking();
        const app = create().use(parser, forExpress(guard), echo);
        const sent = {
          method: "POST",
          body: name === "urlencoded()" ? `a=${body}` : body,
          headers: { "Content-Type": type },
        };
        expect((await send(await start(createServer(app)), "/", sent)).status).toBe(200);
        expect(seen).toEqual([sent.body === "" ? "" : undefined]);
      },
    );
  });

  it("leaves an empty chunked body to a parser", async () => {
    const { guard, seen } = peeking();
    const app = create().use(forExpress(guard), create.json(), echo);
    const { socket, answer } = open(await start(createServer(app)));
    const head =
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    socket.write(`${head}0\r\n\r\n`);
    expect((await answer).status).toBe(200);
    expect(seen).toEqual([""]);
  });

  it("waits for a slow chunked upload", async () => {
    const { guard, seen } = peeking();
    const arrived = latch();
    const app = create().use((req, _res, next) => {
      arrived.open();
      req.once("end", () => undefined);
      next();
    });
    app.use(forExpress(guard), create.text({ type: "*/*" }), echo);
    const { socket, answer } = open(await start(createServer(app)));
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    );
    await arrived.promise;
    for (const chunk of ["1\r\n \r\n", "5\r\nworld\r\n", "0\r\n\r\n"]) {
      await new Promise((turn) => setImmediate(turn));
      socket.write(chunk);
    }
    expect((await answer).text).toBe("hello world");
    expect(seen).toEqual(["hello world"]);
  });

  it("serves a client that waits for 100 Continue", async () => {
    const { guard, seen } = peeking();
    const app = create().use(forExpress(guard), create.text({ type: "*/*" }), echo);
    const { socket, answer, bytes } = open(await start(createServer(app)));
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
    );
    await new Promise((data) => socket.once("data", data));
    expect(bytes().toString()).toMatch(/^HTTP\/1\.1 100/);
    socket.write("hello");
    expect((await answer).text).toBe("hello");
    expect(seen).toEqual(["hello"]);
  });

  it("gives no body that is too long or broke off, and leaves the long one whole", async () => {
    const { guard, seen } = peeking(10);
    const headers = { "Content-Type": "text/plain" };
    const app = create().use(forExpress(guard), create.text({ type: "*/*" }), echo);
    const port = await start(createServer(app));
    expect((await send(port, "/", { method: "POST", body: "more than ten", headers })).text).toBe("more than ten");
    const { socket, answer } = open(port);
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nmore than ten\r\n0\r\n\r\n",
    );
    expect((await answer).text).toBe("more than ten");
    expect(seen).toEqual([undefined, undefined]);
  });
});

describe("peekBody", () => {
  it("is told when the upload breaks off", async () => {
    const [reading, result] = [latch(), latch<Uint8Array | undefined>()];
    const port = await start(
      createServer(async (req) => {
        const peeked = peekBody(req, LIMIT);
        reading.open();
        result.open(await peeked);
      }),
    );
    const { socket } = open(port);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf");
    await reading.promise;
    socket.destroy();
    expect(await result.promise).toBeUndefined();
  });

  it("gives back the same bytes to every kind of reader, however they arrive", async () => {
    const readers: ((req: import("node:http").IncomingMessage, res: import("node:http").ServerResponse) => void)[] = [
      (req, res) => void req.pipe(res),
      async (req, res) => {
        for await (const chunk of req) res.write(chunk);
        res.end();
      },
      (req, res) => {
        req.on("data", (chunk) => res.write(chunk));
        req.on("end", () => res.end());
      },
    ];
    const seen: Buffer[] = [];
    const port = await start(
      createServer(async (req, res) => {
        const body = await peekBody(req, LIMIT);
        seen.push(Buffer.from(body ?? "undefined"));
        readers[Number(req.url?.slice(1))]?.(req, res);
      }),
    );
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40_000 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.nat(2), fc.boolean(), async (parts, reader, together) => {
        const whole = Buffer.concat(parts);
        const { socket, answer } = open(port);
        socket.setNoDelay(true);
        const head = `POST /${reader} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`;
        const pieces = [
          head,
          ...parts.flatMap((part) => [`${part.length.toString(16)}\r\n`, part, "\r\n"]),
          "0\r\n\r\n",
        ];
        if (together) socket.write(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
        else
          for (const piece of pieces) {
            socket.write(piece);
            await new Promise((turn) => setImmediate(turn));
          }
        expect((await answer).body.equals(whole)).toBe(true);
        expect(seen.pop()?.equals(whole)).toBe(true);
      }),
      { seed: 402, numRuns: 60 },
    );
  });
});

describe("Hono", () => {
  const app = (guard: Parameters<typeof forHono>[0]) =>
    new Hono().use(forHono(guard)).post("/", async (c) => c.text(await c.req.text()));
  const serve = (guard: Parameters<typeof forHono>[0]) =>
    start(createAdaptorServer({ fetch: app(guard).fetch }) as Server);

  it.each(Object.entries(JSON_BODIES))("a body of %s is read by the guard and by the handler", async (_, body) => {
    const { guard, seen } = peeking();
    expect((await send(await serve(guard), "/", { method: "POST", body })).text).toBe(body);
    expect(seen).toEqual([body]);
  });

  it("gives no body that is too long, and leaves it whole", async () => {
    const { guard, seen } = peeking(10);
    const headers = { "Content-Type": "text/plain" };
    const port = await serve(guard);
    expect((await send(port, "/", { method: "POST", body: "more than ten", headers })).text).toBe("more than ten");
    const { socket, answer } = open(port);
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nmore than ten\r\n0\r\n\r\n",
    );
    expect((await answer).text).toBe("more than ten");
    expect(seen).toEqual([undefined, undefined]);
  });

  it("knows that a body is gone which middleware has read, and the handler still has it from Hono", async () => {
    const { guard, seen } = peeking();
    const reading = new Hono()
      .use(async (c, next) => {
        await c.req.text();
        await next();
      })
      .route("/", app(guard));
    const port = await start(createAdaptorServer({ fetch: reading.fetch }) as Server);
    const headers = { "If-None-Match": "x" };
    expect((await send(port, "/", { method: "POST", body: "hello", headers })).text).toBe("hello");
    expect(seen).toEqual([undefined]);
  });

  it("knows that a body is gone which was read from the raw stream", async () => {
    const { guard, seen } = peeking();
    const reading = new Hono()
      .use(async (c, next) => {
        const reader = c.req.raw.body?.getReader();
        while (reader && !(await reader.read()).done);
        reader?.releaseLock();
        await next();
      })
      .use(forHono(guard))
      .post("/", (c) => c.text("done"));
    const answer = await reading.request("http://shop.test/", { method: "POST", body: "hello" });
    expect(await answer.text()).toBe("done");
    expect(seen).toEqual([undefined]);
  });

  it("leaves the body to the handler of an admitted conditional request", async () => {
    const script = createScript();
    const port = await serve(script.guard);
    const sent = { method: "POST", body: "hello", headers: { "If-None-Match": "x" } };
    expect((await send(port, "/", sent)).text).toBe("hello");
  });
});
