// What is special to Fastify: which hooks see an answer of the paywall, HEAD routes of its own, the audit.
import fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { createPaywall, watchRoutes } from "../../adapters/fastify.js";
import { toHook } from "../../adapters/fastify-hook.js";
import { silentLogger } from "../../src/logger.js";
import { PAY_TO, scriptedReceiver } from "../support/world.js";
import { createScript, REFUSAL } from "./script.js";
import { send } from "./wire.js";

const apps: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

const create = (options: FastifyServerOptions = {}): FastifyInstance => {
  const app = fastify({ forceCloseConnections: true, ...options });
  apps.push(app);
  return app;
};

const listen = async (app: FastifyInstance): Promise<number> =>
  Number(new URL(await app.listen({ port: 0, host: "127.0.0.1" })).port);

describe("the paywall as a Fastify hook", () => {
  it("answers past onSend and the handler, and onResponse still runs", async () => {
    const { guard } = createScript({ verdict: () => ({ kind: "refuse", answer: REFUSAL }) });
    const seen: string[] = [];
    const app = create();
    const responded = new Promise<void>((resolve) => app.addHook("onResponse", async () => resolve()));
    app.addHook("onSend", async () => void seen.push("onSend"));
    app.get("/paid", { onRequest: toHook(guard) }, async () => void seen.push("handler"));
    expect((await send(await listen(app), "/paid")).status).toBe(402);
    await responded;
    expect(seen).toEqual([]);
  });

  it("stands before the HEAD route that Fastify makes of a GET route", async () => {
    const { guard, requests } = createScript({
      verdict: () => ({ kind: "refuse", answer: { ...REFUSAL, body: "" } }),
    });
    const app = create();
    app.get("/paid", { onRequest: toHook(guard) }, async () => "goods");
    expect((await send(await listen(app), "/paid", { method: "HEAD" })).status).toBe(402);
    expect(requests[0]?.method).toBe("HEAD");
  });

  it("tells the guard of a rewritten path what came and what the router reads", async () => {
    const script = createScript();
    const app = create({ rewriteUrl: () => "/paid" });
    app.get("/paid", { onRequest: toHook(script.guard) }, async () => "goods");
    expect((await send(await listen(app), "/other")).text).toBe("goods");
    expect([script.requests[0]?.target, script.requests[0]?.dispatched]).toEqual(["/other", "/paid"]);
  });

  it("takes host, protocol and address by Fastify's own proxy rules", async () => {
    const headers = {
      "X-Forwarded-Host": "shop.example",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": "203.0.113.9",
    };
    const ask = async (trustProxy: boolean) => {
      const facts: unknown[] = [];
      const { guard } = createScript({
        verdict: (_, { origin, ip }) => {
          facts.push(origin, ip);
          return { kind: "refuse", answer: REFUSAL };
        },
      });
      const app = create({ trustProxy });
      app.addHook("onRequest", toHook(guard));
      await send(await listen(app), "/", { headers });
      return facts;
    };
    expect(await ask(false)).toEqual(["http://shop.test", "127.0.0.1"]);
    expect(await ask(true)).toEqual(["https://shop.example", "203.0.113.9"]);
  });

  it("leaves a validation error to Fastify, uncharged", async () => {
    const script = createScript();
    const app = create();
    const schema = { querystring: { type: "object", required: ["q"], properties: { q: { type: "string" } } } };
    app.get("/paid", { onRequest: toHook(script.guard), schema }, async () => "goods");
    expect((await send(await listen(app), "/paid")).status).toBe(400);
    expect(script.log[0]).toBe("answered 400");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
  ] as const)("answers 500 and runs no handler when the guard %s", async (_, verdict) => {
    const app = create();
    let runs = 0;
    app.get("/paid", { onRequest: toHook(createScript({ verdict }).guard) }, async () => {
      runs += 1;
    });
    const answer = await send(await listen(app), "/paid");
    expect([answer.status, answer.text.includes("secret"), runs]).toEqual([500, false, 0]);
  });
});

describe("the audit of a Fastify app", () => {
  const options = { payTo: PAY_TO, network: "base-sepolia", logger: silentLogger, receive: scriptedReceiver() };

  it("lists each route with its price, those of plugins too", async () => {
    const pay = createPaywall(options);
    const app = create();
    watchRoutes(app);
    app.addHook("onRequest", pay.routes({ "GET /api/table/:id": "$0.02" }));
    app.get("/beside", { onRequest: pay("$0.01") }, async () => "goods");
    app.get("/open", async () => "free");
    await app.register(async (inner) => void inner.get("/table/:name", async () => "goods"), { prefix: "/api" });
    await app.ready();
    expect(pay.audit(app).lines).toEqual(["GET /beside  $0.01", "GET /open  UNPRICED", "GET /api/table/:name  $0.02"]);
    await pay.close();
  });

  it("fails for a key that no route answers, and for an app that it could not watch", async () => {
    const pay = createPaywall(options);
    const app = create();
    watchRoutes(app);
    pay.routes({ "GET /gone": "$0.02" });
    expect(() => pay.audit(app)).toThrow(/GET \/gone/);
    expect(() => pay.audit(create())).toThrow(/watchRoutes\(app\)/);
    await pay.close();
  });
});
