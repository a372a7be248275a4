// Between a seller and his gateway: everything passes, but for what a test keeps back. A call can get lost on its way, its answer
// on the way back, or nobody listens at all.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { freePort } from "../support/process.js";

export interface Passed {
  /** Method and path: `GET /payment/status` of whatever id, `GET /transaction/…` with its own. */
  readonly call: string;
  readonly settles: boolean;
  readonly idempotencyKey: string | undefined;
}

/** `request`: the gateway never hears of it. `answer`: it does as it was asked, and nobody hears its answer. */
export type Lost = "request" | "answer";

export interface Door {
  readonly url: string;
  /** All that the gateway was asked, or would have been. */
  readonly passed: Passed[];
  /** Where the gateway listens. */
  target: string;
  /** Sent with every settlement. */
  headers: Readonly<Record<string, string>>;
  /** Loses the next settlements in this order. */
  lose(...lost: readonly Lost[]): void;
  /** From now on nobody listens. */
  shut(): Promise<void>;
  /** Listens again, at the same address. */
  open(): Promise<void>;
}

/** @example const door = await openDoor(world.url); const receive = hosted({ baseUrl: door.url, apiKey }); */
export async function openDoor(target: string): Promise<Door> {
  const queue: Lost[] = [];
  // One that nobody else is given while it is shut.
  const port = await freePort();
  const server = createServer((request, response) => {
    // Where the gateway has died, its caller sees a connection that breaks.
    pass(request, response).catch(() => request.socket.destroy());
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/", socket } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const settles = url === "/payment/receive" && (JSON.parse(text) as { readonly settle: boolean }).settle;
    const key = request.headers["idempotency-key"]?.toString();
    const path = url.split(/[/?]/).slice(0, 3).join("/");
    door.passed.push({ call: `${method} ${path}`, settles, idempotencyKey: key });
    const lost = settles ? queue.shift() : undefined;
    if (lost === "request") return void socket.destroy();
    const answer = await fetch(door.target + url, {
      method,
      headers: {
        authorization: request.headers.authorization ?? "",
        ...(key !== undefined && { "idempotency-key": key }),
        ...(method === "POST" && { "content-type": "application/json" }),
        ...(settles && door.headers),
      },
      ...(method === "POST" && { body: text }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (lost === "answer") return void socket.destroy();
    const type = answer.headers.get("content-type");
    const retryAfter = answer.headers.get("retry-after");
    // A connection for each call: one that is kept may break while a call is being written into it, and that call is then in doubt.
    response.writeHead(answer.status, {
      connection: "close",
      ...(type !== null && { "content-type": type }),
      ...(retryAfter !== null && { "retry-after": retryAfter }),
    });
    response.end(body);
  }

  const open = async () => {
    if (server.listening) return;
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await open();
  const door: Door = {
    url: `http://127.0.0.1:${port}`,
    passed: [],
    target,
    headers: {},
    lose: (...lost) => void queue.push(...lost),
    open,
    shut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return door;
}
