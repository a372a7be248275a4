// `tollgate/web`: the paywall for fetch handlers: Workers, Bun, Deno and every framework of `Request` and `Response`.
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import { definePaywall, type PaywallCore } from "../src/paywall.js";
import { type AuditReport, markMiddleware } from "./audit.js";
import { auditListed, type RouteList } from "./listed-audit.js";
import { FetchRequest } from "./web-request.js";
import { answerPriced, type Responding } from "./web-wrapper.js";

export type { AuditReport } from "./audit.js";
export type { RouteList } from "./listed-audit.js";

/**
 * Puts the paywall in front of a fetch handler. `payment` is undefined on routes that are not priced; what the runtime gives
 * beside the request (`env`, `ctx`, a server) follows it.
 */
export type Protect = <R extends Request, Rest extends readonly unknown[]>(
  handler: (request: R, payment: Payment | undefined, ...rest: Rest) => Responding,
) => (request: R, ...rest: Rest) => Responding;

function toWrapper(guard: Guard, mark: { readonly core: PaywallCore; readonly price: string | undefined }): Protect {
  const { logger } = mark.core;
  const protect: Protect = (handler) =>
    function paywall(request, ...rest) {
      const run = (own: typeof request, payment: Payment | undefined) => handler(own, payment, ...rest);
      return answerPriced({ guard, logger }, request, new FetchRequest(request), run);
    };
  return markMiddleware(protect, mark);
}

const functions = definePaywall<Protect, RouteList, AuditReport, Request>({
  toMiddleware: toWrapper,
  audit: auditListed,
});

/**
 * A paywall for one price or one table, to be put around a fetch handler. Throws one PaywallConfigError with every problem of
 * the configuration. A paid handler that throws is answered 500, logged and not charged.
 *
 * @example
 * const sell = paywall("$0.01", { payTo: "0x…", network: "base-sepolia" });
 * export default { fetch: sell((request, payment) => Response.json({ paidBy: payment?.payer })) };
 */
export const paywall = functions.paywall;

/**
 * Shared settings, once; then a price for each handler or a table for all. Throws one PaywallConfigError.
 *
 * @example
 * const pay = createPaywall({ payTo: "0x…", networks: ["base-sepolia"] });
 * const report = pay("$0.01")((request, payment) => new Response(`for ${payment?.payer}`));
 */
export const createPaywall = functions.createPaywall;
