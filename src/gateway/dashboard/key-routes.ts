// Pages and forms of API keys. A secret stands in the answer to the form that made it, and in no page that can be asked for again.
import { Hono } from "hono";
import type { ApiKey } from "../caller.js";
import type { GatewayParts } from "../parts.js";
import { findKey, makeKey, rotateKey } from "./key-actions.js";
import type { Html } from "./layout.js";
import { renderDelete, renderKeys, renderRotate, renderSecret } from "./pages/keys.js";
import type { Place } from "./place.js";
import { answerPage, answerProblem, sessionOf } from "./reply.js";
import type { DashboardContext, DashboardEnv, Session } from "./session.js";

export function keyRoutes(parts: GatewayParts, place: Place): Hono<DashboardEnv> {
  const { settings, database } = parts;
  const app = new Hono<DashboardEnv>();
  const show = (c: DashboardContext, title: string, content: Html, status: 200 | 400 = 200) =>
    answerPage(c, place, { title, at: "/keys", status }, content);
  const listed = async (c: DashboardContext, problem?: string) => {
    const session = sessionOf(c);
    const facts = { place, session, plans: settings.plans, keys: await database.keys.list(session.account.id) };
    const content = renderKeys({ ...facts, ...(problem !== undefined && { problem }) });
    return show(c, "API keys", content, problem === undefined ? 200 : 400);
  };
  /** With a key of the account that the path names. */
  const withKey = (answer: (c: DashboardContext, session: Session, key: ApiKey) => Promise<Response>) => {
    return async (c: DashboardContext) => {
      const session = sessionOf(c);
      const key = await findKey(parts, session.account.id, c.req.param("id") ?? "");
      return key ? answer(c, session, key) : answerProblem(c, place, 404, "This account has no such key.");
    };
  };
  app.get("/", (c) => listed(c));
  app.post("/", async (c) => {
    const form = await c.req.parseBody({ all: true });
    const made = await makeKey(parts, sessionOf(c).account.id, form);
    if (!made.ok) return listed(c, made.details?.[0]?.message ?? made.message);
    return show(c, "New key", renderSecret(place, made.value.key, made.value.secret));
  });
  app.get(
    "/:id/rotate",
    withKey((c, session, key) => show(c, "Rotate a key", renderRotate(place, session, key))),
  );
  app.post(
    "/:id/rotate",
    withKey(async (c, _session, old) => {
      const made = await rotateKey(parts, old);
      if (!made.ok) return listed(c, made.message);
      return show(c, "New key", renderSecret(place, made.value.key, made.value.secret, old));
    }),
  );
  app.get(
    "/:id/delete",
    withKey((c, session, key) => show(c, "Delete a key", renderDelete(place, session, key))),
  );
  app.post(
    "/:id/delete",
    withKey(async (c, session, { id }) => {
      await database.keys.revoke(session.account.id, id);
      return c.redirect(`${place.base}/keys`, 303);
    }),
  );
  return app;
}
