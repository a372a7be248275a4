// Sends complete answers over a node:http response, and tells whether the client got them. No policy.
import type { ClientRequest, ServerResponse } from "node:http";
import type { Answer, Delivery, HeaderList } from "../src/request.js";
import { applyHeaders, type HeaderTarget, isBodyless } from "./headers.js";

/** The two methods that put an answer on the wire; the gate passes those that stood there before it. */
export interface Sender {
  writeHead(status: number): unknown;
  end(): unknown;
  end(body: string | Uint8Array): unknown;
  end(body: string, encoding: "latin1"): unknown;
}

/** Merges the answer's headers into those already set and sends it. Throws what Node throws for an illegal header. */
export function sendAnswer(res: ServerResponse, answer: Answer, delivery?: Delivery, sender: Sender = res): void {
  applyHeaders(headersOf(res), answer.headers);
  const length = typeof answer.body === "string" ? Buffer.byteLength(answer.body) : answer.body.byteLength;
  const bodyless = isBodyless(answer.status) || (res.req.method === "HEAD" && length === 0);
  if (!bodyless) res.setHeader("Content-Length", length);
  sender.writeHead(answer.status);
  if (delivery) trackDelivery(res, delivery);
  if (bodyless || length === 0 || res.req.method === "HEAD") sender.end();
  // As many bytes as characters: it is ASCII, and as Latin-1, the same bytes, it is written in half the time.
  else if (length === answer.body.length && typeof answer.body === "string") sender.end(answer.body, "latin1");
  else sender.end(answer.body);
}

/** Reports once whether the last byte was handed to the operating system or the connection closed before. */
export function trackDelivery(res: ServerResponse, delivery: Delivery): void {
  watchConnection(
    res,
    () => void delivery.delivered(),
    () => void delivery.lost(),
  );
}

/**
 * Calls exactly one of the two, once. It watches the socket, not the response: a response that waits behind another one
 * on the same connection (pipelining) gets no `close` event of its own.
 */
export function watchConnection(res: ServerResponse, finished: () => void, lost: () => void): void {
  const socket = res.req.socket;
  if (res.writableFinished || isGone(res)) {
    if (res.writableFinished) finished();
    else lost();
    return;
  }
  const onFinish = () => {
    socket.off("close", onClose);
    finished();
  };
  const onClose = () => {
    res.off("finish", onFinish);
    lost();
  };
  res.once("finish", onFinish);
  socket.once("close", onClose);
}

/** The client can no longer be reached. */
export function isGone(res: ServerResponse): boolean {
  return res.destroyed || res.req.socket.destroyed;
}

/** A view of the headers set so far on a Node response. */
export function headersOf(res: ServerResponse): HeaderTarget {
  return {
    get: (name) => {
      const value = res.getHeader(name);
      return Array.isArray(value) ? value.join(", ") : value?.toString();
    },
    set: (name, values) => {
      const [only] = values;
      res.setHeader(name, values.length === 1 && only !== undefined ? only : values);
    },
    add: (name, value) => void res.appendHeader(name, value),
  };
}

/** The headers set so far, one entry for each line that would be sent. */
export function listHeaders(res: ServerResponse): HeaderList {
  const lines: [string, string][] = [];
  // Every outgoing message has the method; the types give it to requests only.
  const named = res as ServerResponse & Pick<ClientRequest, "getRawHeaderNames">;
  for (const name of named.getRawHeaderNames()) {
    const value = res.getHeader(name);
    if (value === undefined) continue;
    for (const line of Array.isArray(value) ? value : [value]) lines.push([name, line.toString()]);
  }
  return lines;
}
