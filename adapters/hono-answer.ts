// Puts answers on a Hono context, whole or as a stream, and tells whether the client got them. No policy.
import type { Context } from "hono";
import type { Answer, Delivery, HeaderList } from "../src/request.js";
import { applyHeaders, type HeaderTarget, isBodyless } from "./headers.js";
import { type Source, sourceOfBytes } from "./web-source.js";

/** A copy of the headers that earlier middleware has set; reading `c.res` instead would change how later ones merge. */
export function headersBefore(c: Context): Headers {
  return new Headers(c.body(null).headers);
}

/** Answers with `answer`, its headers merged into `before`: those that stood there before the paywall. */
export function sendAnswer(c: Context, answer: Answer, delivery?: Delivery, before?: Headers): void {
  if (!delivery && !before && sendPlainly(c, answer)) return;
  const headers = before ? new Headers(before) : headersBefore(c);
  applyHeaders(targetOf(headers), answer.headers);
  const body = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body;
  const head = { status: answer.status, headers, statusText: "" };
  if (!delivery) setResponse(c, head, body);
  else setResponse(c, head, { source: sourceOfBytes(body), length: body.byteLength, delivery, ended: () => undefined });
}

/**
 * The 402 of most requests: a text, and nothing set before that its headers would have to be merged with. As a plain record
 * they reach the wire without being parsed into `Headers` and back, which takes as long as everything else together.
 */
function sendPlainly(c: Context, { status, headers, body }: Answer): boolean {
  if (typeof body !== "string" || body === "" || isBodyless(status)) return false;
  if (!c.body(null).headers.keys().next().done) return false;
  const record: Record<string, string> = {};
  for (const [name, value] of headers) {
    // A name that comes twice is two lines, which a record cannot hold.
    if (record[name] !== undefined) return false;
    record[name] = value;
  }
  c.res = undefined;
  c.res = new Response(body, { status, headers: record });
  return true;
}

interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** A body that is watched on its way. */
export interface Sending {
  readonly source: Source;
  /** Undefined where it is not known: a stream keeps the one that it was given. */
  readonly length?: number;
  readonly delivery: Delivery;
  /** Called once, when the source has ended, broken or been cancelled. */
  readonly ended: () => void;
}

/** Makes this the answer of the context, in place of whatever stood there. */
export function setResponse(c: Context, head: Head, body: Uint8Array | Sending): void {
  const { headers } = head;
  const sending = "source" in body ? body : undefined;
  const length = "source" in body ? body.length : body.byteLength;
  const empty = isBodyless(head.status) || (c.req.raw.method === "HEAD" && length === 0);
  if (length !== undefined) headers.delete("Transfer-Encoding");
  if (length !== undefined && !empty) headers.set("Content-Length", String(length));
  // A Response is an illegal one with any body object where the status allows none.
  const response = new Response(empty ? null : "source" in body ? toStream(c, body) : body, head);
  if (empty && sending) trackHead(c, sending.delivery);
  // Hono merges the headers of the response that stood there into the new one unless it is taken away first.
  c.res = undefined;
  c.res = response;
}

/** The body as a stream that notices how far its reader came. */
function toStream(c: Context, { source, delivery, ended }: Sending): ReadableStream<Uint8Array> {
  const outgoing = nodeResponse(c);
  let pulled = false;
  let over = false;
  const end = () => {
    if (over) return;
    over = true;
    ended();
  };
  const lost = (reason?: unknown) => {
    if (!over) source.cancel(reason);
    end();
    void delivery.lost();
  };
  // On Node the last chunks are pulled before they are written, so there the connection has the last word.
  if (outgoing) watch(outgoing, () => void (pulled ? delivery.delivered() : lost()), lost);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await source.next();
          if (chunk) {
            controller.enqueue(chunk);
            return;
          }
          pulled = true;
          end();
          controller.close();
          if (!outgoing) void delivery.delivered();
        } catch (error) {
          // The source broke: the reader is told, so that the client sees a truncated answer and not a short one.
          end();
          controller.error(error);
          void delivery.lost();
        }
      },
      cancel: lost,
    },
    // Nothing is pulled ahead: a pull means that the reader has taken what came before.
    { highWaterMark: 0 },
  );
}

/** Without a body there is nothing to pull: the head is handed over with the response. */
function trackHead(c: Context, delivery: Delivery): void {
  const outgoing = nodeResponse(c);
  if (outgoing)
    watch(
      outgoing,
      () => void delivery.delivered(),
      () => void delivery.lost(),
    );
  else if (c.req.raw.signal.aborted) void delivery.lost();
  else void delivery.delivered();
}

/** What is used of the Node response that @hono/node-server puts into the environment. */
interface NodeResponse {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  once(event: "finish" | "close", listener: () => void): unknown;
}

function nodeResponse(c: Context): NodeResponse | undefined {
  const env: unknown = c.env;
  const outgoing: unknown = typeof env === "object" && env !== null ? Reflect.get(env, "outgoing") : undefined;
  return isNodeResponse(outgoing) ? outgoing : undefined;
}

function isNodeResponse(value: unknown): value is NodeResponse {
  return typeof value === "object" && value !== null && "writableFinished" in value && "once" in value;
}

function watch(outgoing: NodeResponse, finished: () => void, lost: () => void): void {
  if (outgoing.destroyed) {
    lost();
    return;
  }
  outgoing.once("finish", finished);
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) lost();
  });
}

/** A view of Web headers for merging. */
export function targetOf(headers: Headers): HeaderTarget {
  return {
    get: (name) => headers.get(name) ?? undefined,
    set: (name, values) => {
      headers.delete(name);
      for (const value of values) headers.append(name, value);
    },
  };
}

/** One entry for each line that would be sent. */
export function listHeaders(headers: Headers): HeaderList {
  return [...headers.entries()];
}
