// Pages and forms of hosted wallets. A limit that is lowered holds at once; one that is raised is signed for.
import { Hono } from "hono";
import type { GatewayParts } from "../parts.js";
import { readChange } from "./changes.js";
import { limitCommand } from "./commands.js";
import { readLimitForm } from "./limit-actions.js";
import { renderConfirm } from "./pages/sign.js";
import { renderWallets } from "./pages/wallets.js";
import type { Place } from "./place.js";
import { answerPage, sessionOf } from "./reply.js";
import type { DashboardContext, DashboardEnv } from "./session.js";
import { fieldsOf, wordsOf } from "./signed-form.js";

export function walletRoutes(parts: GatewayParts, place: Place): Hono<DashboardEnv> {
  const { database } = parts;
  const app = new Hono<DashboardEnv>();
  const listed = async (c: DashboardContext, problem?: string) => {
    const status = problem === undefined ? 200 : 400;
    const content = await renderWallets(parts, place, sessionOf(c), problem);
    return answerPage(c, place, { title: "Wallets", at: "/wallets", status }, content);
  };
  app.get("/", (c) => listed(c));
  app.post("/limit", async (c) => {
    const session = sessionOf(c);
    const form = { ...(await c.req.parseBody()), change: "limit" };
    const read = await readLimitForm(parts, session.account.id, form);
    if (!read.ok) return listed(c, wordsOf(read));
    const { wallet, limit } = read.value;
    const set = await database.wallets.setLimit(session.account.id, wallet.id, limit, false);
    if (set === "set") return c.redirect(`${place.base}/wallets`, 303);
    const change = await readChange(parts, session, form);
    if (!change.ok) return listed(c, wordsOf(change));
    const { statement } = change.value;
    const [signers, command] = [
      await database.signers.list(session.account.id),
      limitCommand(parts.networks, wallet, limit),
    ];
    const facts = { place, session, statement, fields: fieldsOf(form), signers, command, back: "/wallets" };
    return answerPage(c, place, { title: "A higher limit", at: "/wallets" }, renderConfirm(facts));
  });
  return app;
}
