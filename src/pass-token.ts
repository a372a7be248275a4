// The token of a pass: made at random, read from a header or a cookie, and known to the store by its digest alone.
import { sha256 } from "./hash.js";
import { COOKIE_PREFIX, type Passage } from "./passage.js";
import type { HeaderList, PaywallRequest } from "./request.js";

/** 32 random bytes as base64url. */
export function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Is it what `newToken` can have made? Two headers joined by a comma are not. */
export const isToken = (text: string): boolean => /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text);

/** The thing that a pass is for, as the store and the cookie know it. */
export const digestOfPlace = async ({ shop, route }: Passage): Promise<string> => sha256(JSON.stringify([shop, route]));

/** What a request shows for this thing: the header, else the cookie of its browser. */
export function shownToken(request: PaywallRequest, place: string): string | undefined {
  const header = request.header("payment-pass");
  if (header !== undefined) return header.trim();
  const name = nameOf(place);
  for (const cookie of (request.header("cookie") ?? "").split(/[;,]/)) {
    const [key, value] = cookie.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}

/** The headers that hand a token over. The cookie is for this thing alone, and no script can read it. */
export function tokenHeaders(token: string, passage: Passage, place: string, msLeft: number): HeaderList {
  const header = ["Payment-Pass", token] as const;
  if (!passage.byPage) return [header];
  const maxAge = Math.ceil(msLeft / 1000);
  const cookie = `${nameOf(place)}=${token}; Path=${cookiePath(passage)}; Max-Age=${maxAge}; Secure; HttpOnly; SameSite=Lax`;
  return [header, ["Set-Cookie", cookie]];
}

const nameOf = (place: string): string => COOKIE_PREFIX + place.slice(0, 16);

/** The longest path above everything that the pass opens, in the browser's eyes. */
function cookiePath({ shop, path }: Passage): string {
  const base = shop.replace(/^https?:\/\/[^/]*/i, "");
  const whole = base + path;
  // A name, a star, or a character that could end the attribute: the folder above it.
  const plain = /^(?:\/[\w.~%-]*(?=\/|$))*/.exec(whole)?.[0] ?? "";
  return plain.replace(/\/+$/, "") || "/";
}
