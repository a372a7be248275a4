// A wire between a process and its store that can be cut, be slow, or be dead for a while: a TCP proxy.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Wire {
  /** The store's URL by way of this wire. */
  readonly url: string;
  /** Breaks every connection; new ones are made as ever. */
  cut(): void;
  /** Breaks every connection and lets nobody through until `mend`. */
  sever(): void;
  /** Everything arrives so many milliseconds later. */
  slow(ms: number): void;
  mend(): void;
  /** Another server takes over: connections are broken, and new ones lead to it. */
  turnTo(url: string): void;
  close(): Promise<void>;
}

/** @param url of the server behind it */
export async function openWire(url: string): Promise<Wire> {
  let behind = new URL(url);
  const sockets = new Set<Socket>();
  let severed = false;
  let delay = 0;

  const server = createServer((near) => {
    if (severed) {
      near.destroy();
      return;
    }
    const far = connect(Number(behind.port), behind.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      // In order: timers of one length keep it, and a longer one is never followed by a shorter one before it is through.
      let passed = Promise.resolve();
      from.on("data", (bytes: Buffer) => {
        const ms = delay;
        if (ms > 0) passed = passed.then(() => new Promise((resolve) => setTimeout(resolve, ms)));
        void passed.then(() => to.writable && to.write(bytes));
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: own.href,
    cut,
    sever() {
      severed = true;
      cut();
    },
    slow(ms) {
      delay = ms;
    },
    mend() {
      severed = false;
      delay = 0;
    },
    turnTo(next) {
      behind = new URL(next);
      cut();
    },
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
