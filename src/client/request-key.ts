// Which request a proof pays for: method, URL and the body's bytes. Equal keys get the same proof again.
import { sha256 } from "../hash.js";
import type { CallRequest } from "./call-request.js";

/** What a proof can be pending for, as far as it is known without the body. */
export const targetOf = (method: string, url: string): string => `${method} ${url}`;

/** @param body undefined = none, which is the same as an empty one */
export async function requestKeyOf({ method, url }: CallRequest, body: Uint8Array | undefined): Promise<string> {
  const digest = body?.length ? await sha256(body) : "";
  return sha256(`${targetOf(method, url.href)} ${digest}`);
}
