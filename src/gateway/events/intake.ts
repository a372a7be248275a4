// The messages of one socket, carried out one after the other. While one is under way the socket is not read, so what waits is at
// most what its connection had brought already.
import type { RawData, WebSocket } from "ws";
import type { Clock } from "../../clock.js";

/** False: the next message only in the next second. Never rejects. */
export type CarryOut = (data: Buffer, isBinary: boolean) => Promise<boolean>;

/** For whoever has said more than it may. */
const PAUSE_MS = 1_000;

export function createIntake(socket: WebSocket, clock: Pick<Clock, "after">, carryOut: CarryOut): void {
  const waiting: (readonly [data: RawData, isBinary: boolean])[] = [];
  let running = false;
  let wake = () => {};
  let cancel = () => {};
  socket.once("close", () => {
    waiting.length = 0;
    cancel();
    wake();
  });
  const pause = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
      cancel = clock.after(PAUSE_MS, resolve);
    });

  async function run(): Promise<void> {
    running = true;
    socket.pause();
    for (let next = waiting.shift(); next && socket.readyState === socket.OPEN; next = waiting.shift()) {
      // Safe because nobody has asked for another form of data than buffers.
      const mayGoOn = await carryOut(next[0] as Buffer, next[1]);
      if (!mayGoOn && socket.readyState === socket.OPEN) await pause();
    }
    running = false;
    // Also where it is closing: the peer's close frame has to be read.
    socket.resume();
  }

  socket.on("message", (data, isBinary) => {
    waiting.push([data, isBinary]);
    if (!running) void run();
  });
}
