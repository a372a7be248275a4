// One WebSocket: what is sent on it, how much may wait for its reader, and how it ends. Whatever a slow or dead peer does, what is
// kept for it is bounded by FULL_BYTES and one message.
import type { WebSocket } from "ws";
import type { Clock } from "../../clock.js";
import type { EventMessage } from "../schemas/index.js";
import { ENDS, type EndName } from "./ends.js";
import { type EventTimes, FULL_BYTES } from "./times.js";

export interface LiveSocket {
  readonly closed: boolean;
  /** More waits for the reader than it should be given at once. */
  readonly full: boolean;
  say(message: EventMessage): void;
  /** False: it is full. */
  send(frame: Buffer): boolean;
  /** Resolves when nothing waits for the reader any more; one that takes nothing for too long is cut. */
  drained(): Promise<void>;
  /** The reason goes as a message, where there is a code for it, and with the close frame. */
  cut(end: EndName, message?: Extract<EventMessage, { type: "error" }>): void;
  /** Asks whether somebody is there; ends the connection where nobody has answered the last time. */
  ping(): void;
  /** `left`: the peer has gone by itself, or its connection has. */
  onClosed(task: (end: EndName | "left") => void): void;
}

export function createLiveSocket(socket: WebSocket, clock: Clock, times: EventTimes): LiveSocket {
  const endings: ((end: EndName | "left") => void)[] = [];
  let closed = false;
  let answered = true;
  /** Of what was handed over last: all before it is gone when it is. */
  let written: Promise<void> = Promise.resolve();

  function close(end: EndName | "left"): void {
    if (closed) return;
    closed = true;
    for (const task of endings) task(end);
  }
  socket.on("close", () => close("left"));
  // Safe because `ws` closes the socket by itself after an error, with the code that says which.
  socket.on("error", () => close("left"));
  socket.on("pong", () => {
    answered = true;
  });
  // Invariant: what a peer asks for without reading is bounded too; answers to pings would be kept for it without an end.
  socket.on("ping", (data) => {
    if (socket.bufferedAmount < FULL_BYTES) socket.pong(data);
    else cut("slow");
  });

  function send(frame: Buffer | string): boolean {
    if (closed) return true;
    written = new Promise((resolve) => socket.send(frame, { binary: false }, () => resolve()));
    return socket.bufferedAmount < FULL_BYTES;
  }
  const say: LiveSocket["say"] = (message) => void send(JSON.stringify(message));

  const cut: LiveSocket["cut"] = (name, message) => {
    if (closed) return;
    if (message) say(message);
    const { code, reason } = ENDS[name];
    close(name);
    socket.close(code, reason);
    // Who does not read never sees the close frame, and is held no longer than this.
    const cancel = clock.after(times.closeMs, () => socket.terminate());
    socket.once("close", cancel);
  };

  return {
    get closed() {
      return closed;
    },
    get full() {
      return socket.bufferedAmount >= FULL_BYTES;
    },
    say,
    send,
    cut,
    async drained() {
      if (closed || socket.bufferedAmount === 0) return;
      let left = socket.bufferedAmount;
      let cancel = clock.after(times.slowMs, look);
      /** After the process has had a turn to write: one that was held up itself blames no reader. */
      function look(): void {
        setImmediate(() => {
          if (closed || socket.bufferedAmount === 0) return;
          if (socket.bufferedAmount >= left) return cut("slow");
          left = socket.bufferedAmount;
          cancel = clock.after(times.slowMs, look);
        });
      }
      const gone = new Promise<void>((resolve) => endings.push(() => resolve()));
      await Promise.race([written, gone]);
      cancel();
    },
    ping() {
      if (closed) return;
      if (!answered) {
        socket.terminate();
        return;
      }
      answered = false;
      socket.ping();
    },
    onClosed: (task) => void endings.push(task),
  };
}
