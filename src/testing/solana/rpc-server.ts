// The node's face: JSON-RPC over HTTP, single and in batches, and over WebSocket on the same port and on the next one.
// web3.js opens its WebSocket on the port after that of HTTP, @solana/kit on the port given.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { type RawData, type WebSocket, WebSocketServer } from "ws";
import * as z from "zod/mini";
import { toJson } from "./encoding.js";
import type { Params } from "./params.js";
import { RPC_CODES, RpcError } from "./rpc-error.js";
import type { Subscriptions } from "./subscriptions.js";

export interface RpcServer {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  close(): Promise<void>;
}

export interface RpcHandlers {
  /** The result of one call; throws RpcError for what a node refuses. */
  call(method: string, params: Params): unknown;
  subscriptions(send: (text: string) => void): Subscriptions;
}

const call = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.optional(z.nullable(z.union([z.string(), z.number()]))),
  method: z.string(),
  params: z.optional(z.array(z.unknown())),
});

const HOST = "127.0.0.1";
const PAIR_ATTEMPTS = 50;
const DRAIN_MS = 20;

/** Listens on a free port and on the one after it. */
export async function startRpcServer(handlers: RpcHandlers): Promise<RpcServer> {
  const [main, second, port] = await listenOnPair(handlers);
  const sockets = new WebSocketServer({ noServer: true });
  for (const server of [main, second]) {
    server.on("upgrade", (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (client) => serveSocket(client, handlers));
    });
  }
  return {
    rpcUrl: `http://${HOST}:${port}`,
    wsUrl: `ws://${HOST}:${port}`,
    async close() {
      // Code 1000 tells web3.js that it need not connect again, which it would try for ever.
      for (const client of sockets.clients) client.close(1000);
      sockets.close();
      // What is on its way gets its answer: web3.js leaves a last poll to itself, whose failure nobody would catch.
      await setTimeout(DRAIN_MS);
      for (const client of sockets.clients) client.terminate();
      await Promise.all([main, second].map(closeServer));
    },
  };
}

async function listenOnPair(handlers: RpcHandlers): Promise<[Server, Server, number]> {
  for (let attempt = 0; attempt < PAIR_ATTEMPTS; attempt++) {
    const main = createServer((request, response) => serveHttp(request, response, handlers));
    const port = await listen(main, 0);
    const second = createServer((request, response) => serveHttp(request, response, handlers));
    if (port !== undefined && (await listen(second, port + 1)) !== undefined) return [main, second, port];
    main.close();
  }
  throw new Error(`No two neighbouring ports were free in ${PAIR_ATTEMPTS} attempts`);
}

/** The port; `undefined` where it is taken. */
function listen(server: Server, port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "ERR_SOCKET_BAD_PORT") resolve(undefined);
      else reject(error);
    });
    if (port > 65_535) return resolve(undefined);
    server.listen(port, HOST, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Calls that are being answered have as long again. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  const force = globalThis.setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(force);
}

function serveHttp(request: IncomingMessage, response: ServerResponse, handlers: RpcHandlers): void {
  if (request.method === "GET" && request.url === "/health") {
    response.end("ok");
    return;
  }
  if (request.method !== "POST") {
    response.writeHead(405).end("Used HTTP Method is not allowed. POST or OPTIONS is required");
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const answer = answerText(Buffer.concat(chunks).toString("utf8"), handlers.call);
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
}

function serveSocket(client: WebSocket, handlers: RpcHandlers): void {
  const subscriptions = handlers.subscriptions((text) => client.send(text));
  client.on("message", (data: RawData) => {
    const text = Buffer.isBuffer(data) ? data.toString("utf8") : "";
    const answer = answerText(text, (method, params) => {
      const result = subscriptions.call(method, params);
      return result === undefined ? handlers.call(method, params) : result;
    });
    if (answer !== undefined) client.send(answer);
    subscriptions.settle();
  });
  client.on("close", () => subscriptions.end());
  // A client that breaks its connection is gone; `close` follows and ends what it subscribed to.
  client.on("error", () => client.terminate());
}

/** `undefined` where every call was a notification, which no answer follows (web3.js sends `ping` so). */
function answerText(text: string, run: RpcHandlers["call"]): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    return toJson(failure(null, new RpcError(RPC_CODES.parse, "Parse error", String(error))));
  }
  if (!Array.isArray(body)) {
    const answer = answerOne(body, run);
    return answer === undefined ? undefined : toJson(answer);
  }
  const answers = body.map((one) => answerOne(one, run)).filter((answer) => answer !== undefined);
  return answers.length === 0 ? undefined : toJson(answers);
}

function answerOne(body: unknown, run: RpcHandlers["call"]): unknown {
  const { success, data } = call.safeParse(body);
  if (!success) return failure(null, new RpcError(RPC_CODES.invalidRequest, "Invalid request"));
  const { id, method, params = [] } = data;
  if (id === undefined) return undefined;
  try {
    return { jsonrpc: "2.0", result: run(method, params), id };
  } catch (error) {
    if (error instanceof RpcError) return failure(id, error);
    // A fault of the sandbox itself: told to the caller in full, since only tests call it.
    return failure(id, new RpcError(RPC_CODES.internal, `Internal error: ${String(error)}`));
  }
}

const failure = (id: string | number | null, { code, message, data }: RpcError) => ({
  jsonrpc: "2.0",
  error: { code, message, data },
  id,
});
