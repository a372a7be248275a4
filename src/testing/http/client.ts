// A client that hides nothing: requests as bytes over a socket of its own, answers parsed here, no header added, no target
// normalised, no redirect followed, no retry.
import { connect, type Socket } from "node:net";

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly version?: "1.0" | "1.1";
}

export interface Got {
  readonly status: number;
  /** Lower-case names; repeated ones joined with a newline. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON; an empty object where it is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** One connection: ask as often as the server keeps it open. */
export interface Connection {
  /** Sends one request and reads its answer to the end. Rejects when the connection ends before that. */
  ask(target: string, ask?: Ask): Promise<Got>;
  /** Resolves when `text` stands in what has come so far; rejects when the connection ends before that. */
  seen(text: string): Promise<void>;
  hangUp(): void;
}

/** Opens a connection to a port of this machine. */
export function openConnection(port: number): Connection {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  let received = "";
  const looks = new Set<(ended: boolean) => void>();
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    for (const look of looks) look(false);
  });
  socket.on("close", () => {
    for (const look of looks) look(true);
  });
  return {
    seen: (text) =>
      new Promise((resolve, reject) => {
        const look = (ended: boolean) => {
          if (received.includes(text)) resolve();
          else if (ended) reject(new Error(`the connection ended before ${JSON.stringify(text)} came`));
          else return;
          looks.delete(look);
        };
        looks.add(look);
        look(socket.destroyed);
      }),
    ask(target, ask = {}) {
      const answer = readAnswer(socket, ask.method ?? "GET");
      socket.write(bytesOf(port, target, ask));
      return answer;
    },
    hangUp: () => void socket.destroy(),
  };
}

/** One request on a connection of its own. */
export async function askOnce(port: number, target: string, ask: Ask = {}): Promise<Got> {
  const connection = openConnection(port);
  try {
    return await connection.ask(target, { ...ask, headers: { Connection: "close", ...ask.headers } });
  } finally {
    connection.hangUp();
  }
}

function bytesOf(port: number, target: string, { method = "GET", headers = {}, body, version = "1.1" }: Ask): Buffer {
  const length = body === undefined ? {} : { "Content-Length": `${Buffer.byteLength(body)}` };
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...length, ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/${version}\r\n${head}\r\n`), Buffer.from(body ?? "")]);
}

function readAnswer(socket: Socket, method: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const finish = (settle: () => void) => {
      socket.off("data", onData);
      socket.off("close", onClose);
      settle();
    };
    const look = (ended: boolean) => {
      const answer = parse(Buffer.concat(chunks), method, ended);
      if (answer) finish(() => resolve(answer));
      else if (ended)
        finish(() => reject(new Error(`the connection ended after ${Buffer.concat(chunks).length} bytes`)));
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      look(false);
    };
    const onClose = () => look(true);
    socket.on("data", onData);
    socket.on("close", onClose);
    if (socket.destroyed) onClose();
  });
}

/** The answer, once it is complete; interim answers are skipped. */
function parse(bytes: Buffer, method: string, ended: boolean): Got | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [start = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1]);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parse(rest, method, ended);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}\n${value}`;
  }
  const body = bodyOf(rest, headers, method === "HEAD" || status === 204 || status === 304, ended);
  if (!body) return undefined;
  const text = body.toString("utf8");
  const isJson = /json/.test(headers["content-type"] ?? "") && text !== "";
  return { status, headers, body, text, json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

/** The body by its own framing; undefined while it is not complete. */
function bodyOf(rest: Buffer, headers: Record<string, string>, none: boolean, ended: boolean): Buffer | undefined {
  if (none) return Buffer.alloc(0);
  if (/chunked/i.test(headers["transfer-encoding"] ?? "")) return dechunk(rest);
  const length = headers["content-length"];
  if (length === undefined) return ended ? rest : undefined;
  return rest.length >= Number(length) ? rest.subarray(0, Number(length)) : undefined;
}

function dechunk(rest: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = rest.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(rest.subarray(at, line).toString("latin1"), 16);
    if (size === 0) return rest.indexOf("\r\n\r\n", line) < 0 ? undefined : Buffer.concat(parts);
    const next = line + 2 + size + 2;
    if (rest.length < next) return undefined;
    parts.push(rest.subarray(line + 2, next - 2));
    at = next;
  }
}
