// A server that answers as a test has written it, in the place of a gateway: lies, failures and silence in any order. It keeps
// every request. And a clock that moves when somebody waits.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { CallParts } from "../../src/client/gateway-client-call.js";

export const API_KEY = `tg_test_${"k".repeat(44)}`;

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed where it is JSON. */
  readonly body: unknown;
}

/** `reset`: the connection breaks before an answer. `cut`: in the middle of one. `hang`: never. */
export type Scripted =
  | "reset"
  | "cut"
  | "hang"
  | { readonly status?: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

export type Script = (asked: Asked, at: number) => Scripted | Promise<Scripted>;

export interface ScriptedGateway {
  readonly url: string;
  readonly asked: readonly Asked[];
}

/** Answers one after the other; the last one again and again. */
export const inTurn =
  (...replies: readonly Scripted[]): Script =>
  (_, at) =>
    replies[Math.min(at, replies.length - 1)] ?? "hang";

/** Ends with the test. */
export async function startScriptedGateway(script: Script): Promise<ScriptedGateway> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { method = "", url = "", headers } = request;
    const one = { method, url, headers, body: text === "" ? undefined : JSON.parse(text) };
    const reply = await script(one, asked.push(one) - 1);
    if (reply === "hang") return;
    if (reply === "reset") return void request.socket.destroy();
    if (reply === "cut") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{ "success": tr', () => request.socket.destroy());
      return;
    }
    const { status = 200, body = { success: true }, headers: own = {} } = reply;
    response.writeHead(status, { "content-type": "application/json", connection: "close", ...own });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** An error as the gateway writes it. */
export const fault = (
  status: number,
  code: string,
  more: {
    readonly retryable?: boolean;
    readonly headers?: Readonly<Record<string, string>>;
    readonly error?: object;
  } = {},
): Scripted => ({
  status,
  headers: more.headers ?? {},
  body: {
    success: false,
    error: { code, message: `it said ${code}`, action: "do this", retryable: more.retryable ?? false, ...more.error },
    requestId: "req_1",
  },
});

export interface MovedClock extends CallParts {
  /** Milliseconds of each wait. */
  readonly pauses: readonly number[];
}

/** Waits take no time; `random` is always this. */
export function movedClock(random = 0.5): MovedClock {
  const pauses: number[] = [];
  let time = 1_000_000;
  return {
    pauses,
    now: () => time,
    random: () => random,
    async wait(ms, signal) {
      signal?.throwIfAborted();
      pauses.push(ms);
      time += ms;
    },
  };
}
