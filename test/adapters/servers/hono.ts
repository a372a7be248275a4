// Hono on Node, as the HTTP cases see it.
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { createPaywall, type PaymentVariables } from "../../../adapters/hono.js";
import type { HttpFramework } from "../../../src/testing/index.js";
import { listen } from "./listen.js";
import { toResponse } from "./response.js";

export const honoServer: HttpFramework = {
  name: "Hono",
  start({ settings, routes, headersBefore, parser }) {
    const app = new Hono<{ Variables: PaymentVariables }>();
    const pay = createPaywall(settings);
    app.onError((_error, c) => c.text("the handler failed", 500));
    app.use(async (c, next) => {
      // As Hono's own cors() does it: what c.header() prepares is not for a handler that makes its own Response.
      for (const [name, value] of Object.entries(headersBefore ?? {})) c.res.headers.set(name, value);
      if (parser === "before") await c.req.text();
      await next();
    });
    for (const { path, price, options, handler } of routes) {
      const guard = pay(price, options);
      app.all(path, guard, async (c) => {
        if (parser === "after") await c.req.text();
        const header = (name: string) => c.req.header(name);
        return toResponse(await handler({ payment: c.get("payment"), header, body: () => c.req.text() }));
      });
    }
    return listen(createAdaptorServer({ fetch: app.fetch }) as Server, pay);
  },
};
