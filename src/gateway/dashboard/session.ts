// A session as the browser holds it: 32 random bytes in a cookie that no script reads and no other site sends, and the token that
// every form of that session repeats.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";
import type { OpenSession, Sessions } from "../database/sessions.js";
import type { GatewayEnv } from "../http/context.js";
import type { Place } from "./place.js";

export interface Session extends OpenSession {
  readonly hash: string;
  /** What its forms repeat: made of the cookie's value, which a foreign page cannot read. */
  readonly formToken: string;
}

export interface DashboardEnv {
  Bindings: GatewayEnv["Bindings"];
  Variables: GatewayEnv["Variables"] & { session?: Session };
}
export type DashboardContext = Context<DashboardEnv>;

/** 32 random bytes, of which the gateway keeps the SHA-256 only. */
export const newToken = (): string => randomBytes(32).toString("base64url");
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);
/** With the prefix a browser takes it from https and from this host alone. */
const nameOf = ({ isHttps }: Place): string => `${isHttps ? "__Host-" : ""}tollgate_session`;
/** Of every cookie here. */
export const cookieOptions = ({ isHttps }: Place) =>
  ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isHttps }) as const;

/** `by`: the wallet that signed in. False = it signs for the account no more. The session that was there is over. */
export async function beginSession(
  c: DashboardContext,
  place: Place,
  sessions: Sessions,
  { account, by }: { readonly account: string; readonly by?: string },
): Promise<boolean> {
  const token = newToken();
  if (!(await sessions.begin(account, hashOf(token), by))) return false;
  // Its cookie is overwritten: whoever else has it is signed out.
  const before = c.get("session");
  if (before) await sessions.end(before.hash);
  setCookie(c, nameOf(place), token, cookieOptions(place));
  return true;
}

/** `isAsked` false: the page looks by itself, which keeps no session alive. */
export async function findSession(
  cookies: string | undefined,
  place: Place,
  sessions: Sessions,
  isAsked: boolean,
): Promise<Session | undefined> {
  const token = parse(cookies ?? "", nameOf(place))[nameOf(place)];
  if (token === undefined || !isToken(token)) return undefined;
  const hash = hashOf(token);
  const open = await (isAsked ? sessions.use(hash) : sessions.look(hash));
  return open && { ...open, hash, formToken: formTokenOf(token) };
}

export const forgetSession = (c: DashboardContext, place: Place): void =>
  void deleteCookie(c, nameOf(place), cookieOptions(place));

export function isFormOf({ formToken }: Session, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const [own, other] = [Buffer.from(formToken), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const formTokenOf = (token: string): string => createHmac("sha256", token).update("dashboard form").digest("base64url");
