// Pricing tables for the tests of routes, from keys and prices alone.
import { parseRouteKey } from "../../src/routes.js";
import type { RouteEntry, Terms } from "../../src/settings.js";

const terms: Terms = {
  networks: [],
  payTo: {},
  flow: "authorization",
  description: "",
  mimeType: "",
  maxTimeoutSeconds: 60,
  handlerTimeoutMs: 30_000,
  confirmations: 1,
  replayMs: 60_000,
};

/** Entries in order; throws on a key that is no route. */
export function table(prices: Record<string, string>): RouteEntry[] {
  return Object.entries(prices).map(([key, price]) => {
    const parsed = parseRouteKey(key);
    if (!parsed.ok) throw new Error(parsed.problem);
    return { key, method: parsed.method, pattern: parsed.pattern, price, terms };
  });
}
