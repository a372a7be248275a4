// `tollgate/node`: the paywall for plain node:http servers, and for everything that takes `(req, res, next)`.
import type { IncomingMessage } from "node:http";
import { definePaywall } from "../src/paywall.js";
import type { AuditReport } from "./audit.js";
import { auditListed, type RouteList } from "./listed-audit.js";
import { type Protect, toWrapper } from "./node-listener.js";

export type { AuditReport } from "./audit.js";
export type { RouteList } from "./listed-audit.js";
export type { Listener, PaidMessage, Protect } from "./node-listener.js";

const functions = definePaywall<Protect, RouteList, AuditReport, IncomingMessage>({
  toMiddleware: toWrapper,
  audit: auditListed,
});

/**
 * A paywall for one price or one table, to be put around a request listener. Throws one PaywallConfigError with every
 * problem of the configuration. A paid handler that throws or rejects is answered 500, logged and not charged.
 *
 * @example
 * const sell = paywall("$0.01", { payTo: "0x…", network: "base-sepolia" });
 * createServer(sell((req, res) => res.end(`for ${req.payment?.payer}`))).listen(3000);
 */
export const paywall = functions.paywall;

/**
 * Shared settings, once; then a price for each handler or a table for all. Throws one PaywallConfigError.
 *
 * @example
 * const pay = createPaywall({ payTo: "0x…", networks: ["base-sepolia"] });
 * const report = pay("$0.01")((req, res) => res.end("…"));
 * createServer((req, res) => (req.url === "/report" ? report(req, res) : res.end("free")));
 */
export const createPaywall = functions.createPaywall;
