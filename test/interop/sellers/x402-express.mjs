// `x402-express`: protocol v1.
import { paymentMiddleware } from "x402-express";
import { startExpress } from "./_express.mjs";

export function start({ facilitatorUrl: url, createAuthHeaders, evm, solana, price, ...shop }) {
  const facilitator = { url, createAuthHeaders };
  return startExpress(
    shop,
    paymentMiddleware(evm, { "/evm": { price, network: "base-sepolia" } }, facilitator),
    paymentMiddleware(solana, { "/solana": { price, network: "solana-devnet" } }, facilitator),
  );
}
