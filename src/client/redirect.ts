// A redirect that answers a paid request: it is followed as fetch would, and nothing of the payment goes along.
import type { CallRequest } from "./call-request.js";
import { isRedirect } from "./outcome.js";
import { type Message, PAYMENT_HEADERS, toInit } from "./paid-request.js";
import { RETRY_KEY_HEADER } from "./retry-key.js";

const MAX_HOPS = 5;
/** What fetch takes off where the origin changes, and a pass, which is one more password. */
const CREDENTIALS = ["Authorization", "Proxy-Authorization", "Cookie", "Host", "Payment-Pass"] as const;
const BODY_HEADERS = ["Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Content-Length"];

export type Followed =
  | { readonly ok: true; readonly response: Response }
  /** What stood in the way, in words; `response`: the answer that nobody reads any more. */
  | { readonly ok: false; readonly reason: string; readonly response: Response };

/** @param message as the caller wrote it; a payment header of his own is taken off as well */
export async function followRedirect(
  fetch: typeof globalThis.fetch,
  call: CallRequest,
  from: { readonly url: URL; readonly message: Message; readonly response: Response },
): Promise<Followed> {
  let { url, message, response } = from;
  // Invariant: no hop sees the proof, nor the key with which its answer can be collected.
  message = without(message, [...PAYMENT_HEADERS, RETRY_KEY_HEADER]);
  for (let hop = 0; isRedirect(response.status); hop += 1) {
    const next = locationOf(response, url);
    if (hop === MAX_HOPS) return { ok: false, reason: `it was led on more than ${MAX_HOPS} times`, response };
    if (next === "none") return { ok: true, response };
    if (next === undefined) return { ok: false, reason: "it was led to what is no http URL", response };
    response.body?.cancel().catch(() => {});
    message = adapt(message, response.status);
    if (next.origin !== url.origin) message = without(message, CREDENTIALS);
    url = next;
    response = await fetch(url.href, toInit(call, message));
  }
  return { ok: true, response };
}

function locationOf(response: Response, base: URL): URL | "none" | undefined {
  const location = response.headers.get("location");
  if (location === null) return "none";
  if (!URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : undefined;
}

/** Spec: fetch, HTTP-redirect fetch: 303 asks with GET, as 301 and 302 do after a POST. */
function adapt(message: Message, status: number): Message {
  const { method } = message;
  const isPost = (status === 301 || status === 302) && method === "POST";
  const isOther = status === 303 && method !== "GET" && method !== "HEAD";
  if (!isPost && !isOther) return message;
  return { ...without(message, BODY_HEADERS), method: "GET", body: "none" };
}

function without(message: Message, names: readonly string[]): Message {
  const headers = new Headers(message.headers);
  for (const name of names) headers.delete(name);
  return { ...message, headers };
}
