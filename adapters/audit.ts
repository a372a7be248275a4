// What an audit reports, for every framework: each route with its price, and what is wrong between table and routes.
import type { PaywallCore } from "../src/paywall.js";

export interface AuditReport {
  /** One for each route of the app: method, path, and its price or UNPRICED. */
  readonly lines: readonly string[];
  /** Empty when every table key is answered by a route that stands behind the paywall. */
  readonly problems: readonly string[];
}

/** A route of the app as one framework sees it. */
export interface AuditedRoute {
  /** Upper case; undefined = every method. */
  readonly method: string | undefined;
  readonly path: string;
  /** Handlers in order, to find a paywall beside the handler. */
  readonly handlers: readonly unknown[];
  answers(path: string): boolean;
  /** A request for `path` meets a paywall of the audited core before it comes here. */
  behind(path: string): boolean;
}

type Auditable = Pick<PaywallCore, "auditEntries" | "samplePath">;

/** What an audit knows of a middleware: whose it is, and the price it asks for wherever it stands. */
export interface Mark {
  readonly core: object;
  readonly price: string | undefined;
}

const middlewares = new WeakMap<object, Mark>();

/** Remembers whose a middleware is, so that an audit can find it among an app's routes. */
export function markMiddleware<M extends object>(middleware: M, mark: Mark | undefined): M {
  if (mark) middlewares.set(middleware, mark);
  return middleware;
}

/** The core that a function of the app asks; undefined for everything that is no paywall. */
export function coreOf(handler: unknown): object | undefined {
  return typeof handler === "function" ? middlewares.get(handler)?.core : undefined;
}

/** Compares the table of `core` with the routes of an app. `seen`: its middleware was found somewhere in the app. */
export function report(core: Auditable, routes: readonly AuditedRoute[], seen: boolean): AuditReport {
  const prices = new Map<AuditedRoute, string>();
  const problems: string[] = [];
  for (const { key, method, pattern, price } of core.auditEntries()) {
    const sample = core.samplePath(pattern);
    const found = routes.filter((route) => methodsMeet(method, route.method) && route.answers(sample));
    if (found.length === 0)
      problems.push(
        `"${key}": no route of the app answers ${method ?? "any method"} ${sample} (middleware is not counted)`,
      );
    for (const route of found) {
      if (!prices.has(route)) prices.set(route, price);
      if (seen && !route.behind(sample) && price !== "free")
        problems.push(`"${key}": the route ${print(route)} stands before the paywall, so it is free`);
    }
  }
  const lines = routes.map((route) => `${print(route)}  ${ownPrice(route) ?? prices.get(route) ?? "UNPRICED"}`);
  return { lines, problems };
}

/** The price of a paywall that stands beside the handler. */
function ownPrice(route: AuditedRoute): string | undefined {
  for (const handler of route.handlers) {
    const mark = typeof handler === "function" ? middlewares.get(handler) : undefined;
    if (mark?.price !== undefined) return mark.price;
  }
  return undefined;
}

function print(route: AuditedRoute): string {
  return `${route.method ?? "ALL"} ${route.path}`;
}

function methodsMeet(key: string | undefined, route: string | undefined): boolean {
  return key === undefined || route === undefined || key === route;
}
