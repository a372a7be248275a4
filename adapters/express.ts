// `tollgate/express`: the paywall for Express 4 and 5.
import type { Application, Request, RequestHandler, Router } from "express";
import type { Payment } from "../src/payment.js";
import { definePaywall, type PaywallFunctions } from "../src/paywall.js";
import type { AuditReport } from "./audit.js";
import { auditExpress } from "./express-audit.js";
import { toMiddleware } from "./express-middleware.js";
// Keeps the type of `req.payment` in the declarations, which drop an import that only the code needs.
import "./express-middleware.js";

export type { AuditReport } from "./audit.js";

declare global {
  namespace Express {
    interface Request {
      /** The payment that admitted this request; absent on routes that are not priced. */
      payment?: Payment;
    }
  }
}

// Named, so that the declarations say it in these words: inferred types name packages that an app need not have.
type Functions = PaywallFunctions<RequestHandler, Application | Router, AuditReport, Request>;

const functions: Functions = definePaywall({
  toMiddleware,
  audit: auditExpress,
});

/**
 * A paywall for one price or one table. Throws one PaywallConfigError with every problem of the configuration.
 *
 * @example
 * app.get("/report", paywall("$0.01", { payTo: "0x…", network: "base-sepolia" }), (req, res) => {
 *   res.json({ report: "…", paidBy: req.payment?.payer });
 * });
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
