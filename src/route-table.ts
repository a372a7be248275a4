// Reads a pricing table: keys, prices and the terms of each line, in table order.
import { optionPath, type Problems, show } from "./config-problems.js";
import type { OfferingReceiver } from "./offers.js";
import { type RouteOptions, type RouteTable, readRouteOptions } from "./option-schema.js";
import { checkPrice, checkTaken } from "./price-check.js";
import { checkMeaning } from "./price-terms.js";
import { parseRouteKey, routeShape } from "./routes.js";
import type { RouteEntry } from "./settings.js";
import { mergeTerms, type TermsBase } from "./terms.js";

/** The entries of a table; a line with a problem is left out. `pathOf` gives the path of a line from its key. */
export function readTable(
  routes: RouteTable,
  base: TermsBase,
  pathOf: (key: string) => string,
  problems: Problems,
): RouteEntry[] {
  const entries: RouteEntry[] = [];
  const seen = new Map<string, string>();
  for (const [key, value] of Object.entries(routes)) {
    const path = pathOf(key);
    const parsed = parseRouteKey(key);
    if (!parsed.ok) problems.add(path, "invalid", parsed.problem);
    const line = splitLine(value);
    const read = readRouteOptions(line.options, path, problems);
    const terms = mergeTerms(read, base, path, problems);
    const pricePath = line.own ? optionPath(path, ["price"]) : path;
    const { price } = line;
    if (!checkPrice(price, terms?.networks, pricePath, problems) || !parsed.ok) continue;
    if (terms) checkMeaning(price, terms.networks, read.options, path, problems);

    const { method, pattern } = parsed;
    if (price !== "free") checkTwins(seen, key, method, pattern, path, problems);
    else if (/[^\x21-\x7e]/.test(pattern)) {
      const encoded = encodeURI(pattern);
      problems.add(path, "invalid", `a free key opens its exact form alone, as it is sent: write ${show(encoded)}`);
    }
    if (terms) entries.push(Object.freeze({ key, method, pattern, price, terms }));
  }
  return entries;
}

/** Can the receiver take what each line asks for? `routes` is the table that the entries were read from. */
export function checkTableTaken(
  entries: readonly RouteEntry[],
  routes: RouteTable,
  receiver: OfferingReceiver,
  pathOf: (key: string) => string,
  problems: Problems,
): void {
  for (const { key, price, terms } of entries) {
    const path = pathOf(key);
    const pricePath = splitLine(routes[key]).own ? optionPath(path, ["price"]) : path;
    checkTaken(price, terms.networks, receiver, pricePath, problems);
  }
}

/** The price and the options of one value; `own`: the price stands in an object of its own. */
function splitLine(value: unknown): { price: unknown; options: unknown; own: boolean } {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  // An object with an asset is a price; every other one is a price with options.
  if (!isObject || "asset" in value || "amount" in value) return { price: value, options: {}, own: false };
  const { price, ...options } = value as RouteOptions & { price?: unknown };
  return { price, options, own: true };
}

/** Two priced keys for one route: the later would never be asked, or both would claim every request. */
function checkTwins(
  seen: Map<string, string>,
  key: string,
  method: string | undefined,
  pattern: string,
  path: string,
  problems: Problems,
): void {
  const shape = routeShape(pattern);
  const twin = seen.get(` ${shape}`) ?? (method && seen.get(`${method} ${shape}`));
  if (twin === undefined) seen.set(`${method ?? ""} ${shape}`, key);
  else problems.add(path, "contradiction", `it is the same route as ${show(twin)}, which stands before it: keep one`);
}
