// Pages and forms of API keys. A secret stands in the answer to the form that made it, and in no page that can be asked for again.
import { Hono } from "hono";
import type { ApiKey } from "../caller.js";
import type { GatewayParts } from "../parts.js";
import type { CreateKeyRequest } from "../schemas/admin.js";
import { readChange } from "./changes.js";
import { createKeyCommand } from "./commands.js";
import { findKey, likeKey, makeKey, maySend, readKeyForm } from "./key-actions.js";
import type { Html } from "./layout.js";
import { renderDelete, renderKeys, renderRotate, renderSecret } from "./pages/keys.js";
import { renderConfirm } from "./pages/sign.js";
import type { Place } from "./place.js";
import { answerPage, answerProblem, sessionOf } from "./reply.js";
import type { DashboardContext, DashboardEnv, Session } from "./session.js";
import { type Form, fieldsOf, wordsOf } from "./signed-form.js";

export function keyRoutes(parts: GatewayParts, place: Place): Hono<DashboardEnv> {
  const { settings, database } = parts;
  const app = new Hono<DashboardEnv>();
  const show = (c: DashboardContext, title: string, content: Html, status: 200 | 400 = 200) =>
    answerPage(c, place, { title, at: "/keys", status }, content);
  const listed = async (c: DashboardContext, problem?: string) => {
    const session = sessionOf(c);
    const facts = { place, session, plans: settings.plans };
    const { id } = session.account;
    const [keys, wallets] = await Promise.all([database.keys.list(id), database.wallets.list(id)]);
    const content = renderKeys({ ...facts, keys, wallets, ...(problem !== undefined && { problem }) });
    return show(c, "API keys", content, problem === undefined ? 200 : 400);
  };
  /** What a wallet has to sign first. */
  const confirm = async (c: DashboardContext, form: Form, request: CreateKeyRequest) => {
    const session = sessionOf(c);
    const { id } = session.account;
    const change = await readChange(parts, session, form);
    if (!change.ok) return listed(c, wordsOf(change));
    const { statement } = change.value;
    const [signers, command] = [await database.signers.list(id), createKeyCommand(id, request)];
    const facts = { place, session, statement, fields: fieldsOf(form), signers, command, back: "/keys" };
    return show(c, "A key that may send", renderConfirm(facts));
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
    const { id } = sessionOf(c).account;
    const request = readKeyForm(form);
    if (!request.ok) return listed(c, wordsOf(request));
    if (maySend(request.value)) return confirm(c, { ...form, change: "key" }, request.value);
    const made = await makeKey(parts, id, request.value);
    if (!made.ok) return listed(c, wordsOf(made));
    return show(c, "New key", renderSecret(place, made.value.key, made.value.secret));
  });
  app.get(
    "/:id/rotate",
    withKey((c, session, key) =>
      maySend(key)
        ? confirm(c, { change: "rotate", key: key.id }, likeKey(key))
        : show(c, "Rotate a key", renderRotate(place, session, key)),
    ),
  );
  app.post(
    "/:id/rotate",
    withKey(async (c, session, old) => {
      const made = await makeKey(parts, session.account.id, likeKey(old));
      if (!made.ok) return listed(c, wordsOf(made));
      return show(c, "New key", renderSecret(place, made.value.key, made.value.secret, old.id));
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
