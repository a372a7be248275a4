// `tollgate/fastify`: the paywall for Fastify 5.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { definePaywall } from "../src/paywall.js";
import type { AuditReport } from "./audit.js";
import { auditFastify } from "./fastify-audit.js";
import { type PaywallHook, toHook } from "./fastify-hook.js";
// Keeps the type of `request.payment` in the declarations, which drop an import that only the code needs.
import "./fastify-hook.js";

export type { AuditReport } from "./audit.js";
export { watchRoutes } from "./fastify-audit.js";
export type { PaywallHook } from "./fastify-hook.js";

const functions = definePaywall<PaywallHook, Pick<FastifyInstance, "addHook">, AuditReport, FastifyRequest>({
  toMiddleware: toHook,
  audit: auditFastify,
});

/**
 * A paywall for one price or one table, as a hook. Throws one PaywallConfigError with every problem of the configuration.
 *
 * @example
 * const onRequest = paywall("$0.01", { payTo: "0x…", network: "base-sepolia" });
 * app.get("/report", { onRequest }, async (request) => ({ report: "…", paidBy: request.payment?.payer }));
 */
export const paywall = functions.paywall;

/**
 * Shared settings, once; then a price for each route or a table for all. Throws one PaywallConfigError.
 *
 * @example
 * const pay = createPaywall({ payTo: "0x…", networks: ["base-sepolia"] });
 * app.get("/a", { onRequest: pay("$0.01") }, a);
 * app.addHook("onRequest", pay.routes({ "GET /b": "$0.02" }));
 */
export const createPaywall = functions.createPaywall;
