// What needs no key: health, readiness, figures, the API's description, and what the facilitator supports.
import { createHash, timingSafeEqual } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Engine } from "../engine.js";
import { fault } from "../errors.js";
import { answerFault } from "./answer.js";
import { normaliseAddress, socketAddress } from "./client-address.js";
import type { GatewayContext, GatewayEnv, Step } from "./context.js";
import { DOCS_POLICY, renderDocs } from "./docs.js";
import type { Metrics } from "./metrics.js";
import { documentOf, writeDocument } from "./openapi.js";
import type { Check, Readiness } from "./readiness.js";

export interface PublicParts {
  readonly engine: Pick<Engine, "supported">;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly metricsToken: string | undefined;
  readonly publicUrl: string | undefined;
  /** Has a shutdown begun? */
  readonly isClosing: () => boolean;
}

type Handler = (c: GatewayContext) => Response | Promise<Response>;

/** Path to handler, each for GET. */
export function publicRoutes(app: OpenAPIHono<GatewayEnv>, parts: PublicParts): ReadonlyMap<string, Handler> {
  const { engine, readiness, metrics, publicUrl, isClosing } = parts;
  let document: string | undefined;
  let page: Promise<string> | undefined;
  return new Map<string, Handler>([
    ["/healthz", (c) => c.json({ success: true, status: "ok" })],
    ["/readyz", async (c) => answerReadiness(c, isClosing() ? "shutting down" : await readiness.check())],
    ["/metrics", async (c) => c.body(await metrics.text(), 200, { "Content-Type": metrics.contentType })],
    ["/supported", (c) => c.json(engine.supported())],
    ["/events", (c) => answerFault(c, NO_SOCKET, { Upgrade: "websocket" })],
    [
      "/openapi.json",
      (c) => {
        document ??= writeDocument(app, publicUrl);
        return c.body(document, 200, { "Content-Type": "application/json" });
      },
    ],
    [
      "/docs",
      async (c) => {
        page ??= Promise.resolve(renderDocs(documentOf(app, publicUrl))).then(String);
        return c.html(await page, 200, { "Content-Security-Policy": DOCS_POLICY });
      },
    ],
  ]);
}

/** What an upgrade reaches stands in events/. */
const NO_SOCKET = fault("INVALID_REQUEST", "GET /events is a WebSocket: connect with wss:// or ws://", { status: 426 });

/** Without the database, or without any node, nothing can be served; without the rest some of it. */
function answerReadiness(c: GatewayContext, checks: readonly Check[] | "shutting down"): Response {
  if (checks === "shutting down") return answerFault(c, fault("UNAVAILABLE", "the service is shutting down"));
  const networks = checks.filter(({ name }) => name !== "database" && name !== "redis");
  const database = checks.find(({ name }) => name === "database")?.ok === true;
  if (!database || (networks.length > 0 && networks.every(({ ok }) => !ok))) {
    const details = checks.filter(({ ok }) => !ok).map(({ name }) => ({ path: name, message: "does not answer" }));
    return answerFault(c, fault("UNAVAILABLE", "the service is not ready", { details }));
  }
  const status = checks.every(({ ok }) => ok) ? "ready" : "degraded";
  return c.json({ success: true, status, checks });
}

/**
 * Lets a process of this machine read the figures, and whoever has the token. A proxy of this machine passes requests of others
 * on, so a forwarded one counts as theirs. `strangers`: the limit on everybody else, who must not use up what these may.
 */
export function guardMetrics(token: string | undefined, strangers: Step): Step {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const refusal = fault("UNAUTHORIZED", "the figures are for this machine, or for who has the metrics token");
  return async (c, next) => {
    const given = /^Bearer (.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
    const known = token !== undefined && given !== undefined && timingSafeEqual(digest(given), digest(token));
    if (known || isLocal(c)) return next();
    return strangers(c, async () => {
      c.res = answerFault(c, refusal);
    });
  };
}

/** A page whose name was bound to this machine reaches it through a browser, but cannot choose the Host that is sent. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i;

function isLocal(c: GatewayContext): boolean {
  const forwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some(
    (name) => c.req.header(name) !== undefined,
  );
  const socket = socketAddress(c);
  const address = socket === undefined ? undefined : normaliseAddress(socket);
  const isHere = address !== undefined && (address.startsWith("127.") || socket === "::1");
  return !forwarded && isHere && LOOPBACK_HOST.test(c.req.header("host") ?? "");
}
