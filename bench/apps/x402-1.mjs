// x402-express and x402-hono: the published v1 libraries. One middleware with a table; parameters are written [id].
import { TERMS } from "../lib/terms.mjs";

export async function build({ framework, routes, free, paid, facilitatorUrl }) {
  const { paymentMiddleware } = await import(`x402-${framework}`);
  const { description, mimeType, maxTimeoutSeconds } = TERMS;
  const price = {
    price: `$${TERMS.usd}`,
    network: TERMS.networkV1,
    config: { description, mimeType, maxTimeoutSeconds },
  };
  const table = Object.fromEntries(routes.map(({ path }) => [`GET ${path.replace(/:(\w+)/g, "[$1]")}`, price]));
  const paywall = paymentMiddleware(TERMS.payTo, table, { url: facilitatorUrl });
  if (framework === "express") {
    const { default: express } = await import("express");
    return express().use(paywall).get("/free", free).get("/paid/*rest", paid);
  }
  const { Hono } = await import("hono");
  return new Hono().use(paywall).get("/free", free).get("/paid/*", paid);
}
