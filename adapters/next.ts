// `tollgate/next`: the paywall for route handlers of Next.js (`app/**/route.ts`), version 15 and later.
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import { definePaywall, type PaywallCore } from "../src/paywall.js";
import { type AuditReport, markMiddleware } from "./audit.js";
import { auditListed, type RouteList } from "./listed-audit.js";
import { FetchRequest } from "./web-request.js";
import { answerPriced, type Responding } from "./web-wrapper.js";

export type { AuditReport } from "./audit.js";
export type { RouteList } from "./listed-audit.js";

/** What the handler finds in its context beside `params`. */
export interface PaymentContext {
  /** The payment that admitted this request; absent on routes that are not priced. */
  readonly payment?: Payment;
}

/** Puts the paywall in front of a route handler. */
export type Protect = <R extends Request, C extends object>(
  handler: (request: R, context: C & PaymentContext) => Responding,
) => (request: R, context: C) => Responding;

function toWrapper(guard: Guard, mark: { readonly core: PaywallCore; readonly price: string | undefined }): Protect {
  const { logger } = mark.core;
  const protect: Protect = (handler) =>
    function paywall(request, context) {
      const run = (own: typeof request, payment: Payment | undefined) =>
        handler(own, payment ? { ...context, payment } : context);
      return answerPriced({ guard, logger }, request, new NextPaywallRequest(request), run);
    };
  return markMiddleware(protect, mark);
}

/** Next puts the name it was started with into the URL; buyers know the server by the one they sent. */
class NextPaywallRequest extends FetchRequest {
  override get origin(): string | undefined {
    const host = this.header("host");
    return host ? `${new URL(this.native.url).protocol}//${host}` : super.origin;
  }
}

const functions = definePaywall<Protect, RouteList, AuditReport, Request>({
  toMiddleware: toWrapper,
  audit: auditListed,
});

/**
 * A paywall for one price, to be put around a route handler. Throws one PaywallConfigError with every problem of the
 * configuration. Next answers HEAD by the exported GET and OPTIONS by itself: for browsers that pay from other origins export
 * OPTIONS too.
 *
 * @example
 * const sell = paywall("$0.01", { payTo: "0x…", network: "base-sepolia" });
 * export const GET = sell((request, { payment }) => Response.json({ report: "…", paidBy: payment?.payer }));
 * export const OPTIONS = GET;
 */
export const paywall = functions.paywall;

/**
 * Shared settings, once, in a file of your own; then a price for each handler. Throws one PaywallConfigError.
 *
 * @example
 * export const pay = createPaywall({ payTo: "0x…", networks: ["base-sepolia"] });
 * export const GET = pay("$0.01")((request, { payment }) => Response.json({ paidBy: payment?.payer }));
 */
export const createPaywall = functions.createPaywall;
