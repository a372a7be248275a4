// The dashboard over HTTP: pages for GET, forms for POST. The steps of a request, in this order: what a browser may make of the
// answer, whether it can be read, who is signed in, for a form whether it came from a page of ours and of this session, and how
// much the account asks for.
import { Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Redis } from "ioredis";
import { isBrokenOff } from "../http/broken-off.js";
import type { FloodGate } from "../http/flood.js";
import { createLimits, type Limits } from "../http/limits.js";
import type { GatewayParts } from "../parts.js";
import { reasonOf } from "../reason.js";
import { changeRoutes } from "./change-routes.js";
import { keyRoutes } from "./key-routes.js";
import { ASSETS, POLICY } from "./layout.js";
import { renderAccount } from "./pages/account.js";
import { renderOverview } from "./pages/overview.js";
import { renderPayment } from "./pages/payment.js";
import { readSearch, renderPayments } from "./pages/payments.js";
import { isOwnForm, isServedAt, type Place, placeOf } from "./place.js";
import { refuseUnreadable } from "./readable.js";
import { answerPage, answerProblem, sessionOf } from "./reply.js";
import { type DashboardContext, type DashboardEnv, findSession, forgetSession, isFormOf } from "./session.js";
import { signInRoutes } from "./sign-in.js";
import { textOf } from "./signed-form.js";
import { walletRoutes } from "./wallet-routes.js";

const MAX_FORM = 16 * 1024;
const PAGE = 50;
/** Pages and forms of an account in a minute: what each costs (a search, balances from the chain) is everybody's here. */
const MAX_A_MINUTE = 600;
/** What is reached without a session. */
const OPEN = ["/login", "/login/challenge", "/login/wallet"];

export interface DashboardShared {
  readonly gate: FloodGate;
  readonly limits: Pick<Limits, "used">;
  /** Shares what an account has asked for between instances. */
  readonly redis?: Redis | undefined;
}
type Step = MiddlewareHandler<DashboardEnv>;

/** @example app.route("/dashboard", createDashboard(parts, { gate, limits, redis })) */
export function createDashboard(parts: GatewayParts, { gate, limits, redis }: DashboardShared): Hono<DashboardEnv> {
  const { settings, database, networks, logger, now } = parts;
  const place = placeOf(settings);
  const app = new Hono<DashboardEnv>();
  const asked = createLimits({ redis, logger, now, window: { name: "dashboard", seconds: 60 } });
  app.onError((error, c) => {
    if (isBrokenOff(error, c)) return answerProblem(c, place, 400, "The form broke off.");
    logger.error({ requestId: c.get("requestId"), reason: reasonOf(error) }, "a page of the dashboard failed");
    return answerProblem(c, place, 500, "An unexpected error; the log has more of it.");
  });
  app.get("/assets/:name", async (c) => {
    const asset = ASSETS.get(c.req.param("name"));
    if (!asset) return answerProblem(c, place, 404, "There is no such file.");
    const headers = { "Content-Type": asset.type, "Cache-Control": "public, max-age=31536000, immutable" };
    return c.body(asset.text, 200, headers);
  });
  app.use(protect(place));
  app.use(bodyLimit({ maxSize: MAX_FORM, onError: (c) => answerProblem(c, place, 413, "The form is too large.") }));
  app.use(refuseUnreadable(place));
  app.use(async (c, next) => {
    // A script of the page looks by itself, and browsers say so.
    const isAsked = c.req.method !== "GET" || c.req.header("sec-fetch-dest") !== "empty";
    const session = await findSession(c.req.header("cookie"), place, database.sessions, isAsked);
    if (session) c.set("session", session);
    await next();
  });
  app.use(guardForms(place));

  app.route("/login", signInRoutes(parts, place, gate));
  // Invariant: nothing below is reached without a session.
  app.use(async (c, next) => (c.get("session") ? next() : c.redirect(`${place.base}/login`, 303)));

  app.get("/account", async (c) => {
    const content = renderAccount(place, sessionOf(c), await database.signers.list(sessionOf(c).account.id));
    return answerPage(c, place, { title: "Account", at: "/account" }, content);
  });
  const leave = (end: (c: DashboardContext) => Promise<void>) => async (c: DashboardContext) => {
    await end(c);
    forgetSession(c, place);
    return c.redirect(`${place.base}/login`, 303);
  };
  app.post(
    "/logout",
    leave((c) => database.sessions.end(sessionOf(c).hash)),
  );
  app.post(
    "/logout-everywhere",
    leave((c) => database.sessions.endAll(sessionOf(c).account.id)),
  );
  app.post(
    "/account/unsign",
    leave(async (c) => {
      const { id } = sessionOf(c).account;
      await database.signers.remove(id, textOf((await c.req.parseBody()).address));
      // It may have been lost, and somebody signed in with it.
      await database.sessions.endAll(id);
    }),
  );
  // Below the ways out: whoever has taken a cookie keeps its owner from none of them by asking for too much.
  app.use(async (c, next) => {
    const { ok, resetSeconds } = await asked.take(sessionOf(c).account.id, MAX_A_MINUTE);
    if (ok) return next();
    c.header("Retry-After", String(resetSeconds));
    return answerProblem(c, place, 429, "This account asks for too much at once: wait a minute.");
  });

  app.get("/", async (c) => {
    const { account } = sessionOf(c);
    const content = await renderOverview(parts, limits, place, account.id);
    return answerPage(c, place, { title: "Overview", at: "" }, content);
  });
  app.get("/payments", async (c) => {
    const query = c.req.query();
    const { before } = query;
    const page = { limit: PAGE, ...(before !== undefined && { before }) };
    const found = await database.browsing.list(sessionOf(c).account.id, readSearch(query), page);
    return answerPage(
      c,
      place,
      { title: "Payments", at: "/payments" },
      renderPayments({ place, networks, query, ...found }),
    );
  });
  app.get("/payments/:id", async (c) => {
    const payment = await database.browsing.payment(sessionOf(c).account.id, c.req.param("id"));
    if (!payment) return answerProblem(c, place, 404, "This account has no such payment.");
    return answerPage(c, place, { title: "Payment", at: "/payments" }, renderPayment(networks, payment));
  });
  app.route("/keys", keyRoutes(parts, place));
  app.route("/wallets", walletRoutes(parts, place));
  app.route("/changes", changeRoutes(parts, place));
  app.all("*", (c) => answerProblem(c, place, 404, "There is no such page."));
  return app;
}

const protect =
  (place: Place): Step =>
  async (c, next) => {
    c.header("Content-Security-Policy", POLICY);
    c.header("Cache-Control", "no-store");
    // A name that somebody has bound to this machine is no page of ours.
    if (!isServedAt(place, c.req.header("host"))) {
      return answerProblem(c, place, 421, "Without TOLLGATE_PUBLIC_URL the dashboard is for this machine only.");
    }
    return next();
  };

/** Whatever a form does is asked for by a page of ours and, but for signing in, of this very session. */
const guardForms =
  (place: Place): Step =>
  async (c, next) => {
    if (c.req.method === "GET" || c.req.method === "HEAD") return next();
    const header = (name: string) => c.req.header(name);
    if (!isOwnForm(place, { host: header("host"), origin: header("origin"), site: header("sec-fetch-site") })) {
      return answerProblem(c, place, 403, "This form was not sent from the dashboard.");
    }
    const session = c.get("session");
    const isOpen = OPEN.some((path) => c.req.path.endsWith(`/dashboard${path}`));
    if (isOpen || !session) return next();
    if (!isFormOf(session, (await c.req.parseBody()).form)) {
      return answerProblem(c, place, 403, "This form belongs to another session: open the page again.");
    }
    return next();
  };
