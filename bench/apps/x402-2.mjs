// @x402/express and @x402/hono: the published v2 libraries. One middleware with a table. `options.money`: "solana" for USDC
// there, on Base otherwise.
import { SOLANA_TERMS, TERMS } from "../lib/terms.mjs";

export async function build({ framework, routes, free, paid, facilitatorUrl, options }) {
  const { HTTPFacilitatorClient } = await import("@x402/core/server");
  const isSolana = options.money === "solana";
  const { network, payTo, maxTimeoutSeconds, description, mimeType } = isSolana ? SOLANA_TERMS : TERMS;
  const { paymentMiddleware, x402ResourceServer } = await import(`@x402/${framework}`);
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl });
  const server = new x402ResourceServer(facilitator).register(network, await schemeOf(isSolana));
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

async function schemeOf(isSolana) {
  if (isSolana) {
    const { ExactSvmScheme } = await import("@x402/svm/exact/server");
    return new ExactSvmScheme();
  }
  const { ExactEvmScheme } = await import("@x402/evm/exact/server");
  return new ExactEvmScheme();
}
