// Streams through the middleware of Express, 4 and 5: compression, files, ranges, error handlers.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import express, { type Express, type Request, type Response } from "express";
import { afterEach, describe, expect, it } from "vitest";
import { toMiddleware } from "../../adapters/express-middleware.js";
import { compress } from "../support/compressor.js";
import { express4, listen, type Running } from "./frameworks.js";
import { createScript, replace, type Script } from "./script.js";
import { BIG_BYTES, chunks, sparseFile } from "./stream-styles.js";
import { open, requestBytes, send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function site(app: Express): Promise<number> {
  const server = await listen(createServer(app));
  running.push(server);
  return server.port;
}

describe.each([
  ["Express 5", express],
  ["Express 4", express4],
] as const)("%s", (_, create) => {
  it.each(["before", "after"] as const)("streams through compression %s the paywall", async (place) => {
    const script = createScript();
    const app = create();
    if (place === "before") app.use(compress);
    app.use(toMiddleware(script.guard));
    if (place === "after") app.use(compress);
    app.get("/", (_req: Request, res: Response) => void Readable.from(chunks()).pipe(res.set("X-Goods", "yes")));
    const answer = await send(await site(app), "/");
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip", "payment-response": "receipt" });
    expect(gunzipSync(answer.body).length).toBe(BIG_BYTES);
    await script.until("delivered");
  });

  it.each(["before", "after"] as const)("holds a small piped answer whole with compression %s", async (place) => {
    const script = createScript();
    const app = create();
    if (place === "before") app.use(compress);
    app.use(toMiddleware(script.guard));
    if (place === "after") app.use(compress);
    const parts = Array.from({ length: 20 }, () => Buffer.alloc(20_000));
    app.get("/", (_req: Request, res: Response) => void Readable.from(parts).pipe(res));
    expect(gunzipSync((await send(await site(app), "/")).body).length).toBe(400_000);
    // Were its writer not woken while it is held, it would be taken for a stream.
    expect(script.log[0]).toBe("answered 200");
  });

  it.each(["before", "after"] as const)("sends nothing of an unsold stream with compression %s", async (place) => {
    const script = createScript({ outcome: (self) => replace(self) });
    const app = create();
    if (place === "before") app.use(compress);
    app.use(toMiddleware(script.guard));
    if (place === "after") app.use(compress);
    app.get("/", (_req: Request, res: Response) => {
      // As a pipeline does when its response is closed.
      res.once("close", () => res.destroy());
      res.type("text/event-stream").write("data: goods\n\n");
      Reflect.get(res, "flush")?.();
    });
    const answer = await send(await site(app), "/");
    expect(answer.status).toBe(402);
    const text = place === "before" ? gunzipSync(answer.body) : answer.body;
    expect(text.toString()).toBe('{"error":"refused"}');
  });

  it("sells a range of a file as 206, and gives a 416 for nothing", async () => {
    const file = sparseFile(BIG_BYTES);
    try {
      const scripts: Script[] = [];
      const guard: Script["guard"] = (request) => {
        const script = createScript();
        scripts.push(script);
        return script.guard(request);
      };
      const app = create();
      app.get("/", toMiddleware(guard), (_req, res) => res.sendFile(file.path));
      const port = await site(app);
      const part = await send(port, "/", { headers: { Range: "bytes=0-4" } });
      expect(part).toMatchObject({ status: 206, text: "goods" });
      expect(part.headers["content-range"]).toBe(`bytes 0-4/${BIG_BYTES}`);
      const rest = await send(port, "/", { headers: { Range: "bytes=1-" } });
      expect([rest.status, rest.body.length]).toEqual([206, BIG_BYTES - 1]);
      expect((await send(port, "/", { headers: { Range: `bytes=${BIG_BYTES}-` } })).status).toBe(416);
      expect(scripts.map(({ log }) => log[0])).toEqual(["answered 206", "streaming 206", "answered 416"]);
    } finally {
      file.remove();
    }
  });

  it("sells what express.static finds, and passes on what it does not", async () => {
    const file = sparseFile(BIG_BYTES);
    try {
      const script = createScript();
      const app = create();
      app.use(toMiddleware(script.guard), create.static(`${file.path}/..`));
      const port = await site(app);
      const found = await send(port, "/goods.bin");
      expect([found.status, found.body.length]).toEqual([200, BIG_BYTES]);
      expect(found.headers["content-length"]).toBe(String(BIG_BYTES));
      expect((await send(port, "/none.bin")).status).toBe(404);
    } finally {
      file.remove();
    }
  });

  it("cuts a stream whose handler throws after it began", async () => {
    const script = createScript();
    const app = create().set("env", "test");
    app.get("/", toMiddleware(script.guard), (_req, res, next) => {
      res.flushHeaders();
      res.write("goods", () => next(new Error("secret")));
    });
    const { socket, answer, bytes } = open(await site(app));
    socket.write(requestBytes("/"));
    await expect(answer).rejects.toThrow("broke off");
    expect(bytes().toString()).not.toContain("secret");
    await script.until("lost");
  });
});
