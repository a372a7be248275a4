// `tollgate/store/redis`: payments remembered in a Redis that several processes share, by scripts that run whole or not at all. A
// client is loaded when the store is first used, unless one is given.
import { PaywallConfigError } from "../errors.js";
import type { RedisClient } from "./redis/client.js";
import { createSharedStore, TIMEOUT_MS } from "./shared-store.js";
import type { Store } from "./store.js";

export type { IoredisClient, NodeRedisCall, NodeRedisClient, RedisClient } from "./redis/client.js";
export type { Store } from "./store.js";

export type RedisStoreOptions = RedisUrl | RedisClientOption;

interface RedisCommon {
  /** Tells several shops in one Redis apart; default `tollgate`. All processes of a shop need the same. */
  readonly name?: string;
  /** Bytes of kept answers; default 64 MiB. */
  readonly maxKeptBytes?: number;
  /** For one call; default 5000. Longer than that and the payment is refused for now. */
  readonly timeoutMs?: number;
}
export interface RedisUrl extends RedisCommon {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. Needs `ioredis` or `redis`. */
  readonly url: string;
}
export interface RedisClientOption extends RedisCommon {
  /** A client of your own, of `ioredis` or of `redis` (connected), also of a cluster; `close()` leaves it open. */
  readonly client: RedisClient;
}

/**
 * Makes a store in a Redis, which has to run with `maxmemory-policy noeviction`.
 *
 * @throws PaywallConfigError where the options name no Redis.
 * @example createPaywall({ payTo, network: "base", store: redisStore({ url: "redis://cache.internal:6379" }) });
 */
export function redisStore(options: RedisStoreOptions): Store {
  const { name = "tollgate", timeoutMs = TIMEOUT_MS } = options;
  const problem = ("url" in options && !/^rediss?:\/\//i.test(options.url) && NO_URL) || (!NAME.test(name) && BAD_NAME);
  if (problem) throw new PaywallConfigError([{ path: "store", code: "invalid", message: problem }]);
  const open = async () => (await import("./redis/open.js")).openRedis(options);
  return createSharedStore({ name: "redis", timeoutMs, open });
}

/** What a hash tag and a key can hold without being misread. */
const NAME = /^[\w.:-]{1,64}$/;
const BAD_NAME = "expected a name of 1 to 64 letters, digits and . _ : - for the store's part of the Redis";

/** A URL of a Redis holds its password, so it is not repeated. */
const NO_URL = 'expected "redis://host:6379" or "rediss://host:6379" (what came is not shown)';
