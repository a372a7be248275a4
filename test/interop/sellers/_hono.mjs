// A Hono app around a middleware: what is behind the paywall tells what came.
import { serve } from "@hono/node-server";
import { Hono } from "hono";

export function startHono({ goods, runs }, ...paywalls) {
  const app = new Hono();
  app.get("/runs", (c) => c.json(runs()));
  for (const paywall of paywalls) app.use(paywall);
  const sell = async (c) => c.json(goods(c.req.method, c.req.header("content-type"), await c.req.arrayBuffer()));
  app.all("/evm", sell).all("/solana", sell);
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port));
  });
}
