// A person's browser at a priced route: the same verdict as everybody gets, its refusals as a page. The page brings its payment in
// a cookie through an ordinary navigation, so that the browser itself shows whatever was sold.
import type { Context } from "../context.js";
import { NO_DELIVERY } from "../delivery.js";
import { mapOutcomes } from "../outcomes.js";
import { paidCookie, paymentCookie } from "../page-cookie.js";
import { PAGE_HEADER } from "../page-request.js";
import type { Priced } from "../pricing.js";
import type { PaymentHeaders } from "../proof-step.js";
import { mergeList } from "../receipt.js";
import type { Answer, HeaderList, Outcome, PaywallRequest, Verdict } from "../request.js";
import type { RouteEntry, Terms } from "../settings.js";
import { draftOf } from "./draft.js";
import { toJsonAnswer, toPageAnswer } from "./page-answer.js";
import type { PageData } from "./page-data.js";
import { readPayment, withoutPayment } from "./payment-cookie.js";
import { headerOf, toPageData, transactionOf } from "./to-page-data.js";

/** What one request would buy, by the route that it met. */
export interface Sold {
  readonly price: Exclude<Priced, { kind: "free" }>;
  readonly terms: Terms;
  readonly line: RouteEntry | undefined;
  readonly url: string;
}

/** Judges a request whose refusal is to be a page. `judge` never rejects. */
export type ByPage = (
  context: Context,
  request: PaywallRequest,
  sold: Sold,
  judge: (request: PaywallRequest, headers: PaymentHeaders | undefined) => Promise<Verdict>,
) => Promise<Verdict>;

export const judgeByPage: ByPage = async (context, request, { price, terms, url }, judge) => {
  const asked = request.header(PAGE_HEADER);
  const shown = asked === undefined ? readPayment(request, paymentCookie(request.target)) : undefined;
  const headers = shown === undefined ? undefined : { v1: undefined, v2: shown, idempotencyKey: undefined };
  const verdict = await judge(withoutPayment(request), headers);

  const offers = price.kind === "offers" ? price.offers : undefined;
  const known = { url, target: request.target, terms, offers, answered: headers !== undefined };
  const dataOf = (answer: Answer): PageData => toPageData({ ...known, now: context.clock.now() }, answer);
  const isHead = request.method === "HEAD";
  // Safe because the refusal stays what it was: only its words are for programs then.
  const failed = (error: unknown): void =>
    context.logger.error("the page of a paywall failed", { target: request.target, error: String(error) });
  const page = (answer: Answer): Answer => {
    try {
      return toPageAnswer(answer, dataOf(answer), terms.page, isHead);
    } catch (error) {
      failed(error);
      return answer;
    }
  };
  /** For the question that the page's script asks. */
  const reply = async (answer: Answer, wish: string): Promise<Answer> => {
    try {
      const draft = await draftOf(context, request, wish, offers);
      return toJsonAnswer(answer, { ...dataOf(answer), ...(draft && { draft }) });
    } catch (error) {
      failed(error);
      return answer;
    }
  };
  const onOutcome = (outcome: Outcome): Outcome => {
    if (outcome.kind === "replace") return { ...outcome, answer: page(outcome.answer) };
    if (!headers || outcome.delivery === NO_DELIVERY) return outcome;
    return { ...outcome, headers: withPaid(outcome.headers, request.target) };
  };
  switch (verdict.kind) {
    case "open":
      return verdict;
    case "refuse": {
      const { answer } = verdict;
      return { ...verdict, answer: asked === undefined || isHead ? page(answer) : await reply(answer, asked) };
    }
    case "replay":
      if (!headers) return verdict;
      return {
        ...verdict,
        answer: { ...verdict.answer, headers: withPaid(verdict.answer.headers, request.target) },
      };
    case "admit":
      return { ...verdict, capture: mapOutcomes(verdict.capture, onOutcome) };
  }
};

/** Long enough for a page that stays, because what it bought became a download. */
const PAID_SECONDS = 60;

/** Tells the page that it was paid, and by what: that is public. No cache may give the answer to who has not paid. */
function withPaid(headers: HeaderList, target: string): HeaderList {
  const others = headers.filter(([name]) => name.toLowerCase() !== "vary");
  const receipt = transactionOf(headerOf(headers, "payment-response")) ?? "";
  const value = /^\w{1,100}$/.test(receipt) ? receipt : "1";
  return [
    ...others,
    ["Vary", mergeList(headerOf(headers, "vary"), "Cookie")],
    ["Set-Cookie", `${paidCookie(target)}=${value}; Path=/; Max-Age=${PAID_SECONDS}; SameSite=Strict`],
  ];
}
