// @x402/express and @x402/hono: the published v2 libraries. One middleware with a table.
import { TERMS } from "../lib/terms.mjs";

export async function build({ framework, routes, free, paid, facilitatorUrl }) {
  const { HTTPFacilitatorClient } = await import("@x402/core/server");
  const { ExactEvmScheme } = await import("@x402/evm/exact/server");
  const { paymentMiddleware, x402ResourceServer } = await import(`@x402/${framework}`);
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl });
  const server = new x402ResourceServer(facilitator).register(TERMS.network, new ExactEvmScheme());
  const { network, payTo, maxTimeoutSeconds, description, mimeType } = TERMS;
  const accepts = { scheme: "exact", price: `$${TERMS.usd}`, network, payTo, maxTimeoutSeconds };
  const table = Object.fromEntries(routes.map(({ path }) => [`GET ${path}`, { accepts, description, mimeType }]));
  const paywall = paymentMiddleware(table, server);
  if (framework === "express") {
    const { default: express } = await import("express");
    return express().use(paywall).get("/free", free).get("/paid/*rest", paid);
  }
  const { Hono } = await import("hono");
  return new Hono().use(paywall).get("/free", free).get("/paid/*", paid);
}
