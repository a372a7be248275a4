// The guard: one request in, one verdict out, through named steps: route, price, proof, match, peek, verify, claim, admit.
// Whatever fails on the way refuses; there is no path on which an error leads to the handler.
import type { Context } from "./context.js";
import { applyCors, preflight } from "./cors.js";
import { type ErrorCode, PaywallError } from "./errors.js";
import type { ByPage, Sold } from "./html/page-step.js";
import { wantsPage } from "./page-request.js";
import { mayShowPass, type Passage, passageOf, redeemPass } from "./passage.js";
import { type Priced, type Pricing, priceRequest } from "./pricing.js";
import { type Asked, judgeProof, judgeUnpriced, type PaymentHeaders } from "./proof-step.js";
import { refuse } from "./refusal.js";
import { refusal, refuseProof } from "./refusal-step.js";
import type { PaywallRequest, Verdict } from "./request.js";
import type { RouteEntry, Terms } from "./settings.js";
import { resourceUrl } from "./url.js";

/** Judges requests; answers at once, without a promise, wherever no proof has to be checked. */
export type Guard = (request: PaywallRequest) => Verdict | Promise<Verdict>;

/** What the first step finds for a request. */
export type Routed =
  | { readonly kind: "open" }
  | { readonly kind: "priced"; readonly route: PricedRoute }
  | { readonly kind: "refused"; readonly code: ErrorCode };

export interface PricedRoute {
  readonly pricing: Pricing;
  readonly terms: Terms;
  /** Of a pricing table. */
  readonly line?: RouteEntry | undefined;
}

/** Requests that a guard has let through, by the framework's own request object. */
const admitted = new WeakSet<object>();

export function createGuard(context: Context, route: (request: PaywallRequest) => Routed): Guard {
  const finish = (verdict: Verdict, request: PaywallRequest) => {
    if (verdict.kind === "admit" && typeof request.native === "object" && request.native) admitted.add(request.native);
    return applyCors(verdict, request, context.settings.cors);
  };
  const failed = (error: unknown, request: PaywallRequest) =>
    finish(refusedBy(context, error, request, paymentHeaders(request) !== undefined), request);
  return (request) => {
    try {
      const verdict = judge(context, route, request);
      if (!(verdict instanceof Promise)) return finish(verdict, request);
      return verdict.then(
        (late) => finish(late, request),
        (error: unknown) => failed(error, request),
      );
    } catch (error) {
      return failed(error, request);
    }
  };
}

/** An expected failure by its code; anything else is a 500 with an id, its text for the log only. */
function refusedBy({ logger, events }: Context, error: unknown, request: PaywallRequest, withProof: boolean): Verdict {
  const code = error instanceof PaywallError ? error.code : "internal_error";
  const id = crypto.randomUUID();
  logger.error("a request was refused because the paywall failed", { id, code, error: describe(error) });
  events.emit("refusal", { code, target: request.target });
  // Without a proof nothing can have been paid; with one, only its record could tell.
  const payment = withProof ? "unknown" : "none";
  return { kind: "refuse", answer: refuse(code, { payment, ...(code === "internal_error" && { id }) }) };
}

const describe = (error: unknown): string =>
  error instanceof Error
    ? `${error.stack ?? error.message}${error.cause ? `\ncaused by ${String(error.cause)}` : ""}`
    : String(error);

function judge(
  context: Context,
  route: (request: PaywallRequest) => Routed,
  request: PaywallRequest,
): Verdict | Promise<Verdict> {
  const routed = route(request);
  if (routed.kind === "open") return { kind: "open" };
  if (routed.kind === "refused") return refusal(context, request, refuse(routed.code), routed.code);
  // No HEAD and no OPTIONS ever reaches a priced handler.
  if (request.method === "OPTIONS") return { kind: "refuse", answer: preflight() };
  if (admitted.has(request.native as object)) return refuseSecondGuard(context, request);
  const price = priceRequest(routed.route.pricing, request);
  return price instanceof Promise
    ? price.then((late) => onPrice(context, request, routed.route, late))
    : onPrice(context, request, routed.route, price);
}

/** A proof pays one guard: a second one on the same request would hold it against itself. */
function refuseSecondGuard(context: Context, request: PaywallRequest): Verdict {
  context.logger.error("two paywalls stand in front of one handler: take one of them away", { target: request.target });
  return refusal(context, request, refuse("misconfigured", { payment: "unknown" }), "misconfigured");
}

function onPrice(
  context: Context,
  request: PaywallRequest,
  { terms, line }: PricedRoute,
  price: Priced,
): Verdict | Promise<Verdict> {
  if (price.kind === "free") return { kind: "open" };
  const url = resourceUrl(request, context.settings);
  if (url === undefined) return refusal(context, request, refuse("request_malformed"), "request_malformed");
  const sold = { price, terms, line, url };
  if (terms.page !== false && wantsPage(request)) {
    return judgeByPage(context, request, sold, async (own, headers) => {
      try {
        return await onSold(context, own, sold, headers);
      } catch (error) {
        return refusedBy(context, error, own, headers !== undefined);
      }
    });
  }
  return onSold(context, request, sold, paymentHeaders(request));
}

/** The page is loaded when the first person comes. Invariant: without it there is no way to the handler. */
async function judgeByPage(...args: Parameters<ByPage>): Promise<Verdict> {
  const { judgeByPage: judge } = await import("./html/page-step.js");
  return judge(...args);
}

function onSold(
  context: Context,
  request: PaywallRequest,
  { price, terms, line, url }: Sold,
  headers: PaymentHeaders | undefined,
): Verdict | Promise<Verdict> {
  if (price.kind === "refused") {
    const { code, status, message, problem } = price;
    if (problem) context.logger.error("a price was refused", { target: request.target, problem });
    const answer = refuse(code, { ...(status && { status }), ...(message && { message }) });
    return headers
      ? judgeUnpriced(context, request, { terms, url, headers }, { answer, code })
      : refusal(context, request, answer, code);
  }
  const { offers } = price;
  if (!terms.pass) return onOffers(context, request, { offers, terms, url, headers });
  const passage = passageOf(request, terms.pass, line, url, context.settings.publicUrl);
  const asked = { offers, terms, url, headers, passage };
  return mayShowPass(request) ? onPass(context, request, asked) : onOffers(context, request, asked);
}

/** A request for which there are offers, whether it shows a proof or not. */
type Priceable = Omit<Asked, "headers"> & { readonly headers: PaymentHeaders | undefined };

/**
 * Invariant: a good pass admits and a proof beside it stays unused, so that nobody pays who need not; one that opens nothing
 * never stands in the way of a proof.
 */
async function onPass(context: Context, request: PaywallRequest, asked: WithPassage): Promise<Verdict> {
  const redeemed = await redeemPass(context, request, asked);
  if (redeemed?.ok) return redeemed.verdict;
  const { offers, url, headers } = asked;
  if (!redeemed || headers || context.readiness.isMisconfigured(offers.requirements))
    return onOffers(context, request, asked);
  return refuseProof(context, request, { offers, url, version: 2 }, redeemed);
}

type WithPassage = Priceable & { readonly passage: Passage };

function onOffers(context: Context, request: PaywallRequest, asked: Priceable): Verdict | Promise<Verdict> {
  const { offers, headers } = asked;
  if (headers) return judgeProof(context, request, { ...asked, headers });
  if (context.readiness.isMisconfigured(offers.requirements)) return onClosed(context, request, asked);
  return offer(context, request, asked);
}

/** A request is what has a problem looked at again. It waits for one that the chain can mend: on Workers nothing outlives it. */
async function onClosed(context: Context, request: PaywallRequest, asked: Priceable): Promise<Verdict> {
  const state = await context.readiness.settled(asked.offers.requirements);
  if (state !== "misconfigured") return offer(context, request, asked);
  return refusal(context, request, refuse("misconfigured"), "misconfigured");
}

function offer(context: Context, request: PaywallRequest, { offers, url }: Priceable): Verdict {
  context.events.emit("challenge", { target: request.target });
  const answer = offers.challenge.required(url);
  return { kind: "refuse", answer: request.method === "HEAD" ? { ...answer, body: "" } : answer };
}

/** The payment headers of a request that may be paid. */
function paymentHeaders(request: PaywallRequest): PaymentHeaders | undefined {
  if (request.method === "HEAD") return undefined;
  const v1 = request.header("x-payment");
  const v2 = request.header("payment-signature");
  if (v1 === undefined && v2 === undefined) return undefined;
  return { v1, v2, idempotencyKey: request.header("idempotency-key") };
}
