// The gateway's connection to Redis: fails fast, so that whoever asks can fall back, and heals by itself.
import type { Redis } from "ioredis";
import { PaywallConfigError } from "../../errors.js";
import { findPeer } from "../../store/load-peer.js";

/** A call that has no answer by then has failed. */
const TIMEOUT_MS = 2_000;
const MAX_PAUSE_MS = 2_000;

/** Opens the connection. One that cannot be made is tried again in the background: Redis may be down at start as at any time. */
export async function openRedis(url: string): Promise<Redis> {
  const peer = await findPeer<{ Redis: typeof Redis }>("ioredis");
  if (!peer) {
    const message = "REDIS_URL needs ioredis, which is not installed: npm install ioredis";
    throw new PaywallConfigError([{ path: "redisUrl", code: "missing_package", message }], "gateway");
  }
  const client = new peer.Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 6), MAX_PAUSE_MS),
  });
  // Safe because every call on a broken connection is told so itself; without a listener the client writes to the console.
  client.on("error", () => undefined);
  // Said by readiness and by the limits, each time they ask in vain.
  await client.connect().catch(() => undefined);
  return client;
}
