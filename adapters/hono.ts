// `tollgate/hono`: the paywall for Hono, on every runtime that Hono runs on.
import type { Context, MiddlewareHandler } from "hono";
import { definePaywall, type PaywallFunctions } from "../src/paywall.js";
import type { AuditReport } from "./audit.js";
import { type AnyHono, auditHono } from "./hono-audit.js";
import { type PaymentVariables, toMiddleware } from "./hono-middleware.js";

export type { AuditReport } from "./audit.js";
export type { PaymentVariables } from "./hono-middleware.js";

type Env = { Variables: PaymentVariables };

type Functions = PaywallFunctions<MiddlewareHandler<Env>, AnyHono, AuditReport, Context>;

const functions: Functions = definePaywall({
  toMiddleware,
  audit: auditHono,
});

/**
 * A paywall for one price or one table. Throws one PaywallConfigError with every problem of the configuration.
 *
 * @example
 * app.get("/report", paywall("$0.01", { payTo: "0x…", network: "base-sepolia" }), (c) => c.json({ report: "…" }));
 */
export const paywall: Functions["paywall"] = functions.paywall;

/**
 * Shared settings, once; then a price for each route or a table for all. Throws one PaywallConfigError.
 *
 * @example
 * const pay = createPaywall({ payTo: "0x…", networks: ["base-sepolia"] });
 * app.get("/a", pay("$0.01"), a);
 * app.use(pay.routes({ "GET /b": "$0.02" }));
 */
export const createPaywall: Functions["createPaywall"] = functions.createPaywall;
