// Reads the payment that the page has put into a cookie, and shows the request as it would be without. A cookie counts only on a
// navigation that the site itself began: nobody else can make a browser spend it.
import { withoutPageCookies } from "../page-cookie.js";
import { isNavigation } from "../page-request.js";
import type { PaywallRequest } from "../request.js";

/** A header of 16 KiB needs no more than this many cookies. */
export const MAX_PARTS = 4;

/** The payment header that the cookie of this name stands for; undefined where it may not be read. */
export function readPayment(request: PaywallRequest, name: string): string | undefined {
  if (request.method !== "GET" || !isOwnNavigation(request)) return undefined;
  const cookies = new Map<string, string>();
  for (const cookie of (request.header("cookie") ?? "").split(/[;,]/)) {
    const at = cookie.indexOf("=");
    const key = cookie.slice(0, at).trim();
    // Browsers send the cookie of the longest path first.
    if (at > 0 && key.startsWith(name) && !cookies.has(key)) cookies.set(key, cookie.slice(at + 1).trim());
  }
  const first = cookies.get(name);
  if (first === undefined) return undefined;
  let value = first;
  for (let part = 1; part < MAX_PARTS; part += 1) value += cookies.get(`${name}-${part}`) ?? "";
  return value;
}

/** Where a browser says who began it, that must be the site itself or the person. A prefetch is nobody's wish to pay. */
function isOwnNavigation(request: PaywallRequest): boolean {
  const site = request.header("sec-fetch-site") ?? "none";
  return (
    isNavigation(request) && (site === "same-origin" || site === "none") && request.header("sec-purpose") === undefined
  );
}

/** The same request without the page's cookies. */
export function withoutPayment(request: PaywallRequest): PaywallRequest {
  return {
    method: request.method,
    target: request.target,
    dispatched: request.dispatched,
    origin: request.origin,
    ip: request.ip,
    get signal() {
      return request.signal;
    },
    get bodyless() {
      return request.bodyless === true;
    },
    native: request.native,
    body: (limit) => request.body(limit),
    header(name) {
      const value = request.header(name);
      return value !== undefined && name.toLowerCase() === "cookie" ? withoutPageCookies(value) : value;
    },
  };
}
