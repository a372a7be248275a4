// Puts complete answers on a Hono context, and tells whether the client got them. No policy.
import type { Context } from "hono";
import type { Answer, Delivery, HeaderList } from "../src/request.js";
import { applyHeaders, type HeaderTarget, isBodyless } from "./headers.js";

/** A copy of the headers that earlier middleware has set; reading `c.res` instead would change how later ones merge. */
export function headersBefore(c: Context): Headers {
  return new Headers(c.body(null).headers);
}

/** Answers with `answer`, its headers merged into `before`: those that stood there before the paywall. */
export function sendAnswer(c: Context, answer: Answer, delivery?: Delivery, before?: Headers): void {
  const headers = before ? new Headers(before) : headersBefore(c);
  applyHeaders(targetOf(headers), answer.headers);
  const body = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body;
  setResponse(c, { status: answer.status, headers, statusText: "" }, body, delivery);
}

interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/** Makes this the answer of the context, in place of whatever stood there, with the length of its body. */
export function setResponse(c: Context, head: Head, body: Uint8Array, delivery: Delivery | undefined): void {
  const { headers } = head;
  const empty = isBodyless(head.status) || (c.req.raw.method === "HEAD" && body.byteLength === 0);
  headers.delete("Transfer-Encoding");
  if (!empty) headers.set("Content-Length", String(body.byteLength));
  // A Response is an illegal one with any body object where the status allows none.
  const response = new Response(empty ? null : delivery ? track(c, body, delivery) : body, head);
  if (empty && delivery) trackHead(c, delivery);
  // Hono merges the headers of the response that stood there into the new one unless it is taken away first.
  c.res = undefined;
  c.res = response;
}

/** The body as a stream that notices how far its reader came. */
function track(c: Context, body: Uint8Array, delivery: Delivery): ReadableStream<Uint8Array> {
  const outgoing = nodeResponse(c);
  let pulled = false;
  // On Node the whole body is pulled before a byte is written, so there the connection has the last word.
  if (outgoing)
    watch(
      outgoing,
      () => void (pulled ? delivery.delivered() : delivery.lost()),
      () => void delivery.lost(),
    );
  let sent = body.byteLength === 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!sent) {
          sent = true;
          controller.enqueue(body);
          return;
        }
        controller.close();
        pulled = true;
        if (!outgoing) void delivery.delivered();
      },
      cancel() {
        void delivery.lost();
      },
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
