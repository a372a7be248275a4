// A small paid answer of Hono on Node: it leaves as bytes, and middleware around the paywall still finds an ordinary
// Response whose way is watched.
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono, type MiddlewareHandler } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { toMiddleware as forHono } from "../../adapters/hono-middleware.js";
import { listen, type Running } from "./frameworks.js";
import { createScript, type Script } from "./script.js";
import { send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function shop(around: MiddlewareHandler): Promise<{ readonly script: Script; readonly port: number }> {
  const script = createScript();
  const app = new Hono()
    .use(around)
    .use(forHono(script.guard))
    .get("/", (c) => c.text("goods"));
  const server = await listen(createAdaptorServer({ fetch: app.fetch }) as Server);
  running.push(server);
  return { script, port: server.port };
}

describe("a small paid answer on Hono", () => {
  it("leaves head and body together, with its length", async () => {
    let parts = 0;
    const { script, port } = await shop(async (c, next) => {
      const outgoing = (c.env as { outgoing: { write: (...args: unknown[]) => unknown } }).outgoing;
      const { write } = outgoing;
      outgoing.write = (...args) => {
        parts += 1;
        return Reflect.apply(write, outgoing, args);
      };
      await next();
    });
    const answer = await send(port, "/");
    expect(answer).toMatchObject({ status: 200, text: "goods" });
    expect(answer.headers["content-length"]).toBe("5");
    expect(answer.headers["payment-response"]).toBe("receipt");
    expect(parts).toBe(0);
    await script.until("delivered");
  });

  it("is delivered through middleware that reads it and writes another one from it", async () => {
    const { script, port } = await shop(async (c, next) => {
      await next();
      const text = await c.res.text();
      c.res = new Response(text.toUpperCase(), { headers: { "Content-Length": "5" } });
    });
    expect((await send(port, "/")).text).toBe("GOODS");
    await script.until("delivered");
    expect(script.log).not.toContain("lost");
  });

  it("keeps its body and gets the headers that middleware sets afterwards", async () => {
    const { script, port } = await shop(async (c, next) => {
      await next();
      c.header("X-After", "yes");
    });
    const answer = await send(port, "/");
    expect(answer.text).toBe("goods");
    expect(answer.headers["x-after"]).toBe("yes");
    await script.until("delivered");
  });

  it("is lost where middleware lets its body go and answers something else", async () => {
    const { script, port } = await shop(async (c, next) => {
      await next();
      await c.res.body?.cancel();
      c.res = new Response("something else", { headers: { "Content-Length": "14" } });
    });
    expect((await send(port, "/")).text).toBe("something else");
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it("is lost where an app around the app answers with the same status in its place", async () => {
    const script = createScript();
    const inner = new Hono().use(forHono(script.guard)).get("/", (c) => c.text("goods"));
    const outer = new Hono().get("/", async (c) => {
      await inner.fetch(c.req.raw, c.env);
      return c.text("other");
    });
    const server = await listen(createAdaptorServer({ fetch: outer.fetch }) as Server);
    running.push(server);
    expect((await send(server.port, "/")).text).toBe("other");
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });
});
