// The guard: one request in, one verdict out, through named steps: route, price, proof, match, peek, verify, claim, admit.
// Whatever fails on the way refuses; there is no path on which an error leads to the handler.
import { admit } from "./admit.js";
import { refusalOf } from "./capture.js";
import type { Context } from "./context.js";
import { applyCors, preflight } from "./cors.js";
import { ERRORS, type ErrorCode, type ErrorFacts, PaywallError } from "./errors.js";
import { factsOf } from "./facts.js";
import { findNetwork } from "./networks.js";
import type { Offers } from "./offers.js";
import { type Pricing, priceRequest } from "./pricing.js";
import { printRequest } from "./print.js";
import { bindProof, decodeProof, matchOffers } from "./proof.js";
import type { Verification } from "./receive/receiver.js";
import { answerFromRecord } from "./record-answer.js";
import { refuse } from "./refusal.js";
import type { Answer, PaywallRequest, Verdict } from "./request.js";
import type { Requirement } from "./requirement.js";
import type { Sale } from "./sale.js";
import type { Terms } from "./settings.js";
import { settleClaim } from "./settlement.js";
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
}

/** A proof may be overtaken by its own copies so often before it is told to wait. */
const MAX_LOOKS = 5;

export function createGuard(context: Context, route: (request: PaywallRequest) => Routed): Guard {
  const finish = (verdict: Verdict, request: PaywallRequest) => applyCors(verdict, request, context.settings.cors);
  const failed = (error: unknown, request: PaywallRequest) => finish(refusedBy(context, error, request), request);
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
function refusedBy({ logger, events }: Context, error: unknown, request: PaywallRequest): Verdict {
  const code = error instanceof PaywallError ? error.code : "internal_error";
  const id = crypto.randomUUID();
  logger.error("a request was refused because the paywall failed", { id, code, error: describe(error) });
  events.emit("refusal", { code, target: request.target });
  return { kind: "refuse", answer: refuse(code, code === "internal_error" ? { id } : {}) };
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
  if (context.readiness.isMisconfigured()) {
    return refusal(context, request, refuse("misconfigured"), "misconfigured");
  }
  const price = priceRequest(routed.route.pricing, request);
  return price instanceof Promise
    ? price.then((late) => onPrice(context, request, routed.route, late))
    : onPrice(context, request, routed.route, price);
}

const refusal = ({ events }: Context, request: PaywallRequest, answer: Answer, code: ErrorCode): Verdict => {
  events.emit("refusal", { code, target: request.target });
  return { kind: "refuse", answer };
};

function onPrice(
  context: Context,
  request: PaywallRequest,
  { terms }: PricedRoute,
  price: Awaited<ReturnType<typeof priceRequest>>,
): Verdict | Promise<Verdict> {
  if (price.kind === "free") return { kind: "open" };
  if (price.kind === "refused") {
    const { code, status, message, problem } = price;
    if (problem) context.logger.error("a price was refused", { target: request.target, problem });
    return refusal(context, request, refuse(code, { ...(status && { status }), ...(message && { message }) }), code);
  }
  const url = resourceUrl(request, context.settings);
  if (url === undefined) return refusal(context, request, refuse("request_malformed"), "request_malformed");
  const { offers } = price;
  const v1 = request.header("x-payment");
  const v2 = request.header("payment-signature");
  if (request.method === "HEAD" || (v1 === undefined && v2 === undefined)) {
    context.events.emit("challenge", { target: request.target });
    const answer = offers.challenge.required(url);
    return { kind: "refuse", answer: request.method === "HEAD" ? { ...answer, body: "" } : answer };
  }
  return onProof(context, request, { offers, terms, url, v1, v2 });
}

interface Asked {
  readonly offers: Offers;
  readonly terms: Terms;
  readonly url: string;
  readonly v1: string | undefined;
  readonly v2: string | undefined;
}

async function onProof(context: Context, request: PaywallRequest, asked: Asked): Promise<Verdict> {
  const { offers, terms, url, v1, v2 } = asked;
  const decoded = decodeProof({ v1, v2, idempotencyKey: request.header("idempotency-key") });
  if (!decoded.ok) return refuseProof(context, request, asked, decoded);
  const matched = matchOffers(decoded.proof, offers.requirements);
  if (!matched.ok) return refuseProof(context, request, asked, matched);
  const state = await context.readiness.settled(matched.requirements);
  if (state !== "ready") {
    const code = state === "starting" ? "not_ready" : "misconfigured";
    return refusal(context, request, refuse(code, { version: decoded.proof.version }), code);
  }
  const resource = { url, description: terms.description, mimeType: terms.mimeType };
  const print = await printRequest(request, decoded.proof.retryKey);
  const sell = async (requirement: Requirement) => {
    const proof = await bindProof(decoded.proof, requirement);
    return onSale(context, request, { proof, print, versions: decoded.proof.versions, offers, terms, resource });
  };
  return firstThatFits(matched.requirements, sell);
}

/** A v1 proof names no asset: it is for the offer whose token domain its signature covers. */
async function firstThatFits(
  [first, ...others]: readonly Requirement[],
  sell: (requirement: Requirement) => Promise<{ verdict: Verdict; fits: boolean }>,
): Promise<Verdict> {
  let { verdict, fits } = await sell(first as Requirement);
  for (const requirement of others) {
    if (fits) break;
    ({ verdict, fits } = await sell(requirement));
  }
  return verdict;
}

/** A refused proof gets the offers again where a new payment would help, and only then. */
function refuseProof(
  context: Context,
  request: PaywallRequest,
  { offers, url, v2 }: Pick<Asked, "offers" | "url" | "v2">,
  { code, ...facts }: { readonly code: ErrorCode } & ErrorFacts,
): Verdict {
  const version = v2 === undefined ? 1 : 2;
  const answer =
    ERRORS[code].status === 402 ? offers.challenge.refused(url, code, facts, []) : refuse(code, { version, ...facts });
  return refusal(context, request, answer, code);
}

async function onSale(
  context: Context,
  request: PaywallRequest,
  sale: Sale,
): Promise<{ verdict: Verdict; fits: boolean }> {
  const { proof, print, offers, terms, resource } = sale;
  const network = findNetwork(proof.requirement.network);
  const window = {
    handlerTimeoutMs: terms.flow === "upfront" ? 0 : terms.handlerTimeoutMs,
    settleMs: context.receiver.settleMs(proof.requirement.network),
    blockMs: network?.blockMs ?? 0,
  };
  const asked = { offers, url: resource.url, v2: proof.version === 2 ? "" : undefined };
  const fits = (verdict: Verdict) => ({ verdict, fits: true });
  // Verified in this request: what stands in the record may be told to whoever holds a valid signature.
  let verified: Verification | undefined;
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const found = await context.claims.peek(proof.id);
    const { record } = found;
    const isKnown = record?.digest === proof.digest;
    if (record && !isKnown) verified ??= await context.verifier.verify(proof, resource, window);
    if (record && (isKnown || verified?.outcome === "valid" || verified?.outcome === "used")) {
      const answer = await answerFromRecord(context, sale, { ...found, record });
      if (answer === "again") continue;
      if (answer !== "run") return fits(answer);
    }
    verified ??= await context.verifier.verify(proof, resource, window);
    if (verified.outcome !== "valid") {
      const refused = refuseVerification(context, request, asked, sale, verified);
      return { verdict: refused, fits: !(verified.outcome === "invalid" && verified.code === "signature_invalid") };
    }
    context.events.emit("verified", factsOf(proof));
    const claimed = await context.claims.claim(proof, print, verified.balance);
    if (claimed.ok) {
      context.events.emit("claimed", { ...factsOf(proof), run: claimed.claim.record.runs });
      return fits(await onClaim(context, { ...sale, claim: claimed.claim }));
    }
    if (claimed.code !== "lost") {
      return fits(refusal(context, request, refuse(claimed.code, { version: proof.version }), claimed.code));
    }
  }
  return fits(
    refusal(context, request, refuse("payment_in_progress", { version: proof.version }), "payment_in_progress"),
  );
}

function refuseVerification(
  context: Context,
  request: PaywallRequest,
  asked: Pick<Asked, "offers" | "url" | "v2">,
  { proof }: Sale,
  verification: Exclude<Verification, { outcome: "valid" }>,
): Verdict {
  const { version } = proof;
  switch (verification.outcome) {
    case "invalid":
      return refuseProof(context, request, asked, verification);
    case "used":
      return refusal(context, request, refuse("payment_already_used", { version }), "payment_already_used");
    case "unavailable": {
      const { code, message } = verification;
      context.logger.warn("a proof could not be verified", { proofId: proof.id, code, message });
      return refusal(context, request, refuse(code, { version }), code);
    }
  }
}

/** `authorization` runs the handler now; `upfront` takes the money first. */
async function onClaim(
  context: Context,
  claimed: Sale & { readonly claim: Parameters<typeof settleClaim>[2] },
): Promise<Verdict> {
  const { proof, terms, resource, claim } = claimed;
  if (terms.flow === "authorization") return admit(context, { ...claimed, transaction: undefined });
  const settled = await settleClaim(context, proof, claim, resource);
  if (settled.kind !== "settled") return { kind: "refuse", answer: refusalOf(context, claimed, settled) };
  return admit(context, { ...claimed, claim: settled.claim, transaction: settled.transaction });
}
