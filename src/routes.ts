// Which entry of a pricing table a request falls under. A priced key covers every form of its path that a router may
// dispatch to its handler, and more; a `"free"` key covers its exact form alone. What cannot be read with certainty is
// undecodable, which the guard refuses.
import { foldCase, isPlain, pathOf, type Reading, type Readings, readingsOf, segmentsOf } from "./path.js";
import { createRouteIndex, type Ranked } from "./route-index.js";
import { type Part, partsOf } from "./route-key.js";
import type { RouteEntry } from "./settings.js";

export { parseRouteKey, samplePath } from "./route-key.js";

export type RouteMatch =
  | { readonly kind: "priced"; readonly entry: RouteEntry }
  | { readonly kind: "free"; readonly entry: RouteEntry }
  /** In no key of the table. */
  | { readonly kind: "open" }
  /** In no key of a strict table. */
  | { readonly kind: "unlisted" }
  /** Malformed, too long, or claimed by two priced keys under different readings. */
  | { readonly kind: "undecodable" };

export interface Routes {
  /**
   * `method` in upper case, `target` in origin or absolute form, undecoded. HEAD is matched as GET; OPTIONS is priced
   * where any method is.
   */
  match(method: string, target: string): RouteMatch;
}

/**
 * Prepares a table for matching: the first entry in table order wins, at a cost that does not grow with the table.
 *
 * Priced keys that claim one path under different readings (`/a/..%2fb`), or overlap on a path that is not sent as they are
 * written (`/a//b`), are not weighed against each other unless they ask for the same: which of them the router will run is
 * unknown, and the cheaper must not pay for the dearer.
 *
 * @example compileRoutes(settings.routes, { strict: false }).match("GET", "/Files/%61?x=1")
 */
export function compileRoutes(entries: readonly RouteEntry[], options: { readonly strict: boolean }): Routes {
  const free = createRouteIndex();
  const written = createRouteIndex();
  const folded = createRouteIndex();
  const asks = entries.map(askOf);
  const anyPriced = entries.some((entry) => entry.price !== "free");
  for (const [rank, entry] of entries.entries()) {
    const parts = partsOf(entry.pattern);
    if (entry.price === "free") {
      free.add(parts, methodsOf(entry), { rank, entry });
      continue;
    }
    written.add(parts, methodsOf(entry), { rank, entry });
    folded.add(foldParts(parts), methodsOf(entry), { rank, entry });
  }

  const open: RouteMatch = options.strict ? { kind: "unlisted" } : { kind: "open" };
  const unreadable: RouteMatch = anyPriced ? { kind: "undecodable" } : open;

  /**
   * One reading: a free entry, or the priced entries that claim it. Where a key has exactly this form, a router takes the
   * keys in table order. Where it has not (another case, a slash more or less), each router of an app decides for itself, so
   * that the first key may be passed over for a later one: all that overlap are claims.
   */
  function judge(reading: Reading, method: string, opener: Ranked | undefined, dropped: boolean): Judgement {
    const form = reading.map(foldCase);
    const exact = written.find(reading, method);
    const loose = folded.find(form, method);
    const first = Math.min(exact?.rank ?? Infinity, loose?.rank ?? Infinity);
    if (first === Infinity) return { opener, claims: [] };
    if (opener && opener.rank < first) return { opener, claims: [] };
    const claims = [exact, loose].filter((claim) => claim !== undefined);
    const limit = dropped ? Infinity : (exact?.rank ?? Infinity);
    if (first < limit) claims.push(...folded.findAll(form, method).filter(({ rank }) => rank < limit));
    return { opener: undefined, claims };
  }

  function conclude(claims: readonly Ranked[], method: string): RouteMatch | undefined {
    const [claim, ...others] = claims;
    if (!claim) return undefined;
    // Neither HEAD nor OPTIONS reaches a handler, so nothing can be had too cheaply: the first claim will do.
    const sells = method !== "HEAD" && method !== "OPTIONS";
    if (sells && others.some((other) => asks[other.rank] !== asks[claim.rank])) return { kind: "undecodable" };
    return { kind: "priced", entry: others.reduce((a, b) => (b.rank < a.rank ? b : a), claim).entry };
  }

  /** A free key opens a path only where the raw path is its exact form and no reading of it comes first at a price. */
  function matchReadings(readings: Readings, method: string, raw: Judgement): RouteMatch {
    const { opener } = raw;
    const spelled = readings.spelled.slice(1).map((reading) => judge(reading, method, opener, false));
    const others = readings.others.map(({ segments, dropped }) =>
      judge(segments, method, opener && free.find(segments, method), dropped),
    );
    const priced = conclude(
      [raw, ...spelled, ...others].flatMap(({ claims }) => claims),
      method,
    );
    if (priced) return priced;
    // In a strict table the other readings may lead to a path that nobody listed.
    const listed = !options.strict || others.every((judged) => judged.opener);
    return opener && listed ? { kind: "free", entry: opener.entry } : open;
  }

  function find(method: string, target: string): RouteMatch {
    const path = pathOf(target);
    if (path === undefined) return unreadable;
    const segments = segmentsOf(path);
    const raw = judge(segments, method, free.find(segments, method), false);
    if (isPlain(path)) return matchReadings(NO_MORE, method, raw);
    const readings = readingsOf(path);
    return readings ? matchReadings(readings, method, raw) : unreadable;
  }

  const known = new Map<string, RouteMatch>();
  return {
    match(method, target) {
      if (target.length > MAX_KNOWN_LENGTH) return find(method, target);
      const request = `${method} ${target}`;
      const before = known.get(request);
      if (before) return before;
      const found = find(method, target);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(request, found);
      return found;
    },
  };
}

/** The same few paths are most of the traffic. Bounded, because anybody may ask for any path. */
const MAX_KNOWN = 1000;
const MAX_KNOWN_LENGTH = 200;

const NO_MORE: Readings = { spelled: [], others: [] };

interface Judgement {
  readonly opener: Ranked | undefined;
  readonly claims: readonly Ranked[];
}

/** A GET key answers HEAD too; a preflight is priced for every method, and free only where every method is. */
function methodsOf(entry: RouteEntry): readonly string[] | undefined {
  if (entry.method === undefined) return undefined;
  const methods = entry.method === "GET" ? ["GET", "HEAD"] : [entry.method];
  return entry.price === "free" ? methods : [...methods, "OPTIONS"];
}

/** What an entry asks for, as text: equal for two entries that sell on the same terms. */
function askOf({ price, terms }: RouteEntry, rank: number): string {
  if (typeof price === "function") return `function of entry ${rank}`;
  const { networks, payTo, flow, confirmations } = terms;
  return JSON.stringify([price, networks.map(({ id }) => id), payTo, flow, confirmations]);
}

function foldParts(parts: readonly Part[]): readonly Part[] {
  return parts
    .filter((part) => part.kind !== "literal" || part.text !== "")
    .map((part) =>
      part.kind === "literal" ? { kind: "literal", text: foldCase(decodeURIComponent(part.text)) } : part,
    );
}

/**
 * The form in which two priced patterns are the same route: letter case, escapes, parameter names and a slash at the end
 * do not count.
 */
export function routeShape(pattern: string): string {
  const parts = foldParts(partsOf(pattern));
  return `/${parts.map((part) => (part.kind === "literal" ? part.text : part.kind === "param" ? ":" : "*")).join("/")}`;
}
