// How one signs in: by a link, or by a wallet that signs for the account. Attempts are counted by the address that they come from.
import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { fault, type Outcome } from "../errors.js";
import { clientAddress } from "../http/client-address.js";
import type { FloodGate } from "../http/flood.js";
import type { GatewayParts } from "../parts.js";
import { useLink } from "./link.js";
import { renderLogin } from "./pages/login.js";
import { type Place, siteOf } from "./place.js";
import { answerPage } from "./reply.js";
import {
  beginSession,
  cookieOptions,
  type DashboardContext,
  type DashboardEnv,
  hashOf,
  isToken,
  newToken,
} from "./session.js";
import { answerChallenge, readSigned, readWallet, textOf } from "./signed-form.js";
import { askForSignature, GOOD_FOR_S, refusalOfSignature, type Signing, type Wallet } from "./statement.js";

const STATEMENT = "Sign in to the dashboard of this payment gateway. It costs nothing and moves no money.";
const cookieName = ({ isHttps }: Place): string => `${isHttps ? "__Host-" : ""}tollgate_signin`;

export function signInRoutes(parts: GatewayParts, place: Place, gate: FloodGate): Hono<DashboardEnv> {
  const { settings, database } = parts;
  const app = new Hono<DashboardEnv>();
  const shut = (c: DashboardContext): Outcome<string> => {
    if (place.isExposed) return EXPOSED;
    const address = clientAddress(c, settings.trustProxy);
    return gate.waitMs(address) > 0 ? TOO_MANY : { ok: true, value: address };
  };
  const refuse = (c: DashboardContext, { code, message: problem }: Exclude<Outcome<never>, { ok: true }>) => {
    const facts = { title: "Sign in", status: code === "RATE_LIMIT" ? 429 : 403 } as const;
    return answerPage(c, place, facts, renderLogin(place, { problem, isBrought: isBrought(c) }));
  };
  const enter = async (c: DashboardContext, account: string, by?: string) =>
    (await beginSession(c, place, database.sessions, { account, ...(by !== undefined && { by }) }))
      ? c.redirect(place.base, 303)
      : refuse(c, NO_ACCOUNT);
  /** What the wallet signs is for the browser that has this cookie. */
  const signingOf = (c: DashboardContext, wallet: Wallet, token: string): Signing => {
    const url = `${siteOf(place, c.req.header("host"))}${place.base}`;
    return { url, wallet, statement: STATEMENT, binding: `sign in ${hashOf(token)}` };
  };

  app.get("/", (c) => answerPage(c, place, { title: "Sign in" }, renderLogin(place, { isBrought: isBrought(c) })));
  app.post("/", async (c) => {
    const open = shut(c);
    if (!open.ok) return refuse(c, open);
    // A whole link may be pasted.
    const given =
      textOf((await c.req.parseBody()).token)
        .trim()
        .split("#")
        .at(-1) ?? "";
    const account = await useLink(database, given, place.url);
    if (account !== undefined && (await database.accounts.get(account))) return enter(c, account);
    gate.failed(open.value);
    return refuse(c, NO_LINK);
  });
  app.post("/challenge", async (c) => {
    const open = shut(c);
    if (!open.ok) return answerChallenge(c, open);
    const wallet = readWallet(await c.req.parseBody());
    // Counted although nothing has failed: each is a row of the database.
    gate.failed(open.value);
    if (!wallet.ok) return answerChallenge(c, wallet);
    const token = newToken();
    const asked = await askForSignature(parts, signingOf(c, wallet.value, token));
    setCookie(c, cookieName(place), token, { ...cookieOptions(place), maxAge: GOOD_FOR_S });
    return answerChallenge(c, { ok: true, value: asked });
  });
  app.post("/wallet", async (c) => {
    const open = shut(c);
    if (!open.ok) return refuse(c, open);
    const form = await c.req.parseBody();
    const wallet = readWallet(form);
    const token = getCookie(c, cookieName(place)) ?? "";
    deleteCookie(c, cookieName(place), cookieOptions(place));
    const refused = !wallet.ok
      ? wallet
      : isToken(token)
        ? await refusalOfSignature(parts, signingOf(c, wallet.value, token), readSigned(form))
        : OTHER_BROWSER;
    const by = refused || !wallet.ok ? undefined : wallet.value.address;
    const account = by && (await database.signers.accountOf(by));
    if (account !== undefined) return enter(c, account, by);
    gate.failed(open.value);
    return refuse(c, refused ?? NO_ACCOUNT);
  });
  return app;
}

/** By a page of another site, perhaps with a link of its own: that would sign in to a stranger's account. */
const isBrought = (c: DashboardContext): boolean =>
  !["none", "same-origin"].includes(c.req.header("sec-fetch-site") ?? "none");

const EXPOSED = fault("FORBIDDEN", "Nobody can sign in over plain http across a network.");
const TOO_MANY = fault("RATE_LIMIT", "Too many attempts from this address: wait a minute.");
const NO_LINK = fault(
  "FORBIDDEN",
  "This link is used, over, or not of this gateway: make a new one with tollgate gateway login.",
);
const OTHER_BROWSER = fault("FORBIDDEN", "This browser has asked for no signature in the last five minutes.");
const NO_ACCOUNT = fault(
  "FORBIDDEN",
  "This wallet signs for no account here. Sign in by a link, and add the wallet under Account.",
);
