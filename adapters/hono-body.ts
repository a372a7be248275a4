// The body of a Hono response, without the copy that reading it costs where it is all there already.
import type { Capture } from "../src/request.js";
import { isEventStream } from "./headers.js";
import { sourceOf, sourceOfBytes, type Taken, takeBody } from "./web-source.js";

/** The body of an answer that may have one: whole, a stream, or broken. */
export async function takeHonoBody(response: Response, capture: Capture, stop: AbortSignal): Promise<Taken> {
  const events = isEventStream(response.headers.get("Content-Type") ?? undefined);
  const given = givenBody(response);
  if (given) {
    if (!events && capture.hold(given.byteLength)) return { kind: "whole", body: given };
    return { kind: "stream", source: sourceOfBytes(given), length: given.byteLength };
  }
  const { body } = response;
  if (!body) return { kind: "whole", body: new Uint8Array(0) };
  if (!events) return takeBody(body, capture, stop);
  const source = sourceOf(body, capture);
  return source ? { kind: "stream", source } : { kind: "broken" };
}

/** The reason phrase; asking for it would make the real Response, and @hono/node-server does not send it anyway. */
export function reasonOf(response: Response): string {
  return keptBy(response) ? "" : response.statusText;
}

/** The bytes that the handler gave, where they are still at hand. */
function givenBody(response: Response): Uint8Array | undefined {
  const body = keptBy(response)?.[1];
  if (typeof body === "string") return new TextEncoder().encode(body);
  return body instanceof Uint8Array ? body : undefined;
}

/**
 * @hono/node-server's own Response keeps what it was made of beside it, as `[status, body, headers]` under a symbol, until
 * somebody reads `body` or asks for a rare field: then a real Response is made, with a copy of a large body.
 * Safe because whatever does not look exactly like that is read in the usual way.
 */
function keptBy(response: Response): readonly unknown[] | undefined {
  const symbol = Object.getOwnPropertySymbols(response).find(({ description }) => description === "cache");
  const kept: unknown = symbol && Reflect.get(response, symbol);
  return Array.isArray(kept) && kept[0] === response.status ? kept : undefined;
}
