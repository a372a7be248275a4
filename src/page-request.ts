// Which requests a page answers: a person's browser on its way to a document. Everything else keeps JSON. Here stands only what
// each request of a priced route needs; the page itself is loaded when the first person comes.
import type { PaywallRequest } from "./request.js";

/** By which the page asks its own URL what it costs now. */
export const PAGE_HEADER = "payment-page";

/** Costs a look at one header for a program. */
export function wantsPage(request: PaywallRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  if (!HTML.test(request.header("accept") ?? "")) return false;
  if (!isNavigation(request) && request.header(PAGE_HEADER) === undefined) return false;
  return PROGRAM_HEADERS.every((name) => request.header(name) === undefined);
}

/** To a document, as far as the browser says; a service worker that passes it on leaves no more of that than its mode. */
export function isNavigation(request: Pick<PaywallRequest, "header">): boolean {
  const destination = request.header("sec-fetch-dest") ?? "document";
  return destination === "document" || (destination === "empty" && request.header("sec-fetch-mode") === "navigate");
}

/** HTML as a type of its own in a list, and not as the one that is unwanted. */
const HTML = /(?:^|,)\s*text\/html\s*(?=[,;]|$)(?!;\s*q=0(?:\.0+)?\s*(?:,|$))/i;

/** What a browser never sends by itself. */
const PROGRAM_HEADERS = ["payment-signature", "x-payment", "payment-pass"] as const;
