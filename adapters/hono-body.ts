// The body of a Hono response, without the stream that reading it costs where it is all there already.
import type { Capture, HeaderList } from "../src/request.js";
import { isEventStream } from "./headers.js";
import { keptBy } from "./hono-headers.js";
import type { Stop } from "./stop.js";
import { sourceOf, sourceOfBytes, type Taken, takeBody } from "./web-source.js";

/** The body of an answer that may have one: whole, a stream, or broken. */
export async function takeHonoBody(
  response: Response,
  headers: HeaderList,
  capture: Capture,
  stop: Stop,
): Promise<Taken> {
  const events = headers.some(([name, value]) => name.toLowerCase() === "content-type" && isEventStream(value));
  const given = givenBody(response);
  if (given) {
    // A copy, because what is held is also kept, and the handler may use its buffer again. What is too large to be held is
    // not copied either: it flows as soon as it is paid.
    if (!events && capture.hold(given.byteLength)) {
      return { kind: "whole", body: Uint8Array.prototype.slice.call(given) };
    }
    return { kind: "stream", source: sourceOfBytes(given), length: given.byteLength };
  }
  const { body } = response;
  // Somebody has read it already: what is left of it is not the answer.
  if (response.bodyUsed) return { kind: "broken" };
  if (!body) return { kind: "whole", body: new Uint8Array(0) };
  if (!events) return takeBody(body, capture, stop.signal);
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
