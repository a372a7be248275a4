// The two steps of a change that is signed: what the wallet is to sign, and the signature, for which the change is carried out.
import { Hono } from "hono";
import type { Fault, Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { type Change, readChange } from "./changes.js";
import { renderSecret } from "./pages/keys.js";
import { type Place, siteOf } from "./place.js";
import { answerPage, answerProblem, sessionOf } from "./reply.js";
import type { DashboardContext, DashboardEnv } from "./session.js";
import { answerChallenge, readSigned, readWallet, wordsOf } from "./signed-form.js";
import { askForSignature, refusalOfSignature, type Signing } from "./statement.js";

interface Asked {
  readonly change: Change;
  readonly signing: Signing;
}

export function changeRoutes(parts: GatewayParts, place: Place): Hono<DashboardEnv> {
  const app = new Hono<DashboardEnv>();
  /** The change and who is to sign it; refused where that wallet may not. */
  async function read(c: DashboardContext): Promise<Outcome<Asked>> {
    const form = await c.req.parseBody({ all: true });
    const session = sessionOf(c);
    const wallet = readWallet(form);
    if (!wallet.ok) return wallet;
    const change = await readChange(parts, session, form);
    if (!change.ok) return change;
    const { statement, refusalOf } = change.value;
    const refused = await refusalOf(wallet.value.address);
    if (refused) return refused;
    const url = `${siteOf(place, c.req.header("host"))}${place.base}`;
    const signing = { url, wallet: wallet.value, statement, binding: `session ${session.hash}` };
    return { ok: true, value: { change: change.value, signing } };
  }
  const refuse = (c: DashboardContext, why: Fault) =>
    answerProblem(c, place, why.code === "FORBIDDEN" ? 403 : why.code === "NOT_FOUND" ? 404 : 400, wordsOf(why));

  app.post("/challenge", async (c) => {
    const asked = await read(c);
    if (!asked.ok) return answerChallenge(c, asked);
    return answerChallenge(c, { ok: true, value: await askForSignature(parts, asked.value.signing) });
  });
  app.post("/", async (c) => {
    const asked = await read(c);
    if (!asked.ok) return refuse(c, asked);
    const { change, signing } = asked.value;
    // Invariant: nothing is done but for a signature of exactly this, of this session.
    const unsigned = await refusalOfSignature(parts, signing, readSigned(await c.req.parseBody()));
    if (unsigned) return refuse(c, unsigned);
    const done = await change.run(signing.wallet.address);
    if (!done.ok) return refuse(c, done);
    const facts = { account: sessionOf(c).account.id, signer: signing.wallet.address, change: signing.statement };
    parts.logger.info({ requestId: c.get("requestId"), ...facts }, "a change was signed");
    if ("page" in done.value) return c.redirect(`${place.base}${done.value.page}`, 303);
    const { key, secret, oldKey } = done.value;
    return answerPage(c, place, { title: "New key", at: "/keys" }, renderSecret(place, key, secret, oldKey));
  });
  return app;
}
