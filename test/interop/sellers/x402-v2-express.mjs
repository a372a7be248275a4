// `@x402/express`: protocol v2.
import { paymentMiddleware } from "@x402/express";
import { startExpress } from "./_express.mjs";
import { v2Terms } from "./_v2.mjs";

export function start(shop) {
  const { routes, server } = v2Terms(shop);
  return startExpress(shop, paymentMiddleware(routes, server));
}
