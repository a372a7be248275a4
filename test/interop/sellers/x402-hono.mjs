// `x402-hono`: protocol v1.
import { paymentMiddleware } from "x402-hono";
import { startHono } from "./_hono.mjs";

export function start({ facilitatorUrl: url, createAuthHeaders, evm, solana, price, ...shop }) {
  const facilitator = { url, createAuthHeaders };
  return startHono(
    shop,
    paymentMiddleware(evm, { "/evm": { price, network: "base-sepolia" } }, facilitator),
    paymentMiddleware(solana, { "/solana": { price, network: "solana-devnet" } }, facilitator),
  );
}
