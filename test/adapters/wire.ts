// Requests over real sockets, as bytes, so that no client normalises a target or hides a header.
import { connect, type Socket } from "node:net";

export interface Received {
  readonly status: number;
  readonly reason: string;
  /** Lower-case names; repeated ones joined with a newline. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly text: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** The bytes of one request that closes its connection. */
export function requestBytes(target: string, { method = "GET", headers = {}, body }: Sent = {}): Buffer {
  const lines = { Host: "shop.test", Connection: "close", ...headers };
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const head = Object.entries({ ...length, ...lines }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join("")}\r\n`), Buffer.from(body ?? "")]);
}

/** Sends one request and reads the answer until the server closes. */
export async function send(port: number, target: string, sent: Sent = {}): Promise<Received> {
  const { socket, answer } = open(port);
  socket.write(requestBytes(target, sent));
  return answer;
}

/** A connection whose test decides what to write and when to hang up. */
export function open(port: number): { socket: Socket; answer: Promise<Received>; bytes: () => Buffer } {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  const answer = new Promise<Received>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => {
      try {
        resolve(parse(Buffer.concat(chunks)));
      } catch (error) {
        reject(error);
      }
    });
  });
  // A test that hangs up does not ask for the answer.
  answer.catch(() => undefined);
  return { socket, answer, bytes: () => Buffer.concat(chunks) };
}

/** Reads one HTTP/1.1 answer; interim answers are skipped. */
export function parse(bytes: Buffer): Received {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`no answer came, only ${JSON.stringify(bytes.toString("latin1"))}`);
  const [start = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const [, code, reason = ""] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(start) ?? [];
  if (Number(code) < 200) return parse(bytes.subarray(end + 4));
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}\n${value}`;
  }
  const raw = bytes.subarray(end + 4);
  const body = /chunked/i.test(headers["transfer-encoding"] ?? "") ? dechunk(raw) : raw;
  return { status: Number(code), reason, headers, body, text: body.toString("utf8") };
}

function dechunk(raw: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = raw.indexOf("\r\n", at);
    if (line < 0) throw new Error("the chunked body broke off");
    const size = Number.parseInt(raw.subarray(at, line).toString("latin1"), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(raw.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
