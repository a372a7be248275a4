// Makes Web responses of what the paywall sends, whole or as a stream, and tells whether the client got them. No policy.
import type { Answer, Delivery } from "../src/request.js";
import { applyHeaders, type HeaderTarget, isBodyless } from "./headers.js";
import { type Source, sourceOfBytes } from "./web-source.js";

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** A body on its way. */
export interface Sending {
  readonly source: Source;
  /** Undefined for a stream: it keeps the length that it was given. */
  readonly length?: number;
  readonly delivery: Delivery | undefined;
  /** Called once, when the source has ended, broken or been cancelled. */
  readonly ended: () => void;
}

/** The response to `request` that is a complete answer of ours. */
export function toResponse(request: Request, { status, headers, body }: Answer, delivery?: Delivery): Response {
  const head = { status, statusText: "", headers: new Headers() };
  applyHeaders(targetOf(head.headers), headers);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const sending = { source: sourceOfBytes(bytes), length: bytes.byteLength, delivery, ended: () => undefined };
  return sendingResponse(request, head, sending);
}

/** The response to `request` whose delivery is followed. Throws for a head that is none. */
export function sendingResponse(request: Request, head: ResponseHead, sending: Sending): Response {
  const { length, delivery } = sending;
  const { headers, status } = head;
  const empty = isBodyless(status) || (request.method === "HEAD" && length === 0);
  if (length !== undefined) headers.delete("Transfer-Encoding");
  if (length !== undefined && !empty) headers.set("Content-Length", String(length));
  // A Response is an illegal one with any body object where the status allows none.
  const response = new Response(empty ? null : toStream(request.signal, sending), head);
  // Without a body there is nothing to pull: the head is handed over with the response.
  if (empty) void (request.signal.aborted ? delivery?.lost() : delivery?.delivered());
  return response;
}

/** The body as a stream that notices how far its reader came. */
function toStream(signal: AbortSignal, { source, delivery, ended }: Sending): ReadableStream<Uint8Array> {
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    signal.removeEventListener("abort", lost);
    ended();
  };
  const lost = (reason?: unknown) => {
    if (over) return;
    source.cancel(reason);
    end();
    void delivery?.lost();
  };
  // A runtime that never pulls again after the client has gone would leave the source open.
  if (signal.aborted) lost();
  else signal.addEventListener("abort", lost, { once: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = over ? undefined : await source.next();
          // The abort was told already; whoever reads on sees a broken answer and not a short one.
          if (over) controller.error(new DOMException("The client has gone", "AbortError"));
          else if (chunk) controller.enqueue(chunk);
          else {
            end();
            controller.close();
            void delivery?.delivered();
          }
        } catch (error) {
          // The source broke: the reader is told, so that the client sees a truncated answer and not a short one.
          controller.error(error);
          if (over) return;
          end();
          void delivery?.lost();
        }
      },
      cancel: lost,
    },
    // Nothing is pulled ahead: a pull means that the reader has taken what came before.
    { highWaterMark: 0 },
  );
}

/** A view of Web headers for merging. */
export function targetOf(headers: Headers): HeaderTarget {
  return {
    get: (name) => headers.get(name) ?? undefined,
    set: (name, values) => {
      headers.delete(name);
      for (const value of values) headers.append(name, value);
    },
    add: (name, value) => headers.append(name, value),
  };
}
