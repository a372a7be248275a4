// What Express, 4 and 5, and its middleware do with a held response.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import express, { type Express, type Request, type Response } from "express";
import { afterEach, describe, expect, it } from "vitest";
import { toMiddleware } from "../../adapters/express-middleware.js";
import { compress } from "../support/compressor.js";
import { express4, listen, type Running } from "./frameworks.js";
import { createScript, latch, replace } from "./script.js";
import { send } from "./wire.js";

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
  const goods = (_req: Request, res: Response) => {
    res.set("X-Goods", "yes").write("goods ");
    res.end("twice");
  };

  it.each(["before", "after"] as const)("works with compression %s the paywall", async (place) => {
    const script = createScript();
    const app = create();
    if (place === "before") app.use(compress);
    app.use(toMiddleware(script.guard));
    if (place === "after") app.use(compress);
    app.get("/", goods);
    const answer = await send(await site(app), "/");
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip", "payment-response": "receipt" });
    expect(gunzipSync(answer.body).toString()).toBe("goods twice");
    await script.until("delivered");
    const held = Buffer.from(script.held?.body ?? "");
    expect((place === "before" ? held : gunzipSync(held)).toString()).toBe("goods twice");
  });

  it.each(["before", "after"] as const)("replaces an answer with compression %s the paywall", async (place) => {
    const script = createScript({ outcome: (self) => replace(self) });
    const app = create();
    if (place === "before") app.use(compress);
    app.use(toMiddleware(script.guard));
    if (place === "after") app.use(compress);
    app.get("/", goods);
    const answer = await send(await site(app), "/");
    expect(answer.status).toBe(402);
    expect((place === "before" ? gunzipSync(answer.body) : answer.body).toString()).toBe('{"error":"refused"}');
    expect(answer.headers["content-encoding"]).toBe(place === "before" ? "gzip" : undefined);
  });

  it("sells a file", async () => {
    const script = createScript();
    const app = create();
    app.get("/", toMiddleware(script.guard), (_req, res) => res.sendFile(fileURLToPath(import.meta.url)));
    const answer = await send(await site(app), "/", { headers: { "If-Modified-Since": new Date().toUTCString() } });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("sells a file");
    expect(answer.headers["last-modified"]).toBeDefined();
  });

  it("answers 500 where the handler breaks after a part of its answer", async () => {
    const script = createScript();
    const app = create().set("env", "test");
    app.get("/", toMiddleware(script.guard), (_req, res) => {
      res.write("part");
      throw new Error("secret");
    });
    expect(await send(await site(app), "/")).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("delivers an answer whose handler breaks after it", async () => {
    const broken = latch();
    const script = createScript({
      outcome: async (self) => {
        await broken.promise;
        return { kind: "deliver", headers: [], delivery: self.delivery };
      },
    });
    const app = create().set("env", "test");
    app.get("/", toMiddleware(script.guard), (req, res) => {
      // Express's last error handler closes the connection where it takes the head for sent.
      const { destroy } = req.socket;
      req.socket.destroy = (...args) => {
        broken.open();
        return Reflect.apply(destroy, req.socket, args);
      };
      res.json("goods");
      throw new Error("secret");
    });
    const answer = await send(await site(app), "/", { headers: { Connection: "keep-alive" } });
    expect(answer).toMatchObject({ status: 200, text: '"goods"' });
    expect(answer.headers.connection).toBe("close");
    await script.until("delivered");
  });

  it("gives the handler the payment, safe to send as JSON", async () => {
    const app = create();
    app.get("/", toMiddleware(createScript().guard), (req, res) => void res.json(req.payment));
    expect(JSON.parse((await send(await site(app), "/")).text)).toMatchObject({ amount: "10000", run: 1 });
  });

  it("lets an open request on in the same tick", async () => {
    const order: string[] = [];
    const app = create();
    app.use((_req, _res, next) => {
      next();
      order.push("after next");
    });
    app.use(toMiddleware(() => ({ kind: "open" })));
    app.get("/", (_req, res) => {
      order.push("handler");
      res.end();
    });
    await send(await site(app), "/");
    expect(order).toEqual(["handler", "after next"]);
  });
});
