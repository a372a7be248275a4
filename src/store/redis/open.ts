// Opens the store in the Redis that the options name. Loaded when the store is first used.
import type { RedisStoreOptions } from "../redis.js";
import { type Backend, TIMEOUT_MS } from "../shared-store.js";
import { createRedisBackend } from "./backend.js";
import { runWith } from "./client.js";
import { connect } from "./connect.js";
import { scriptsOf } from "./scripts.js";

const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** By a client of the seller's own, or by a URL. `ahead` moves the store's time: see `scriptsOf`. */
export async function openRedis(options: RedisStoreOptions, ahead?: string): Promise<Backend> {
  const { name = "tollgate", maxKeptBytes = MAX_KEPT_BYTES, timeoutMs = TIMEOUT_MS } = options;
  const connected =
    "client" in options
      ? { run: runWith(options.client), close: async () => {} }
      : await connect(options.url, timeoutMs);
  return createRedisBackend({ ...connected, scripts: scriptsOf(ahead), prefix: `{${name}}:`, maxKeptBytes });
}
