// The request that carries a proof: the caller's own in everything else, sent to the one place that asked for the money. It never
// follows a redirect by itself, because fetch would take the proof along.
import type { SentBody } from "./body.js";
import { type CallRequest, type FetchInit, headersOf, optionsOf } from "./call-request.js";

/** What a request says beside where it goes. */
export interface Message {
  readonly method: string;
  readonly headers: Headers;
  readonly body: SentBody | "none";
}

export const PAYMENT_HEADERS = ["PAYMENT-SIGNATURE", "X-PAYMENT"] as const;

/** The caller's message: his headers, and the Content-Type that fetch derives from the kind of the body. */
export function callersMessage(call: CallRequest, body: SentBody | "none"): Message {
  const headers = headersOf(call);
  if (body !== "none" && body.type !== undefined && !headers.has("content-type"))
    headers.set("content-type", body.type);
  return { method: call.method, headers, body };
}

/** With the proof, and with no other one that the caller may have written. */
export function withProof(message: Message, added: Readonly<Record<string, string>>): Message {
  const headers = new Headers(message.headers);
  for (const name of PAYMENT_HEADERS) headers.delete(name);
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  return { ...message, headers };
}

export function toInit(call: CallRequest, { method, headers, body }: Message): FetchInit {
  const { body: _, signal: __, ...options } = optionsOf(call);
  return {
    ...options,
    method,
    headers,
    // Invariant: a proof goes to the place that asked for the money, and nowhere else.
    redirect: "manual",
    ...(body !== "none" && { body: body.bytes }),
    ...(call.signal && { signal: call.signal }),
  };
}
