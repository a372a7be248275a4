// Puts answers on a Hono context, whole or as a stream, and tells whether the client got them. No policy.
import type { Context } from "hono";
import type { Answer, Delivery, HeaderList } from "../src/request.js";
import { applyHeaders, isBodyless } from "./headers.js";
import { HeaderLines, headersOf } from "./hono-headers.js";
import { nodeResponse, watch } from "./hono-node.js";
import { wholeResponse } from "./hono-whole.js";
import { type Source, sourceOfBytes } from "./web-source.js";

/** The headers that earlier middleware has set; reading `c.res` instead would change how later ones merge. */
export function headersBefore(c: Context): HeaderList {
  return headersOf(c.body(null));
}

/** Answers with `answer`, its headers merged into `before`: those that stood there before the paywall. */
export function sendAnswer(c: Context, answer: Answer, delivery?: Delivery, before = headersBefore(c)): void {
  if (!delivery && before.length === 0 && sendPlainly(c, answer)) return;
  const lines = new HeaderLines(before);
  applyHeaders(lines, answer.headers);
  const whole = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body;
  const head = { status: answer.status, lines, statusText: "" };
  if (!delivery) setResponse(c, head, whole);
  else {
    const source = sourceOfBytes(whole);
    setResponse(c, head, { source, length: whole.byteLength, whole, delivery, ended: () => undefined });
  }
}

/**
 * The 402 of most requests: a text, and nothing set before that its headers would have to be merged with. As a plain record
 * they reach the wire without being parsed into `Headers` and back, which takes as long as everything else together.
 */
function sendPlainly(c: Context, { status, headers, body }: Answer): boolean {
  if (typeof body !== "string" || body === "" || isBodyless(status)) return false;
  const record = records.get(headers) ?? toRecord(headers);
  if (!record) return false;
  c.res = undefined;
  // A copy, because whoever holds a response may change its headers.
  c.res = new Response(body, { status, headers: { ...record } });
  return true;
}

/** The records of header lists that come again, as those of a challenge do. */
const records = new WeakMap<HeaderList, Record<string, string>>();

/** Undefined where a name comes twice: two lines, which a record cannot hold. */
function toRecord(headers: HeaderList): Record<string, string> | undefined {
  const record: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (record[name] !== undefined) return undefined;
    record[name] = value;
  }
  records.set(headers, record);
  return record;
}

interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly lines: HeaderLines;
}

/** A body that is watched on its way. */
export interface Sending {
  readonly source: Source;
  /** Undefined where it is not known: a stream keeps the one that it was given. */
  readonly length?: number;
  /** What the source gives, where it is all there and small. */
  readonly whole?: Uint8Array;
  readonly delivery: Delivery;
  /** Called once, when the source has ended, broken or been cancelled. */
  readonly ended: () => void;
}

/** Makes this the answer of the context, in place of whatever stood there. */
export function setResponse(c: Context, { status, statusText, lines }: Head, body: Uint8Array | Sending): void {
  const sending = "source" in body ? body : undefined;
  const length = "source" in body ? body.length : body.byteLength;
  const empty = isBodyless(status) || (c.req.raw.method === "HEAD" && length === 0);
  if (length !== undefined) lines.delete("Transfer-Encoding");
  if (length !== undefined && !empty) lines.set("Content-Length", [String(length)]);
  const init = { status, statusText, headers: lines.toInit() };
  // A Response is an illegal one with any body object where the status allows none.
  const response = empty
    ? new Response(null, init)
    : "source" in body
      ? respond(c, body, init)
      : new Response(body, init);
  if (empty && sending) trackHead(c, sending.delivery);
  // Hono merges the headers of the response that stood there into the new one unless it is taken away first.
  c.res = undefined;
  c.res = response;
}

function respond(c: Context, sending: Sending, init: ResponseInit): Response {
  const { whole, delivery, ended } = sending;
  const outgoing = nodeResponse(c);
  if (!outgoing || !whole) return new Response(toStream(c, sending), init);
  return wholeResponse(outgoing, whole, init, { delivery, ended, toStream: () => toStream(c, sending) });
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
