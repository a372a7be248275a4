// Finds the routes of a Hono app. Its own router is left alone: one look-up would close it to further routes.

import type { Hono } from "hono";
import { inspectRoutes } from "hono/dev";
import { TrieRouter } from "hono/router/trie-router";
import type { PaywallCore } from "../src/paywall.js";
import { type AuditedRoute, type AuditReport, coreOf, report } from "./audit.js";

/** Any Hono app: its types are those of its handlers, of which an audit reads nothing. */
export type AnyHono = Pick<Hono, "routes">;

/**
 * Reports each route of `app` with its price, and every table key that no route answers. Middleware (a function that
 * takes `next`: static files and apps mounted with `app.mount` too) is not counted as an answer.
 */
export function auditHono(core: Pick<PaywallCore, "auditEntries" | "samplePath">, app: AnyHono): AuditReport {
  const kinds = inspectRoutes(app as Hono);
  const guards: string[] = [];
  const routes: AuditedRoute[] = [];
  for (const [at, { method, path, handler }] of app.routes.entries()) {
    if (coreOf(handler) === core) guards.push(path);
    if (kinds[at]?.isMiddleware !== false) continue;
    const before = app.routes.slice(0, at).filter((other) => other.path === path && other.method === method);
    const known = [...guards];
    routes.push({
      method: method === "ALL" ? undefined : method,
      path,
      handlers: before.map((other) => other.handler),
      answers: (sample) => matches(path, sample),
      behind: (sample) => known.some((guard) => matches(guard, sample)),
    });
  }
  return report(core, routes, guards.length > 0);
}

function matches(pattern: string, path: string): boolean {
  const router = new TrieRouter<true>();
  router.add("GET", pattern, true);
  return router.match("GET", path)[0].length > 0;
}
