// The configured paywall: reads the options once, wires the steps together, and gives one guard for each price or table.
// Adapters turn guards into their framework's middleware with `definePaywall`.
import { createClaims } from "./claims.js";
import { systemClock } from "./clock.js";
import { createCommits } from "./commits.js";
import type { Context } from "./context.js";
import { PaywallConfigError } from "./errors.js";
import { createEvents, type Events } from "./events.js";
import { createGuard, type Guard, type PricedRoute, type Routed } from "./guard.js";
import { createHeldBytes } from "./held.js";
import { createLookups } from "./lookups.js";
import {
  type PaywallOptions,
  type PriceSource,
  type RouteOptions,
  type RouteTable,
  resolveOptions,
  resolvePriceArgument,
  resolveTable,
  resolveTerms,
  type TableOptions,
} from "./options.js";
import type { PaymentQuery, Payments } from "./payment-list.js";
import type { Price, PriceFunction } from "./price.js";
import { createPricing } from "./pricing.js";
import { createReadiness } from "./readiness.js";
import type { Receiver } from "./receive/receiver.js";
import { compileRoutes, samplePath } from "./routes.js";
import type { RouteEntry, Settings, Terms } from "./settings.js";
import { atOnceOf } from "./store/memory.js";
import { createVerifier } from "./verification.js";

/** What a middleware offers beside being a middleware. */
export interface PaywallHandle {
  /** Resolves when the start-up checks are done; rejects with a PaywallConfigError that names both values of a mismatch. */
  ready(): Promise<void>;
  /** Stops background work. Requests that come later are still refused or sold, never given away. */
  close(): Promise<void>;
  readonly on: Events["on"];
  /**
   * Lists the payments that the store still remembers, the last that was claimed first: those of every paywall on this store.
   * One that is decided is forgotten minutes after its proof has died, or a day after it was settled where nobody took the goods.
   *
   * @example for await (const { payer, amount } of pay.payments({ since: Date.now() - 3_600_000 })) add(payer, amount);
   */
  payments(query?: PaymentQuery): Payments;
}

/** A line of a pricing table, for an audit. */
export interface AuditEntry {
  readonly key: string;
  readonly method: string | undefined;
  readonly pattern: string;
  readonly price: string;
}

/** One set of shared settings and everything that stands behind it. */
export interface PaywallCore extends PaywallHandle {
  priceGuard(price: Price | PriceFunction, options?: RouteOptions): Guard;
  tableGuard(table: RouteTable): Guard;
  /** The guard of the price or table that stands in the options or in the environment. */
  defaultGuard(): Guard;
  auditEntries(): readonly AuditEntry[];
  samplePath(pattern: string): string;
  readonly logger: Settings["logger"];
}

const environment = (): Record<string, string | undefined> => globalThis.process?.env ?? {};

/** Reads options and environment; throws one PaywallConfigError with every problem. */
export function createPaywallCore(options: unknown, price: PriceSource, env = environment()): PaywallCore {
  const settings = resolveOptions(options, env, price);
  const context = wire(settings);
  const stopObserving = settings.receiver.observe?.((notice) => context.events.emit("low_gas", notice));
  const entries: RouteEntry[] = [];
  let covered = false;
  for (const notice of settings.notices) settings.logger.info(notice);

  const priced = (price: Price | PriceFunction, terms: Terms, line?: RouteEntry): PricedRoute => {
    const pricing = createPricing(price, terms, settings.receiver);
    if (pricing.known.length > 0) {
      covered = true;
      context.readiness.cover(pricing.known);
    }
    return { pricing, terms, line };
  };
  const single = (price: Price | PriceFunction, terms: Terms): Guard => {
    const routed: Routed = { kind: "priced", route: priced(price, terms) };
    return createGuard(context, () => routed);
  };
  const table = (lines: readonly RouteEntry[]): Guard => {
    entries.push(...lines);
    const routes = compileRoutes(lines, { strict: settings.strict });
    const routed = new Map<RouteEntry, Routed>(
      lines.map((line) => [line, { kind: "priced", route: priced(line.price, line.terms, line) }]),
    );
    const routedBy = (method: string, target: string) => toRouted(routes.match(method, target), routed);
    return createGuard(context, ({ method, target, dispatched }) => {
      const asSent = routedBy(method, target);
      return dispatched === undefined ? asSent : bothWays(asSent, routedBy(method, dispatched));
    });
  };

  return {
    priceGuard(price, routeOptions) {
      const terms = resolveTerms(settings, routeOptions ?? {}, "options");
      resolvePriceArgument(price, terms, "price", settings.receiver, routeOptions);
      return single(price, terms);
    },
    tableGuard: (lines) => table(resolveTable(settings, lines, "routes")),
    defaultGuard() {
      if (settings.routes) return table(settings.routes);
      const { price, terms, receiver } = settings;
      return single(resolvePriceArgument(price, terms, "price", receiver), terms);
    },
    ready() {
      // Nothing is priced yet, or only by functions: the networks' own stablecoins stand for what will be asked.
      const usual = createPricing("$1", settings.terms, settings.receiver).known;
      if (!covered && usual.length > 0) context.readiness.cover(usual);
      return context.readiness.ready();
    },
    async close() {
      context.lookups.close();
      context.readiness.close();
      stopObserving?.();
      await settings.receiver.close();
    },
    on: context.events.on,
    async *payments(query) {
      const { listPayments } = await import("./payment-list.js");
      yield* listPayments(context.claims.list, query);
    },
    auditEntries: () =>
      entries.map(({ key, method, pattern, price }) => ({ key, method, pattern, price: show(price) })),
    samplePath,
    logger: settings.logger,
  };
}

function wire(settings: Settings): Context {
  const { receiver, store, logger, limits } = settings;
  const events = createEvents(logger);
  if (store.shared) receiver.share?.(store);
  const claims = createClaims(store, limits, atOnceOf(store), receiver, { clock: systemClock, logger });
  const lookups = createLookups(claims, receiver, systemClock, events, logger);
  return {
    settings,
    receiver,
    claims,
    commits: createCommits(store, atOnceOf(store)),
    events,
    logger,
    clock: systemClock,
    held: createHeldBytes(),
    bodies: createHeldBytes(),
    verifier: createVerifier(receiver, systemClock),
    lookups,
    readiness: createReadiness({ ready: startUpChecks(settings, lookups.watch) }, systemClock, logger),
  };
}

/**
 * The store first: without one nothing can be sold, whatever the receiver says. Once it is there, what an earlier process has
 * left undecided in it is looked up.
 */
const startUpChecks = ({ receiver, store }: Settings, onStore: () => void): Receiver["ready"] => {
  return async (requirements, signal) => {
    await store.ready?.();
    onStore();
    return receiver.ready(requirements, signal);
  };
};

/** A rewritten request is what it is dispatched as; but where the two ask differently, which one is meant is unknown. */
function bothWays(asSent: Routed, asDispatched: Routed): Routed {
  if (isUnlisted(asSent)) return asDispatched;
  if (isUnlisted(asDispatched)) return asSent;
  return asSent === asDispatched ? asSent : { kind: "refused", code: "request_malformed" };
}

const isUnlisted = (routed: Routed): boolean =>
  routed.kind === "open" || (routed.kind === "refused" && routed.code === "route_not_listed");

type Match = ReturnType<ReturnType<typeof compileRoutes>["match"]>;

function toRouted(match: Match, routed: ReadonlyMap<RouteEntry, Routed>): Routed {
  switch (match.kind) {
    case "open":
    case "free":
      return { kind: "open" };
    case "unlisted":
      return { kind: "refused", code: "route_not_listed" };
    case "undecodable":
      return { kind: "refused", code: "request_malformed" };
    case "priced":
      return routed.get(match.entry) ?? { kind: "refused", code: "internal_error" };
  }
}

/** A price as an audit shows it. */
const show = (price: Price | PriceFunction): string =>
  typeof price === "function" ? "dynamic" : typeof price === "string" ? price : JSON.stringify(price);

/** What one framework brings: how a guard becomes its middleware, and how its routes are found. */
export interface Binding<Middleware, App, Report> {
  toMiddleware(guard: Guard, mark: { readonly core: PaywallCore; readonly price: string | undefined }): Middleware;
  audit(core: PaywallCore, app: App): Report;
}

export interface Audited<App, Report> {
  /**
   * Logs every route of the app with its price or UNPRICED, and gives the same as a report.
   *
   * @throws PaywallConfigError naming each table key that no route answers, and each priced route before the paywall.
   */
  audit(app: App): Report;
}

/** What every framework's audit finds. */
interface Found {
  readonly lines: readonly string[];
  readonly problems: readonly string[];
}

/** The public functions of one framework. */
export interface PaywallFunctions<Middleware, App, Report, Native> {
  paywall: PaywallFunction<Middleware & PaywallHandle & Audited<App, Report>, Native>;
  createPaywall(options?: PaywallOptions): Pay<Middleware, App, Report, Native>;
}

export interface PaywallFunction<Handled, Native> {
  /** Everything from the environment. */
  (): Handled;
  /** The price here; what the options leave out comes from the environment. */
  (price: Price | PriceFunction<Native>, options?: PaywallOptions): Handled;
  /** A pricing table for `app.use()`. */
  (options: TableOptions<Native>): Handled;
}

/** Shared settings, once: `pay(price)` beside a handler, `pay.routes(table)` in front of an app. */
export interface Pay<Middleware, App, Report, Native> extends PaywallHandle, Audited<App, Report> {
  (price: Price | PriceFunction<Native>, options?: RouteOptions): Middleware;
  routes(table: RouteTable<Native>): Middleware;
}

/** Makes `paywall` and `createPaywall` for one framework. */
export function definePaywall<Middleware extends object, App, Report extends Found, Native>(
  binding: Binding<Middleware, App, Report>,
): PaywallFunctions<Middleware, App, Report, Native> {
  const handleOf = (core: PaywallCore): PaywallHandle & Audited<App, Report> => ({
    ready: core.ready,
    close: core.close,
    on: core.on,
    payments: core.payments,
    audit: (app) => audited(core, binding.audit(core, app)),
  });
  type Any = Price | PriceFunction<Native>;
  return {
    paywall(...args: readonly [first?: Any | TableOptions<Native>, options?: PaywallOptions | undefined]) {
      const [first, options] = args;
      if (args.length > 0 && isPriceArgument(first)) {
        const price = first as Price | PriceFunction;
        const core = createPaywallCore(options ?? {}, { from: "argument", price });
        return Object.assign(binding.toMiddleware(core.defaultGuard(), { core, price: show(price) }), handleOf(core));
      }
      const core = createPaywallCore(first ?? {}, args.length > 0 ? { from: "later" } : { from: "environment" });
      return Object.assign(binding.toMiddleware(core.defaultGuard(), { core, price: undefined }), handleOf(core));
    },
    createPaywall(options = {}) {
      const core = createPaywallCore(options, { from: "later" });
      const pay = (price: Any, routeOptions?: RouteOptions) =>
        binding.toMiddleware(core.priceGuard(price as Price | PriceFunction, routeOptions), {
          core,
          price: show(price as Price | PriceFunction),
        });
      const routes = (table: RouteTable<Native>) =>
        binding.toMiddleware(core.tableGuard(table), { core, price: undefined });
      return Object.assign(pay, handleOf(core), { routes });
    },
  };
}

function audited<Report extends Found>(core: PaywallCore, report: Report): Report {
  for (const line of report.lines) core.logger.info(line);
  const problems = report.problems.map((message) => ({ path: "routes", code: "contradiction" as const, message }));
  if (problems.length > 0) throw new PaywallConfigError(problems);
  return report;
}

/** Options never have an `amount`, and a missing price is a problem to report, not a table. */
function isPriceArgument(first: unknown): boolean {
  if (typeof first !== "object" || first === null) return true;
  return Array.isArray(first) || "amount" in first;
}
