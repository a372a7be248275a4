// The keys of a pricing table: `METHOD /path` or `/path`. What is not understood is a problem, never a route that
// matches nothing (F36).
import { nearest } from "./suggestion.js";

/** One segment of a pattern. */
export type Part = { readonly kind: "literal"; readonly text: string } | { readonly kind: "param" | "rest" };

export type RouteKey =
  | { readonly ok: true; readonly method?: string; readonly pattern: string }
  | { readonly ok: false; readonly problem: string };

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"];
const KEY = /^(?:(\S+) +)?(\/\S*)$/;
const PARAM = /^:[A-Za-z_][A-Za-z0-9_]*$/;
const LITERAL = /^(?:[\w.~&'=,@$-]|%[0-9a-fA-F]{2}|[\u00a1-\u{10ffff}])+$/u;
const FORM = 'write "GET /path" or "/path", with ":name" for one segment and "*" as the last one';

/**
 * Reads a table key. HEAD follows GET, and OPTIONS is answered by the paywall, so neither has keys of its own; methods
 * that are not listed here are covered by a key without a method.
 *
 * @example parseRouteKey("GET /files/:id") // { ok: true, method: "GET", pattern: "/files/:id" }
 */
export function parseRouteKey(key: string): RouteKey {
  const [, method, pattern] = KEY.exec(key) ?? [];
  if (pattern === undefined) return refuse(`${JSON.stringify(key)} is no route: ${FORM}`);
  if (method !== undefined && !METHODS.includes(method)) return refuse(methodProblem(method));
  const problem = patternProblem(pattern);
  if (problem !== undefined) return refuse(`${JSON.stringify(key)}: ${problem}; ${FORM}`);
  return method === undefined ? { ok: true, pattern } : { ok: true, method, pattern };
}

/** The segments of a pattern as written; a slash at its end is an empty literal. */
export function partsOf(pattern: string): readonly Part[] {
  if (pattern === "/") return [];
  return pattern
    .slice(1)
    .split("/")
    .map((text) => (text === "*" ? { kind: "rest" } : text[0] === ":" ? { kind: "param" } : { kind: "literal", text }));
}

/**
 * A path that the pattern matches, for looking up whether an app answers it.
 *
 * @example samplePath("/files/:id/*") // "/files/1/1"
 */
export function samplePath(pattern: string): string {
  return pattern.replace(/\/(?::[^/]+|\*)/g, "/1");
}

function methodProblem(method: string): string {
  if (method === "HEAD") return "HEAD has no key of its own: a GET key covers it";
  if (method === "OPTIONS") return "OPTIONS has no key of its own: the paywall answers it for every priced path";
  const meant = nearest(method, METHODS, 2);
  const remedy = METHODS.includes(method.toUpperCase())
    ? `write it as ${method.toUpperCase()}`
    : `${meant === undefined ? "" : `did you mean ${meant}? Else `}leave the method out, and the key covers every method`;
  return `${JSON.stringify(method)} is not one of ${METHODS.join(", ")}: ${remedy}`;
}

function patternProblem(pattern: string): string | undefined {
  const segments = pattern.slice(1).split("/");
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    const problem = segment === "" && last ? undefined : segmentProblem(segment, last);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function segmentProblem(segment: string, last: boolean): string | undefined {
  if (segment === "") return "it has an empty segment";
  if (segment === "*") return last ? undefined : '"*" stands before other segments';
  if (segment === "." || segment === "..") return "it has a dot segment";
  if (segment.startsWith(":") && PARAM.test(segment)) return undefined;
  if (!LITERAL.test(segment)) return `${JSON.stringify(segment)} is not a plain segment`;
  return /%(?:2f|5c|2e|3b|[01][0-9a-f]|7f)/i.test(segment) || !isDecodable(segment)
    ? `${JSON.stringify(segment)} has an escape that cannot be matched`
    : undefined;
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    // A URIError is the answer.
    return false;
  }
}

const refuse = (problem: string): RouteKey => ({ ok: false, problem });
