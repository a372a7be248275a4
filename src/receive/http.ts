// One JSON call to a payment service: bounded in time and size, no redirect followed, never rejects, and a failure says
// whether a byte of the request may have left. Messages hold error codes only: no header, body or address.
import type * as NodeHttp from "node:http";
import type * as NodeHttps from "node:https";
import type * as NodeNet from "node:net";
import { LRUCache } from "lru-cache";

export interface HttpCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON text. */
  readonly body?: string;
  /** For the whole call, the answer's last byte included. */
  readonly timeoutMs: number;
  /** Largest answer that is read; absent = `MAX_ANSWER_BYTES`. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly outcome: "answer";
  readonly status: number;
  /** The parsed body; undefined where it is not JSON. */
  readonly body: unknown;
  /** From `Retry-After`, in either of its forms. */
  readonly retryAfterMs: number | undefined;
}

export interface HttpFailure {
  readonly outcome: "failed";
  /** `unreachable`: no answer began. `bad_answer`: one began, and was cut off, too slow, too large or not HTTP. */
  readonly failure: "unreachable" | "bad_answer";
  /** May a byte of the request have left this process? `false` only where that is impossible. */
  readonly sent: boolean;
  readonly message: string;
}

export type HttpReply = HttpAnswer | HttpFailure;

export interface HttpClient {
  call(call: HttpCall): Promise<HttpReply>;
  /** Drops idle connections; a running call ends as its peer lets it. */
  close(): void;
}

/** Largest answer that is read. A long /supported list is some tens of KiB. */
export const MAX_ANSWER_BYTES = 256 * 1024;

// Below the 5 s after which Node servers drop an idle connection: a settlement must not be written into a closing one.
const IDLE_MS = 4_000;

/** Resolves a name for a connection, in the form of `dns.lookup`; the address that it gives is the one connected to. */
export type Lookup = NonNullable<NodeNet.TcpNetConnectOpts["lookup"]>;

/**
 * `node:http` with kept-alive connections on Node (a third of the CPU of `fetch`), the global `fetch` elsewhere.
 *
 * @param lookup in place of the system's resolver, on Node alone
 */
export function createHttpClient(transport: "node" | "fetch" = defaultTransport(), lookup?: Lookup): HttpClient {
  if (transport === "node") return overNode(lookup);
  if (lookup) throw new TypeError("a connection's address can be chosen on Node alone");
  return createFetchClient();
}

function defaultTransport(): "node" | "fetch" {
  // Deno, Bun and Workers imitate node:http; their own fetch is the better path there. They name themselves here.
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  const node = navigator?.userAgent === undefined || navigator.userAgent.startsWith("Node.js");
  return node && typeof globalThis.process?.getBuiltinModule === "function" ? "node" : "fetch";
}

function overNode(lookup: Lookup | undefined): HttpClient {
  const http = process.getBuiltinModule("node:http");
  const https = process.getBuiltinModule("node:https");
  const options = { keepAlive: true, timeout: IDLE_MS, scheduling: "lifo", ...(lookup && { lookup }) } as const;
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return {
    call: (call) =>
      call.url.startsWith("https:") ? callOverNode(call, https, secure, true) : callOverNode(call, http, plain, false),
    close() {
      for (const { freeSockets } of [plain, secure]) {
        for (const sockets of Object.values(freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      }
    },
  };
}

function callOverNode(
  call: HttpCall,
  { request: open }: Pick<typeof NodeHttp, "request"> | Pick<typeof NodeHttps, "request">,
  agent: NodeHttp.Agent,
  tls: boolean,
): Promise<HttpReply> {
  if (call.signal?.aborted) return Promise.resolve(failed("unreachable", false, "the caller gave up"));
  const { maxBytes = MAX_ANSWER_BYTES } = call;
  return new Promise((resolve) => {
    let sent = false;
    let answering = false;
    let request: NodeHttp.ClientRequest;
    const finish = (reply: HttpReply) => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", onAbort);
      resolve(reply);
    };
    const fail = (message: string) => finish(failed(answering ? "bad_answer" : "unreachable", sent, message));
    const stop = (message: string) => {
      fail(message);
      request.destroy();
    };
    const onAbort = () => stop("the caller gave up");
    const timer = setTimeout(() => stop(`no complete answer within ${call.timeoutMs} ms`), call.timeoutMs);
    try {
      request = open({ ...placeOf(call.url), method: call.method, agent, headers: requestHeaders(call) });
    } catch (error) {
      fail(`the request cannot be built (${codeOf(error)})`);
      return;
    }
    call.signal?.addEventListener("abort", onAbort);
    // Invariant: `end` writes the first byte, and it is called only on a connection that stands (TLS verified). Until
    // then nothing can have left, whatever goes wrong.
    const send = () => {
      if (request.destroyed) return;
      sent = true;
      // Head and body go out as one text; Latin-1 is written in half the time, and for ASCII it is the same bytes.
      if (call.body !== undefined && isAscii(call.body)) request.end(call.body, "latin1");
      else request.end(call.body);
    };
    request.on("socket", (socket) => {
      if (request.reusedSocket) send();
      else socket.once(tls ? "secureConnect" : "connect", send);
    });
    request.on("error", (error) => {
      if (codeOf(error).startsWith("HPE_")) answering = true;
      fail(`the connection failed (${codeOf(error)})`);
    });
    request.on("response", (response) => {
      answering = true;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) stop(`the answer is larger than ${maxBytes} bytes`);
        else chunks.push(chunk);
      });
      response.on("error", (error) => fail(`the answer was cut off (${codeOf(error)})`));
      response.on("end", () => {
        // A body that breaks off ends in "error", never here.
        const { headers, statusCode = 0 } = response;
        const body = Buffer.concat(chunks, size);
        finish(answered(statusCode, body, headers["retry-after"], headers["content-encoding"]));
      });
    });
  });
}

/** Parsed once: a service has a handful of URLs and is called for every payment. */
const places = new LRUCache<string, NodeHttp.RequestOptions>({ max: 100 });

function placeOf(url: string): NodeHttp.RequestOptions {
  const known = places.get(url);
  if (known) return known;
  const { protocol, hostname, port, pathname, search, username, password } = new URL(url);
  const place: NodeHttp.RequestOptions = {
    protocol,
    // Node wants the address of an IPv6 host without its brackets.
    hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
    path: pathname + search,
    ...(port !== "" && { port }),
    ...(username !== "" && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
  places.set(url, place);
  return place;
}

/** @param fetch in place of the runtime's own, which is looked up for each call */
export function createFetchClient(fetch?: typeof globalThis.fetch): HttpClient {
  return {
    close() {},
    async call(call) {
      if (call.signal?.aborted) return failed("unreachable", false, "the caller gave up");
      const stop = new AbortController();
      const onAbort = () => stop.abort();
      const timer = setTimeout(onAbort, call.timeoutMs);
      call.signal?.addEventListener("abort", onAbort);
      let answering = false;
      try {
        const response = await (fetch ?? globalThis.fetch)(call.url, {
          method: call.method,
          headers: requestHeaders(call),
          body: call.body ?? null,
          redirect: "manual",
          signal: stop.signal,
        });
        answering = true;
        const { maxBytes = MAX_ANSWER_BYTES } = call;
        const bytes = await readBounded(response.body, maxBytes);
        if (!bytes) return failed("bad_answer", true, `the answer is larger than ${maxBytes} bytes`);
        return answered(response.status, bytes, response.headers.get("retry-after"), undefined);
      } catch (error) {
        if (answering) return failed("bad_answer", true, `the answer was cut off (${codeOf(error)})`);
        return failed("unreachable", !NEVER_CONNECTED.has(codeOf(error)), `the call failed (${codeOf(error)})`);
      } finally {
        clearTimeout(timer);
        call.signal?.removeEventListener("abort", onAbort);
        stop.abort();
      }
    },
  };
}

// `fetch` does not tell when it begins to write; these codes mean that there was no connection to write to.
const NEVER_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

async function readBounded(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (body) {
    const reader = body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > maxBytes) return undefined;
      chunks.push(part.value);
    }
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

function requestHeaders(call: HttpCall): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(call.headers)) headers[name.toLowerCase()] = value;
  headers.accept = "application/json";
  headers["accept-encoding"] = "identity";
  if (call.body !== undefined) {
    headers["content-type"] = "application/json";
    headers["content-length"] = String(byteLength(call.body));
  }
  return headers;
}

const encoder = new TextEncoder();
/** Stateless, because it is never given a part of a text. */
const decoder = new TextDecoder("utf-8", { fatal: true });

const byteLength = (text: string): number =>
  typeof Buffer === "undefined" ? encoder.encode(text).length : Buffer.byteLength(text);

/** Every character of another kind takes two bytes or more. */
const isAscii = (text: string): boolean => byteLength(text) === text.length;

function answered(
  status: number,
  bytes: Uint8Array,
  retryAfter: string | null | undefined,
  encoding: string | undefined,
): HttpAnswer {
  const readable = encoding === undefined || encoding === "identity";
  return {
    outcome: "answer",
    status,
    body: readable ? parseJson(bytes) : undefined,
    retryAfterMs: parseRetryAfter(retryAfter),
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    // Not JSON is an answer like any other: the caller sees `undefined`, which no JSON text parses to.
    return undefined;
  }
}

function parseRetryAfter(value: string | null | undefined): number | undefined {
  if (!value) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function failed(failure: HttpFailure["failure"], sent: boolean, message: string): HttpFailure {
  return { outcome: "failed", failure, sent, message };
}

/** The error's own code, its cause's, or its name: never its message, which may hold what must not be logged. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : codeOf(error.cause);
}
