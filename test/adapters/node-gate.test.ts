// What only a node:http response can do, and what the gate makes of it.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { holdAnswer } from "../../adapters/node-gate.js";
import { listen, type Running } from "./frameworks.js";
import { createScript, latch, replace, type Script, TIMED_OUT } from "./script.js";
import { open, requestBytes, send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

type Handler = (req: IncomingMessage, res: ServerResponse) => unknown;

/** A bare node:http server whose handler writes to a held response. */
async function gated(script: Script, handler: Handler): Promise<number> {
  const server = await listen(
    createServer((req, res) => {
      holdAnswer(res, script.capture);
      handler(req, res);
    }),
  );
  running.push(server);
  return server.port;
}

describe("a held node:http response", () => {
  it("looks to the handler like a response that was sent", async () => {
    const seen: unknown[] = [];
    let finished: Promise<boolean> | undefined;
    const script = createScript();
    const port = await gated(script, (_, res) => {
      seen.push(res.headersSent, res.writableEnded);
      res.writeHead(500, "Broken", { "X-A": "1" });
      seen.push(res.headersSent, res.statusCode, res.statusMessage);
      for (const late of [
        () => res.setHeader("X-B", "1"),
        () => res.removeHeader("X-A"),
        () => res.appendHeader("X-A", "2"),
        () => res.writeHead(200),
      ])
        expect(late).toThrow(expect.objectContaining({ code: "ERR_HTTP_HEADERS_SENT" }));
      res.statusCode = 200;
      res.end("x");
      seen.push(res.writableEnded, res.writableFinished);
      finished = once(res, "finish").then(() => res.writableFinished);
      res.write("too late");
      res.end("too late");
    });
    const answer = await send(port, "/");
    expect(answer).toMatchObject({ status: 500, reason: "Broken", text: "x" });
    expect(answer.headers["x-a"]).toBe("1");
    expect(seen).toEqual([false, false, true, 500, "Broken", true, false]);
    expect(await finished).toBe(true);
    expect(script.log[0]).toBe("answered 500");
  });

  it.each([
    ["an object", { "X-A": "1", "X-B": ["2", "3"] }],
    ["a flat array", ["X-A", "1", "X-B", "2", "X-B", "3"]],
    [
      "pairs",
      [
        ["X-A", "1"],
        ["X-B", "2"],
        ["X-B", "3"],
      ],
    ],
  ])("takes the headers of writeHead as %s", async (_, headers) => {
    const port = await gated(createScript(), (_req, res) => {
      // The types know two of the three forms that Node takes.
      Reflect.apply(res.writeHead, res, [200, headers]);
      res.end();
    });
    expect((await send(port, "/")).headers).toMatchObject({ "x-a": "1", "x-b": "2\n3", "payment-response": "receipt" });
  });

  it("refuses what Node refuses, with Node's codes", async () => {
    const port = await gated(createScript(), (_, res) => {
      const codeOf = (...call: readonly [(...args: never[]) => unknown, ...unknown[]]) => {
        try {
          Reflect.apply(call[0], res, call.slice(1));
          return "none";
        } catch (error) {
          return error instanceof Error && "code" in error ? error.code : error;
        }
      };
      const codes = [
        codeOf(res.writeHead, 42),
        codeOf(res.writeHead, 200, "a\nb"),
        codeOf(res.writeHead, 200, ["odd"]),
        codeOf(res.writeHead, 200, { "a b": "1" }),
        codeOf(res.write, null),
        codeOf(res.write, 5),
      ];
      res.end(JSON.stringify(codes));
    });
    expect(JSON.parse((await send(port, "/")).text)).toEqual([
      "ERR_HTTP_INVALID_STATUS_CODE",
      "ERR_INVALID_CHAR",
      "ERR_INVALID_ARG_VALUE",
      "ERR_INVALID_HTTP_TOKEN",
      "ERR_STREAM_NULL_VALUES",
      "ERR_INVALID_ARG_TYPE",
    ]);
  });

  it("asks a fast writer to wait, calls its callbacks in order and lets it go on", async () => {
    const events: string[] = [];
    const port = await gated(createScript(), (_, res) => {
      events.push(`small ${res.write("a", () => events.push("callback 1"))}`);
      events.push(`big ${res.write(Buffer.alloc(64 * 1024), () => events.push("callback 2"))}`);
      events.push(`need ${res.writableNeedDrain}`);
      res.once("drain", () => {
        events.push(`drain ${res.write("b")}`);
        res.end(() => events.push("finished"));
      });
    });
    expect((await send(port, "/")).body.length).toBe(64 * 1024 + 2);
    expect(events).toEqual([
      "small true",
      "big false",
      "need true",
      "callback 1",
      "callback 2",
      "drain true",
      "finished",
    ]);
  });

  it("keeps the bytes of a buffer that the writer uses again", async () => {
    const port = await gated(createScript(), (_, res) => {
      const buffer = Buffer.from("first ");
      res.write(buffer, () => {
        buffer.fill("second");
        res.end(buffer);
      });
    });
    expect((await send(port, "/")).text).toBe("first second");
  });

  it("sends trailers after a held body", async () => {
    const port = await gated(createScript(), (_, res) => {
      res.setHeader("Trailer", "X-Sum");
      res.write("goods");
      res.addTrailers({ "X-Sum": "5" });
      res.end();
    });
    const { answer, socket, bytes } = open(port);
    socket.write(requestBytes("/"));
    expect(await answer).toMatchObject({ status: 200, text: "goods" });
    expect(bytes().toString()).toContain("X-Sum: 5");
  });

  it("lets no hint of the answer out before the decision", async () => {
    const port = await gated(createScript(), (_, res) => {
      res.writeEarlyHints({ link: "</goods.css>; rel=preload" });
      res.writeProcessing();
      res.end("x");
    });
    const { answer, socket, bytes } = open(port);
    socket.write(requestBytes("/"));
    expect((await answer).text).toBe("x");
    expect(bytes().toString().startsWith("HTTP/1.1 200")).toBe(true);
  });

  it.each([
    ["response", (res: ServerResponse) => res.destroy()],
    ["socket", (res: ServerResponse) => res.socket?.destroy()],
  ] as const)("counts a destroyed %s without an answer as thrown, and tells the buyer", async (_, destroy) => {
    const script = createScript();
    const port = await gated(script, (_req, res) => {
      res.write("part");
      destroy(res);
    });
    const answer = await send(port, "/", { headers: { Connection: "keep-alive" } });
    expect(answer).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(answer.headers.connection).toBe("close");
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("counts a source that breaks in the middle as thrown", async () => {
    const script = createScript();
    const port = await gated(script, (_, res) => {
      const source = Readable.from(
        (function* () {
          yield "part";
          throw new Error("disk");
        })(),
      );
      pipeline(source, res).catch(() => undefined);
    });
    expect(await send(port, "/")).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(script.log[0]).toBe("failed");
  });

  it("survives a handler that goes on in every way after its timeout", async () => {
    const script = createScript();
    const [entered, late, done] = [latch(), latch(), latch()];
    const port = await gated(script, async (_, res) => {
      entered.open();
      await late.promise;
      res.setHeader("X-A", "1");
      res.appendHeader("X-A", "2");
      res.removeHeader("X-A");
      res.writeHead(200, { "X-B": "1" });
      res.flushHeaders();
      await new Promise<void>((written) => res.write("goods", () => written()));
      await new Promise<void>((ended) => res.end("goods", () => ended()));
      Readable.from(["more"]).pipe(res);
      done.open();
    });
    const { answer, socket, bytes } = open(port);
    socket.write(requestBytes("/"));
    await entered.promise;
    script.timeout.open(replace(script, TIMED_OUT));
    expect((await answer).status).toBe(504);
    late.open();
    await Promise.all([done.promise, script.until("ended")]);
    expect(bytes().toString()).not.toContain("goods");
  });

  it("knows that a pipe has ended which a timeout cut off", async () => {
    const script = createScript();
    const entered = latch();
    const port = await gated(script, (_, res) => {
      new Readable({ read: () => entered.open() }).pipe(res);
    });
    const answer = send(port, "/");
    await entered.promise;
    script.timeout.open(replace(script, TIMED_OUT));
    expect((await answer).status).toBe(504);
    await script.until("ended");
  });

  it("gives up a pipe whose client has gone", async () => {
    const script = createScript();
    const entered = latch();
    const port = await gated(script, (_, res) => {
      new Readable({ read: () => entered.open() }).pipe(res);
    });
    const { socket } = open(port);
    socket.write(requestBytes("/"));
    await entered.promise;
    socket.destroy();
    await script.until("lost");
    expect(script.log).toEqual(["failed", "ended", "lost"]);
  });

  it("keeps pipelined answers on one connection apart and in order", async () => {
    const second = latch();
    const logs: string[][] = [];
    const server = await listen(
      createServer(async (req, res) => {
        const script = createScript();
        logs.push(script.log);
        holdAnswer(res, script.capture);
        if (req.url === "/1") await second.promise;
        else second.open();
        res.end(`answer ${req.url}`);
      }),
    );
    running.push(server);
    const { socket, answer, bytes } = open(server.port);
    socket.write(requestBytes("/1", { headers: { Connection: "keep-alive" } }));
    socket.write(requestBytes("/2"));
    await answer;
    expect(
      bytes()
        .toString()
        .match(/answer \/\d/g),
    ).toEqual(["answer /1", "answer /2"]);
    await vi.waitFor(() => expect(logs.map((log) => log.at(-1))).toEqual(["delivered", "delivered"]), {
      timeout: 10_000,
    });
  });

  it("leaves the connection to the handler once the answer is out", async () => {
    const port = await gated(createScript(), (req, res) => {
      res.once("finish", () => req.socket.destroy());
      res.end("x");
    });
    const answer = await send(port, "/", { headers: { Connection: "keep-alive" } });
    expect(answer).toMatchObject({ status: 200, text: "x" });
    expect(answer.headers.connection).toBe("keep-alive");
  });

  it("can be used again on a kept-alive connection", async () => {
    const server = await listen(
      createServer((req, res) => {
        holdAnswer(res, createScript().capture);
        res.end(`answer ${req.url}`);
      }),
    );
    running.push(server);
    const { socket, answer, bytes } = open(server.port);
    socket.write(requestBytes("/1", { headers: { Connection: "keep-alive" } }));
    await vi.waitFor(() => expect(bytes().toString()).toContain("answer /1"), { timeout: 10_000 });
    socket.write(requestBytes("/2"));
    await answer;
    expect(bytes().toString()).toContain("answer /2");
  });
});
