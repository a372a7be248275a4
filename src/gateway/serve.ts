// A gateway on a port of this machine: node:http with time limits, answers of one shape, and an end that lets requests finish.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { fault } from "./errors.js";
import type { Gateway } from "./gateway.js";
import { answerRaw, RAW_HEADERS, refusalBody } from "./http/raw-answer.js";
import { isWebSocket, withoutUpgrade } from "./http/without-upgrade.js";

export interface ServeOptions {
  /** By default that of the settings; 0 = any free one. */
  readonly port?: number;
  readonly host?: string;
  /** Milliseconds in which a caller must have read an answer, 60,000. */
  readonly answerMs?: number;
}

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  /** No new connection, no further request on an open one; ends with the gateway closed. */
  close(): Promise<void>;
}

const SERVER = {
  /** For the whole of a request, and for its headers: slow senders hold no connection for long. */
  requestTimeout: 30_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
  connectionsCheckingInterval: 5_000,
  // Refused below, in the one shape.
  requireHostHeader: false,
};

const ANSWER_MS = 60_000;

/** @example const { url, close } = await serve(gateway, { port: 0 }); */
export async function serve(gateway: Gateway, options: ServeOptions = {}): Promise<RunningGateway> {
  const { port = gateway.settings.port, host = gateway.settings.host, answerMs = ANSWER_MS } = options;
  let closed: Promise<void> | undefined;
  const listener = getRequestListener(
    async (request, env) => {
      if (closed) return refuse(503);
      // Safe because only HTTP/1 is served: the bindings are always those of node:http.
      const bindings = env as HttpBindings;
      const answer = await gateway.fetch(request, bindings);
      cutSlowReader(bindings.outgoing, answerMs);
      // Its connection is open only because of it.
      if (closed) answer.headers.set("Connection", "close");
      return answer;
    },
    { errorHandler: (error) => refuse(error instanceof Error && error.name === "RequestError" ? 400 : 500) },
  );
  const server = createServer(SERVER, (incoming, outgoing) => void listener(incoming, outgoing));
  server.on("upgrade", (request, socket, head) => {
    if (isWebSocket(request)) gateway.upgrade(request, socket, head);
    else withoutUpgrade(server, request, socket, head);
  });
  server.on("clientError", answerClientError);
  server.on("checkExpectation", (_incoming, outgoing) => {
    const body = refusalBody(REFUSALS[400]);
    outgoing.writeHead(400, { ...RAW_HEADERS, "Content-Length": Buffer.byteLength(body) }).end(body);
  });
  const address = await listen(server, port, host);
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    server,
    close: () => {
      closed ??= closeServer(server, gateway);
      return closed;
    },
  };
}

/** Node waits for ever for a caller to read, with the whole answer in memory: a page of a history has megabytes. */
function cutSlowReader(outgoing: HttpBindings["outgoing"], ms: number): void {
  // Nobody is there to read it, and a timer of a connection that is closed already would be cleared by nothing.
  if (outgoing.destroyed) return;
  const begin = () => {
    const timer = setTimeout(() => outgoing.destroy(), ms);
    outgoing.once("close", () => clearTimeout(timer));
  };
  // Without a socket it waits behind an earlier answer of its connection, which has a time of its own.
  if (outgoing.socket) begin();
  else outgoing.once("socket", begin);
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      // Safe because it listens on a port and not on a pipe.
      resolve(server.address() as AddressInfo);
    });
  });
}

/** First the requests that somebody waits for, then what goes on without them. */
async function closeServer(server: Server, gateway: Gateway): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  // Their clients never end them.
  await gateway.endSockets();
  server.closeIdleConnections();
  await within(ended, gateway.settings.shutdownMs);
  await gateway.close();
  // Whoever has no answer by now gets none: its payment is finished by the next start.
  server.closeAllConnections();
  await ended;
}

function within(task: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void task.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const REFUSALS = {
  400: fault("INVALID_REQUEST", "the request cannot be read: its target, its Host or Expect header, or its framing"),
  408: fault("INVALID_REQUEST", "the request did not arrive in time"),
  431: fault("INVALID_REQUEST", "the headers have more than 16 KiB"),
  500: fault("INTERNAL_ERROR", "an unexpected error"),
  503: fault("UNAVAILABLE", "the service is shutting down"),
} as const;
type Status = keyof typeof REFUSALS;

/** Where the app cannot be asked: no URL can be made of the request, or it is over. */
const refuse = (status: Status): Response =>
  new Response(refusalBody(REFUSALS[status]), { status, headers: { ...RAW_HEADERS, Connection: "close" } });

/** Where not even HTTP was spoken: an answer by hand, and the connection is over. */
function answerClientError(error: Error, socket: Duplex): void {
  const code = "code" in error ? error.code : undefined;
  const status = code === "HPE_HEADER_OVERFLOW" ? 431 : code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  answerRaw(socket, REFUSALS[status], status);
}
