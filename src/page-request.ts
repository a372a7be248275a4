// Which requests a page answers: a person's browser on its way to a document. Everything else keeps JSON. Here stands only what
// each request of a priced route needs; the page itself is loaded when the first person comes.
import type { PaywallRequest } from "./request.js";

/** By which the page asks its own URL what it costs now. */
export const PAGE_HEADER = "payment-page";

/** Costs a look at one header for a program. */
export function wantsPage(request: PaywallRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  if (!request.header("accept")?.includes("text/html")) return false;
  const destination = request.header("sec-fetch-dest");
  if (destination !== undefined && destination !== "document" && request.header(PAGE_HEADER) === undefined)
    return false;
  return PROGRAM_HEADERS.every((name) => request.header(name) === undefined);
}

/** What a browser never sends by itself. */
const PROGRAM_HEADERS = ["payment-signature", "x-payment", "payment-pass"] as const;
