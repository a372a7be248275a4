// The gateway over HTTP: one Hono app. The steps of a request, in this order: its id and log line, the route, the limit on
// strangers, the key, what the key permits, how often, the body, idempotency, the engine.
import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono, MiddlewareHandler } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { Redis } from "ioredis";
import { createDashboard } from "../dashboard/dashboard.js";
import type { Engine } from "../engine.js";
import { fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { reasonOf } from "../reason.js";
import { accessLog } from "./access-log.js";
import { admit } from "./admit.js";
import { answerFault } from "./answer.js";
import { authenticate, digestOf } from "./auth.js";
import { acceptBody } from "./body.js";
import { isBrokenOff } from "./broken-off.js";
import type { GatewayContext, GatewayEnv, Step } from "./context.js";
import { PROTECTED } from "./endpoints.js";
import { createFloodGate, type FloodGate, limitStrangers } from "./flood.js";
import { createLimits, type Limits } from "./limits.js";
import { createMetrics, type Metrics } from "./metrics.js";
import { describeApi } from "./openapi.js";
import { guardMetrics, publicRoutes } from "./public.js";
import { createReadiness } from "./readiness.js";
import { createReceives } from "./receives.js";
import { requestId } from "./request-id.js";
import { runEndpoint } from "./run.js";
import { createWork, type Work } from "./work.js";

export interface AppOptions {
  /** Shares limits between instances. */
  readonly redis?: Redis | undefined;
  /** The operator's API, mounted under /admin. */
  readonly admin?: Hono<GatewayEnv>;
  /** What a shutdown waits for. */
  readonly work?: Work;
  readonly metrics?: Metrics;
  readonly isClosing?: () => boolean;
  /** What strangers may try, and how often accounts may ask: shared with the event sockets. */
  readonly gate?: FloodGate;
  readonly limits?: Limits;
}

export type GatewayApp = OpenAPIHono<GatewayEnv>;

/** @example const app = createApp(parts, engine); await app.request("/healthz") */
export function createApp(parts: GatewayParts, engine: Engine, options: AppOptions = {}): GatewayApp {
  const { settings, database, logger, now } = parts;
  const { redis, admin, work = createWork(), metrics = createMetrics(), isClosing = () => false } = options;
  const app: GatewayApp = new OpenAPIHono<GatewayEnv>();
  const { gate = createFloodGate(now), limits = createLimits({ redis, logger, now }) } = options;
  const strangers = limitStrangers(gate, settings.trustProxy, digestOf);
  const identify = authenticate({ keys: database.keys, gate, logger, now });
  // Where others may be serving the same accounts, the database knows what they do.
  const countElsewhere = redis && ((account: string) => database.payments.countRunning(account));
  const receives = createReceives(countElsewhere);
  const readiness = createReadiness({ ...parts, redis });

  app.use(requestId, accessLog(logger, metrics), secured, denyBrowsers);
  app.notFound((c) => answerFault(c, fault("NOT_FOUND", "there is no such path: GET /docs shows all of them")));
  app.onError((error, c) => {
    // Nobody is there to read it; what counts is that the figures and the log do not call it our fault.
    if (isBrokenOff(error, c)) return answerFault(c, fault("INVALID_REQUEST", "the body broke off"));
    const { name, stack } = error;
    const reason = reasonOf(error);
    // A stack repeats the message first, which may have several lines.
    const places = stack?.split("\n").filter((line) => /^ +at /.test(line));
    const at = places?.slice(0, 5).join("\n");
    logger.error({ requestId: c.get("requestId"), endpoint: c.get("endpoint"), name, reason, at }, "a request failed");
    return answerFault(c, fault("INTERNAL_ERROR", "an unexpected error; the requestId names it in the log"));
  });

  describeApi(app.openAPIRegistry);
  for (const endpoint of PROTECTED) {
    const steps: Step[] = [
      named(endpoint.name),
      strangers,
      identify,
      admit(endpoint.name, endpoint.scopes, settings, limits),
      ...(endpoint.method === "post" ? [acceptBody()] : []),
    ];
    const path = endpoint.path.replace(/\{(\w+)\}/g, ":$1");
    const { requests, payments } = database;
    const last = runEndpoint(endpoint, { engine, requests, payments, logger, metrics, receives, work });
    app.on([endpoint.method], [path], ...steps, last);
    app.all(path, named(endpoint.name), methodNotAllowed(endpoint.method));
  }
  const { metricsToken, publicUrl } = settings;
  const open = publicRoutes(app, { engine, readiness, metrics, metricsToken, publicUrl, isClosing });
  for (const [path, answer] of open) {
    const steps = path === "/metrics" ? [guardMetrics(metricsToken, strangers)] : [];
    app.on(["get"], [path], named(`GET ${path}`), ...steps, answer);
    app.all(path, named(`GET ${path}`), methodNotAllowed("get"));
  }
  if (settings.dashboard) {
    for (const path of ["/dashboard", "/dashboard/*"]) app.use(path, named("/dashboard"));
    app.route("/dashboard", createDashboard(parts, { gate, limits, redis }));
  }
  if (admin) {
    app.use("/admin/*", named("/admin"), strangers);
    app.route("/admin", admin);
  }
  return app;
}

/** What a browser may make of an answer: nothing. The page at /docs sets a policy of its own. */
const denyBrowsers: Step = async (c, next) => {
  c.header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  await next();
};

/** There are no CORS headers, because keys belong on servers. */
const secured: MiddlewareHandler<GatewayEnv> = secureHeaders({ xFrameOptions: "DENY", referrerPolicy: "no-referrer" });

const named =
  (endpoint: string): Step =>
  async (c, next) => {
    c.set("endpoint", endpoint);
    await next();
  };

const methodNotAllowed = (method: "get" | "post") => (c: GatewayContext) => {
  const allow = method === "get" ? "GET, HEAD" : "POST";
  return answerFault(c, fault("METHOD_NOT_ALLOWED", `expected ${allow}`), { Allow: allow });
};
