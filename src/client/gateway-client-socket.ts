// One connection to a gateway's events, as a list of what came: the runtime's own WebSocket, or `ws` where there is none (Node 20).
// The key goes by the first message, which every runtime can send.

/** As much of a WebSocket as is used here; that of browsers, of Node and of `ws` have it. */
interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: "open" | "close" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}
export type OpenSocket = new (url: string) => Socket;

export interface EventConnection {
  say(message: object): void;
  /** What came next, as text; undefined where nothing came in time, or nothing comes any more. */
  next(mostMs: number): Promise<string | undefined>;
  readonly over: boolean;
  close(): void;
}

/** The name is no literal, so that a bundler leaves the package out. */
const PEER: string = "ws";

/** Undefined where the runtime has no WebSocket and `ws` is not installed. */
export async function findWebSocket(): Promise<OpenSocket | undefined> {
  if (typeof globalThis.WebSocket === "function") return globalThis.WebSocket;
  try {
    const { WebSocket } = (await import(/* @vite-ignore */ /* webpackIgnore: true */ PEER)) as {
      WebSocket: OpenSocket;
    };
    return WebSocket;
  } catch {
    return undefined;
  }
}

/** Messages that wait for a slow reader, and their characters. Beyond, the connection is given up: the rest is asked for again. */
const MOST_WAITING = 1_000;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** @param first what is said as soon as it is open */
export function connectEvents(Socket: OpenSocket, url: string, first: object): EventConnection {
  const socket = new Socket(url);
  const waiting: string[] = [];
  let characters = 0;
  let over = false;
  let wake = () => {};
  const end = () => {
    over = true;
    wake();
  };
  const close = () => {
    end();
    try {
      socket.close();
    } catch {
      // Safe because it is over in any case: some cannot be closed while they connect.
    }
  };
  socket.addEventListener("open", () => socket.send(JSON.stringify(first)));
  socket.addEventListener("close", end);
  socket.addEventListener("error", end);
  socket.addEventListener("message", ({ data }) => {
    if (over || typeof data !== "string") return;
    characters += data.length;
    if (waiting.push(data) >= MOST_WAITING || characters > MOST_CHARACTERS) close();
    wake();
  });
  return {
    say(message) {
      if (!over) socket.send(JSON.stringify(message));
    },
    close,
    get over() {
      return over;
    },
    async next(mostMs) {
      if (waiting.length === 0 && !over) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, mostMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      const text = waiting.shift();
      characters -= text?.length ?? 0;
      return text;
    },
  };
}
