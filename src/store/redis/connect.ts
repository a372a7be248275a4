// A connection of our own to a Redis, by its URL, through whichever client is installed.
import type { Redis } from "ioredis";
import type { createClient } from "redis";
import { PaywallConfigError } from "../../errors.js";
import { findPeer } from "../load-peer.js";
import { type Run, runWith } from "./client.js";

export interface Connected {
  readonly run: Run;
  close(): Promise<void>;
}

/** Connects; a connection that breaks is made again, and what was asked on it fails. */
export async function connect(url: string, timeoutMs: number): Promise<Connected> {
  const ioredis = await findPeer<{ Redis: typeof Redis }>("ioredis");
  if (ioredis) return openIoredis(ioredis.Redis, url, timeoutMs);
  const redis = await findPeer<{ createClient: typeof createClient }>("redis");
  if (redis) return openNodeRedis(redis.createClient, url, timeoutMs);
  const message = "the store needs ioredis or redis, and neither is installed: npm install ioredis";
  throw new PaywallConfigError([{ path: "store", code: "missing_package", message }]);
}

function openIoredis(Client: typeof Redis, url: string, timeoutMs: number): Connected {
  const client = new Client(url, {
    connectTimeout: timeoutMs,
    // Invariant: a commit is never sent twice. Its answer was lost, and the store says so.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 1,
  });
  // Safe because every call on a broken connection is told so itself; without a listener the client writes to the console.
  client.on("error", () => undefined);
  const holds = { ref: () => client.stream?.ref?.(), unref: () => client.stream?.unref?.() };
  return { run: idleWhenDone(runWith(client), holds), close: async () => client.disconnect() };
}

async function openNodeRedis(create: typeof createClient, url: string, timeoutMs: number): Promise<Connected> {
  const client = create({ url, disableOfflineQueue: true, socket: { connectTimeout: timeoutMs } });
  // Safe because every call on a broken connection is told so itself; without a listener the process would end.
  client.on("error", () => undefined);
  await client.connect();
  return { run: idleWhenDone(runWith(client), client), close: async () => client.destroy() };
}

/** A connection on which nothing is awaited keeps no process alive. */
function idleWhenDone(run: Run, connection: { ref(): void; unref(): void }): Run {
  let open = 0;
  return async (...call) => {
    open += 1;
    connection.ref();
    try {
      return await run(...call);
    } finally {
      open -= 1;
      if (open === 0) connection.unref();
    }
  };
}
