// Finds the routes of a Fastify app. Fastify lists them to nobody afterwards, so they are noted as they are made.
import type { FastifyInstance, RouteOptions } from "fastify";
import { PaywallConfigError } from "../src/errors.js";
import type { PaywallCore } from "../src/paywall.js";
import { type AuditedRoute, type AuditReport, report } from "./audit.js";
import { matchesPattern } from "./listed-audit.js";

const watched = new WeakMap<object, AuditedRoute[]>();

/** Notes each route that `app` gets from now on, in its plugins too, for an audit. Call it before the first route. */
export function watchRoutes(app: Pick<FastifyInstance, "addHook">): void {
  if (watched.has(app)) return;
  const routes: AuditedRoute[] = [];
  watched.set(app, routes);
  app.addHook("onRoute", (route) => {
    // HEAD follows GET, and the paywall answers OPTIONS.
    for (const method of [route.method].flat()) {
      if (method !== "HEAD" && method !== "OPTIONS") routes.push(toRoute(method, route));
    }
  });
}

/**
 * Reports each route of `app` with its price, and every table key that no route answers. A table's hook is taken to stand
 * before every route: Fastify does not tell for which ones the hooks of a plugin run.
 */
export function auditFastify(core: Pick<PaywallCore, "auditEntries" | "samplePath">, app: object): AuditReport {
  const routes = watched.get(app);
  if (!routes) {
    const message = "the routes of this app are not known: call watchRoutes(app) before the first route";
    throw new PaywallConfigError([{ path: "audit", code: "required", message }]);
  }
  return report(core, routes, false);
}

function toRoute(
  method: string,
  { url, onRequest, preParsing, preValidation, preHandler }: RouteOptions,
): AuditedRoute {
  return {
    method: method.toUpperCase(),
    path: url,
    handlers: [onRequest, preParsing, preValidation, preHandler].flat(),
    answers: (sample) => matchesPattern(url, sample),
    behind: () => true,
  };
}
