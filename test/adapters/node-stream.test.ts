// Streams in the ways that only a node:http response has.
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { holdAnswer } from "../../adapters/node-gate.js";
import { listen, type Running } from "./frameworks.js";
import { createScript, deliver, latch, replace, type Script, type ScriptOptions, TIMED_OUT } from "./script.js";
import { open, requestBytes, send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** A bare node:http server whose handler writes to a held response. */
async function gated(script: Script, handler: (req: IncomingMessage, res: ServerResponse) => unknown): Promise<number> {
  const server = await listen(
    createServer((req, res) => {
      holdAnswer(res, script.capture);
      handler(req, res);
    }),
  );
  running.push(server);
  return server.port;
}

/** A capture whose decision waits until a test opens it. */
function pausing(outcome: NonNullable<ScriptOptions["outcome"]> = deliver) {
  const [asked, decision] = [latch(), latch()];
  const script = createScript({
    outcome: async (self, head) => {
      asked.open();
      await decision.promise;
      return outcome(self, head);
    },
  });
  return { script, asked: asked.promise, decide: decision.open };
}

describe("a streaming node:http response", () => {
  it("sends flushed headers by themselves, and then each write as it comes", async () => {
    const go = latch();
    const port = await gated(createScript(), async (_, res) => {
      res.writeHead(200, "Fine", { "X-A": "1" }).flushHeaders();
      await go.promise;
      res.end("goods");
    });
    const [answer] = (await once(get({ port, agent: false }), "response")) as [IncomingMessage];
    expect([answer.statusMessage, answer.headers["x-a"], answer.headers["payment-response"]]).toEqual([
      "Fine",
      "1",
      "receipt",
    ]);
    go.open();
    expect(String((await once(answer, "data"))[0])).toBe("goods");
  });

  it("calls the callbacks of waiting writes when they are handed over, and asks for more", async () => {
    const { script, asked, decide } = pausing();
    const order: string[] = [];
    const port = await gated(script, (_, res) => {
      res.flushHeaders();
      order.push(`${res.write("a", () => order.push("written"))} ${res.writableNeedDrain}`);
      res.once("drain", () => {
        order.push("drain");
        res.end("b", () => order.push("finished"));
      });
    });
    const answer = send(port, "/");
    await asked;
    expect(order).toEqual(["false true"]);
    decide();
    expect((await answer).text).toBe("ab");
    await script.until("delivered");
    expect(order).toEqual(expect.arrayContaining(["false true", "written", "drain", "finished"]));
  });

  it("is to its handler what Node's own response is, once it flows", async () => {
    const codes: unknown[] = [];
    const port = await gated(createScript(), async (_, res) => {
      res.flushHeaders();
      await new Promise<void>((sent) => res.write("goods", () => sent()));
      for (const late of [() => res.setHeader("X-B", "1"), () => res.writeHead(200)]) {
        try {
          late();
        } catch (error) {
          codes.push(error instanceof Error && "code" in error && error.code);
        }
      }
      codes.push(res.headersSent, res.writableEnded, Object.hasOwn(res, "writableNeedDrain"));
      res.end(() => codes.push(res.writableFinished));
    });
    expect((await send(port, "/")).text).toBe("goods");
    await vi.waitFor(() => expect(codes).toHaveLength(6), { timeout: 10_000 });
    expect(codes).toEqual(["ERR_HTTP_HEADERS_SENT", "ERR_HTTP_HEADERS_SENT", true, false, false, true]);
  });

  it("sends trailers at its end", async () => {
    const port = await gated(createScript(), (_, res) => {
      res.setHeader("Trailer", "X-Sum");
      res.flushHeaders();
      setImmediate(() => {
        res.write("goods");
        res.addTrailers({ "X-Sum": "5" });
        res.end();
      });
    });
    const { answer, socket, bytes } = open(port);
    socket.write(requestBytes("/"));
    await answer;
    expect(bytes().toString()).toContain("X-Sum: 5");
  });

  it("keeps its connection for the next request, and closes it where the handler said so", async () => {
    const port = await gated(createScript(), (req, res) => {
      if (req.url === "/close") res.setHeader("Connection", "close");
      res.flushHeaders();
      res.end("goods");
    });
    for (const [path, connection] of [
      ["/", "keep-alive"],
      ["/close", "close"],
    ]) {
      const { socket, answer, bytes } = open(port);
      socket.write(requestBytes(path as string, { headers: { Connection: "keep-alive" } }));
      await vi.waitFor(() => expect(bytes().toString()).toContain("goods"), { timeout: 10_000 });
      expect(bytes().toString().toLowerCase()).toContain(`connection: ${connection}`);
      socket.end();
      await answer;
    }
  });

  it("shows a handler whose answer was replaced a client that hung up", async () => {
    const seen: unknown[] = [];
    const closed = latch();
    const script = createScript({ outcome: (self) => replace(self) });
    const port = await gated(script, (_, res) => {
      res.flushHeaders();
      res.once("close", () => {
        seen.push(res.closed, res.writableFinished);
        res.setHeader("X-Late", "1");
        res.destroy();
        res.req.socket.destroy();
        res.write("goods", (error) => {
          seen.push(error && "code" in error && error.code);
          closed.open();
        });
      });
    });
    const answer = await send(port, "/", { headers: { Connection: "keep-alive" } });
    expect(answer).toMatchObject({ status: 402, text: '{"error":"refused"}' });
    expect(answer.headers.connection).toBe("close");
    await closed.promise;
    expect(seen).toEqual([true, false, "ERR_STREAM_DESTROYED"]);
    await script.until("ended");
  });

  it("lets a writer that never looks go on to its end, without a byte of it leaving", async () => {
    const script = createScript();
    const entered = latch();
    const port = await gated(script, async (_, res) => {
      entered.open();
      await script.until("timeout sent");
      for (let n = 0; n < 500; n += 1) {
        if (!res.write("goods".repeat(5000))) await once(res, "drain");
      }
      res.end();
    });
    const { socket, answer, bytes } = open(port);
    socket.write(requestBytes("/"));
    await entered.promise;
    script.timeout.open(replace(script, TIMED_OUT));
    expect((await answer).status).toBe(504);
    script.say("timeout sent");
    await script.until("ended");
    expect(bytes().toString()).not.toContain("goods");
  });

  it("lets those who stand before the paywall see the real end of a replaced answer", async () => {
    const [told, ended] = [latch(), latch<boolean>()];
    const server = await listen(
      createServer(async (req, res) => {
        // The first answer on the connection keeps the second from being sent until its handler has been told.
        if (req.url === "/1") {
          await told.promise;
          res.end();
          return;
        }
        let finished = false;
        res.on("finish", () => {
          finished = true;
        });
        res.on("close", () => ended.open(finished));
        holdAnswer(res, createScript({ outcome: (self) => replace(self) }).capture);
        res.on("close", () => told.open());
        res.flushHeaders();
      }),
    );
    running.push(server);
    const { socket, answer, bytes } = open(server.port);
    socket.write(requestBytes("/1", { headers: { Connection: "keep-alive" } }));
    socket.write(requestBytes("/2"));
    await answer;
    expect(bytes().toString()).toContain("HTTP/1.1 402");
    expect(await ended.promise).toBe(true);
  });

  it("counts a handler that gives up while the decision is open as undelivered, and tells the buyer to repeat", async () => {
    const { script, asked, decide } = pausing();
    const port = await gated(script, async (_, res) => {
      res.flushHeaders();
      await asked;
      res.destroy();
      decide();
    });
    const answer = await send(port, "/");
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "internal_error", retry: "same-payment" });
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it.each([
    ["write", (res: ServerResponse) => res.socket?.write("HTTP/1.1 200 OK\r\n\r\ngoods")],
    ["end", (res: ServerResponse) => res.socket?.end("HTTP/1.1 200 OK\r\n\r\ngoods")],
    ["a pipe", (res: ServerResponse) => res.socket && Readable.from(["HTTP/1.1 200 OK\r\n\r\ngoods"]).pipe(res.socket)],
  ] as const)("sends nothing that the handler puts past its response by %s of the socket", async (_, leak) => {
    const script = createScript();
    const port = await gated(script, (_req, res) => leak(res));
    const { socket, answer, bytes } = open(port);
    socket.write(requestBytes("/", { headers: { Connection: "keep-alive" } }));
    expect(await answer).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(bytes().toString()).not.toContain("goods");
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("counts a pipe whose source breaks as failed, although a pipe does not say so", async () => {
    const script = createScript();
    const port = await gated(script, (_, res) => {
      const source = new Readable({ read: () => undefined });
      source.on("error", () => undefined);
      source.pipe(res);
      source.push("part");
      setImmediate(() => source.destroy(new Error("disk")));
    });
    expect(await send(port, "/")).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(script.log[0]).toBe("failed");
  });
});
