// What a route sells beside its answer: a pass that opens the same again. Here stands only what each request of such a route
// needs; the rest is loaded when a pass is sold or shown, and never by a route that sells none.
import type { PassTerms } from "./access.js";
import type { Issue } from "./pass-issue.js";
import type { Redeem } from "./pass-step.js";
import type { HeaderList, PaywallRequest } from "./request.js";
import type { RouteEntry } from "./settings.js";

/** The thing that a pass is for. */
export interface Passage extends PassTerms {
  /** The public URL of the paywall, or the origin by which the buyer knows it. */
  readonly shop: string;
  /** The line of the table; without a table the method and the full path, whatever the query. */
  readonly route: string;
  /** The path, or the pattern of paths, that a browser's cookie is for. */
  readonly path: string;
  /** A page of the shop itself asks, so that its browser may keep the pass. */
  readonly byPage: boolean;
}

/** Begins the name of the cookie. */
export const COOKIE_PREFIX = "payment_pass_";

export const NO_PASS: HeaderList = Object.freeze([]);

/** @param url what `resourceUrl` gives for the request */
export function passageOf(
  request: PaywallRequest,
  { uses, ms }: PassTerms,
  line: RouteEntry | undefined,
  url: string,
  publicUrl: string | undefined,
): Passage {
  const shop = publicUrl ?? /^https?:\/\/[^/?#]*/i.exec(url)?.[0] ?? "";
  // As it was sent: two paths that only some routers take for one are two things.
  const path = pathOf(url.slice(shop.length));
  const { method, dispatched } = request;
  const alone = JSON.stringify([method, path, ...(dispatched === undefined ? [] : [pathOf(dispatched)])]);
  return {
    uses,
    ms,
    shop,
    route: line ? JSON.stringify([line.method ?? "", line.pattern, "*"]) : alone,
    path: line?.pattern ?? path,
    // Sent by a script of the shop's own page, or by a navigation. No script can write these two headers.
    byPage: request.header("sec-fetch-site") === "same-origin" || request.header("sec-fetch-dest") === "document",
  };
}

const pathOf = (target: string): string => target.split("?", 1)[0] ?? "";

/** May a pass stand in this request? Costs a look at two headers. */
export const mayShowPass = (request: PaywallRequest): boolean =>
  request.method !== "HEAD" &&
  (request.header("payment-pass") !== undefined || request.header("cookie")?.includes(COOKIE_PREFIX) === true);

/** Judges the pass that a request shows. */
export const redeemPass: Redeem = async (...args) => (await import("./pass-step.js")).redeem(...args);

/** The headers that carry a new pass, none where nothing is due; undefined = the store failed, which is logged. */
export async function issuePass(...sold: Parameters<Issue>): Promise<HeaderList | undefined> {
  try {
    return await (await import("./pass-issue.js")).issue(...sold);
  } catch (error) {
    const [{ logger }, { proof }] = sold;
    logger.error("a pass that was paid for could not be stored", { proofId: proof.id, error: String(error) });
    return undefined;
  }
}
