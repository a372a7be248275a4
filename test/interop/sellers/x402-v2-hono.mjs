// `@x402/hono`: protocol v2.
import { paymentMiddleware } from "@x402/hono";
import { startHono } from "./_hono.mjs";
import { v2Terms } from "./_v2.mjs";

export function start(shop) {
  const { routes, server } = v2Terms(shop);
  return startHono(shop, paymentMiddleware(routes, server));
}
