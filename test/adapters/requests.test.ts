// What the guard is told about a request, byte for byte, on every framework.
import { createServer, type Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import express, { type Express } from "express";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { toMiddleware as forExpress } from "../../adapters/express-middleware.js";
import { toMiddleware as forHono } from "../../adapters/hono-middleware.js";
import type { PaywallRequest } from "../../src/request.js";
import { express4, listen, type Running } from "./frameworks.js";
import { createScript, REFUSAL } from "./script.js";
import { send } from "./wire.js";

const running: Running[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

/** Facts are read while the request lives, as a guard reads them. */
const factsOf = (request: PaywallRequest) => ({
  method: request.method,
  target: request.target,
  origin: request.origin,
  ip: request.ip?.replace("::ffff:", ""),
  twice: request.header("X-TWICE"),
  none: request.header("x-none"),
});

type Facts = ReturnType<typeof factsOf>;

async function ask(start: (guard: ReturnType<typeof createScript>["guard"]) => Server, target: string, sent = {}) {
  const facts: Facts[] = [];
  const script = createScript({
    verdict: (_, request) => {
      facts.push(factsOf(request));
      return { kind: "refuse", answer: REFUSAL };
    },
  });
  const server = await listen(start(script.guard));
  running.push(server);
  await send(server.port, target, sent);
  return facts[0];
}

const EXPRESS = [
  ["Express 5", express],
  ["Express 4", express4],
] as const;

describe.each(EXPRESS)("%s", (_, create) => {
  const mounted = (guard: Parameters<typeof forExpress>[0], prepare: (app: Express) => void = () => {}) => {
    const app = create();
    prepare(app);
    const inner = create.Router();
    inner.use(forExpress(guard));
    app.use("/api", inner);
    return createServer(app);
  };

  it.each(["/api/p%61id?q=%20#f", "/api//paid/../x;y=1", "/API/paid"])(
    "gives %s as it came, mount included",
    async (target) => {
      expect(await ask(mounted, target)).toMatchObject({
        target,
        method: "GET",
        origin: "http://shop.test",
        ip: "127.0.0.1",
      });
    },
  );

  it("passes an absolute target as it came", async () => {
    expect(await ask(mounted, "http://other.test/api/paid")).toMatchObject({ target: "http://other.test/api/paid" });
  });

  it("believes forwarded headers only where the app trusts the proxy", async () => {
    const headers = {
      Host: "inner.test:8080",
      "X-Forwarded-Host": "shop.example:444, evil.test",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": "203.0.113.9",
    };
    expect(await ask(mounted, "/api", { headers })).toMatchObject({
      origin: "http://inner.test:8080",
      ip: "127.0.0.1",
    });
    const trusting = (guard: Parameters<typeof forExpress>[0]) =>
      mounted(guard, (app) => void app.set("trust proxy", 1));
    expect(await ask(trusting, "/api", { headers })).toMatchObject({
      origin: "https://shop.example:444",
      ip: "203.0.113.9",
    });
  });

  it("ignores a method-override header, and follows what the app's own middleware makes of it", async () => {
    const sent = { method: "POST", headers: { "X-HTTP-Method-Override": "GET" } };
    expect(await ask(mounted, "/api", sent)).toMatchObject({ method: "POST" });
    const overriding = (guard: Parameters<typeof forExpress>[0]) =>
      mounted(guard, (app) =>
        app.use((req, _res, next) => {
          req.method = "GET";
          next();
        }),
      );
    expect(await ask(overriding, "/api", sent)).toMatchObject({ method: "GET" });
  });
});

describe("Hono", () => {
  const mounted = (guard: Parameters<typeof forHono>[0]) => {
    const inner = new Hono();
    inner.use(forHono(guard));
    return createAdaptorServer({ fetch: new Hono().route("/api", inner).fetch }) as Server;
  };

  it.each(["/api/p%61id?q=%20", "/api//paid;y=1", "/api/paid%2F%2e"])(
    "gives %s undecoded, mount included",
    async (target) => {
      expect(await ask(mounted, target)).toMatchObject({
        target,
        method: "GET",
        origin: "http://shop.test",
        ip: "127.0.0.1",
      });
    },
  );

  it("gives the target as the router sees it, with dot segments resolved", async () => {
    expect(await ask(mounted, "/api/x/../paid")).toMatchObject({ target: "/api/paid" });
  });

  it("believes no forwarded header and no method override", async () => {
    const headers = {
      "X-Forwarded-Host": "evil.test",
      "X-Forwarded-For": "203.0.113.9",
      "X-HTTP-Method-Override": "GET",
    };
    expect(await ask(mounted, "/api", { method: "POST", headers })).toMatchObject({
      method: "POST",
      origin: "http://shop.test",
      ip: "127.0.0.1",
    });
  });

  it("says HEAD where Hono runs the GET handler", async () => {
    expect(await ask(mounted, "/api", { method: "HEAD" })).toMatchObject({ method: "HEAD" });
  });

  it("works without a Node server under it, and reports the delivery by the body that was read", async () => {
    const script = createScript();
    const app = new Hono().use(forHono(script.guard)).get("/", (c) => c.json({ ip: script.requests[0]?.ip ?? "none" }));
    const answer = await app.request("http://shop.test/");
    expect(script.log).toEqual(["answered 200", "ended"]);
    expect(await answer.json()).toEqual({ ip: "none" });
    expect(script.log).toEqual(["answered 200", "ended", "delivered"]);
  });

  it("counts the delivery as lost where the app's own middleware puts another answer in its place", async () => {
    const script = createScript();
    const app = new Hono()
      .use(async (c, next) => {
        await next();
        c.res = new Response("something else");
      })
      .use(forHono(script.guard))
      .get("/", (c) => c.text("goods"));
    const server = await listen(createAdaptorServer({ fetch: app.fetch }) as Server);
    running.push(server);
    expect((await send(server.port, "/")).text).toBe("something else");
    await script.until("lost");
    expect(script.log).not.toContain("delivered");
  });

  it("counts a body that its reader lets go as lost", async () => {
    const script = createScript();
    const app = new Hono().use(forHono(script.guard)).get("/", (c) => c.text("goods"));
    const answer = await app.request("http://shop.test/");
    await answer.body?.cancel();
    expect(script.log).toEqual(["answered 200", "ended", "lost"]);
  });

  it("never charges a thrown error, also where the app answers it with a 200", async () => {
    const script = createScript();
    const app = new Hono().use(forHono(script.guard)).get("/", () => {
      throw new Error("broken");
    });
    app.onError((_, c) => c.text("all is well", 200));
    expect((await app.request("http://shop.test/")).status).toBe(500);
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("takes a thrown value that Hono cannot answer for a failure", async () => {
    const script = createScript();
    const app = new Hono().use(forHono(script.guard)).get("/", () => Promise.reject("no error"));
    expect((await app.request("http://shop.test/")).status).toBe(500);
    expect(script.log.slice(0, 2)).toEqual(["failed", "ended"]);
  });

  it("lets the handler's own headers win over those of earlier middleware, as Hono does", async () => {
    const app = new Hono()
      .use(async (c, next) => {
        c.header("Cache-Control", "public");
        await next();
      })
      .use(forHono(createScript().guard))
      .get("/", (c) => c.text("goods", 200, { "Cache-Control": "no-cache" }));
    expect((await app.request("http://shop.test/")).headers.get("Cache-Control")).toBe("no-cache");
  });
});
