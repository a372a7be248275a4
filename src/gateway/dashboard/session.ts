// A session as the browser holds it: 32 random bytes in a cookie that no script reads and no other site sends, and the token that
// every form of that session repeats.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { Account } from "../database/database.js";
import type { Sessions } from "../database/sessions.js";
import type { GatewayEnv } from "../http/context.js";
import type { Place } from "./place.js";

export interface Session {
  readonly account: Account;
  readonly hash: string;
  /** What its forms repeat: made of the cookie's value, which a foreign page cannot read. */
  readonly formToken: string;
}

export interface DashboardEnv {
  Bindings: GatewayEnv["Bindings"];
  Variables: GatewayEnv["Variables"] & { session?: Session };
}
export type DashboardContext = Context<DashboardEnv>;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** With the prefix a browser takes it from https and from this host alone. */
const nameOf = ({ isHttps }: Place): string => `${isHttps ? "__Host-" : ""}tollgate_session`;
const optionsOf = ({ isHttps }: Place) => ({ path: "/", httpOnly: true, sameSite: "Strict", secure: isHttps }) as const;

export async function beginSession(
  c: DashboardContext,
  place: Place,
  sessions: Sessions,
  account: string,
): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  await sessions.begin(account, hashOf(token));
  setCookie(c, nameOf(place), token, optionsOf(place));
}

export async function findSession(c: DashboardContext, place: Place, sessions: Sessions): Promise<Session | undefined> {
  const token = getCookie(c, nameOf(place));
  if (token === undefined || !TOKEN.test(token)) return undefined;
  const account = await sessions.use(hashOf(token));
  return account && { account, hash: hashOf(token), formToken: formTokenOf(token) };
}

export const forgetSession = (c: DashboardContext, place: Place): void =>
  void deleteCookie(c, nameOf(place), optionsOf(place));

export function isFormOf({ formToken }: Session, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const [own, other] = [Buffer.from(formToken), Buffer.from(given)];
  return own.length === other.length && timingSafeEqual(own, other);
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
const formTokenOf = (token: string): string => createHmac("sha256", token).update("dashboard form").digest("base64url");
