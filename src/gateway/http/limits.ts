// Requests of an account in a minute from its first one: counted once for all keys and, through Redis, for all instances, and
// judged by the plan of the key that is used. Redis down = this process counts alone: stricter or looser, never unlimited.
import type { Redis } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";

/** After a failure Redis is left alone for this long. */
const PAUSE_MS = 1_000;
const WARN_MS = 60_000;

export interface Taken {
  readonly ok: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window is over. */
  readonly resetSeconds: number;
}

export interface Limits {
  /** Counts one request of the account. One that is refused is not counted: it takes nothing from the account's other keys. */
  take(account: string, perMinute: number): Promise<Taken>;
  /** How many of the minute are taken, without taking one. */
  used(account: string): Promise<number>;
}

export interface LimitsParts {
  /** Requests in a minute where it is left out; `name` keeps the counters apart. */
  readonly window?: { readonly name: string; readonly seconds: number };
  readonly redis: Redis | undefined;
  readonly logger: GatewayLogger;
  readonly now: () => number;
}

const REQUESTS = { name: "rate", seconds: 60 };

export function createLimits({ redis, logger, now, window = REQUESTS }: LimitsParts): Limits {
  // How much is too much depends on the key, so the counter itself has no limit.
  const counter = {
    points: Number.MAX_SAFE_INTEGER,
    duration: window.seconds,
    keyPrefix: `tollgate:${window.name}`,
  };
  const own = new RateLimiterMemory(counter);
  const shared = redis && new RateLimiterRedis({ ...counter, storeClient: redis });
  /** Epoch milliseconds from which Redis is tried again; undefined = it answers. */
  let tryAt: number | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function failed(error: unknown): void {
    tryAt = now() + PAUSE_MS;
    if (now() - warnedAt < WARN_MS) return;
    warnedAt = now();
    logger.warn({ reason: reasonOf(error) }, "Redis does not answer: this process counts requests by itself");
  }

  /** Beside the requests, which never wait for a Redis that is down. */
  function tryAgain(client: Redis): void {
    if (tryAt === undefined || now() < tryAt) return;
    tryAt = Number.POSITIVE_INFINITY;
    client.ping().then(() => {
      tryAt = undefined;
    }, failed);
  }

  async function count(account: string, change: "consume" | "reward"): Promise<RateLimiterRes> {
    if (!redis || !shared) return own[change](account);
    tryAgain(redis);
    if (tryAt !== undefined) return own[change](account);
    try {
      const counted = await shared[change](account);
      // Remembered, so that this process goes on from there when Redis is gone.
      // Of no seconds it would be remembered for ever.
      await own.set(account, counted.consumedPoints, Math.max(1, counted.msBeforeNext) / 1000);
      return counted;
    } catch (error) {
      failed(error);
      return own[change](account);
    }
  }

  return {
    async take(account, perMinute) {
      const { consumedPoints, msBeforeNext } = await count(account, "consume");
      const ok = consumedPoints <= perMinute;
      if (!ok) await count(account, "reward");
      return {
        ok,
        limit: perMinute,
        remaining: Math.max(0, perMinute - consumedPoints),
        resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
      };
    },
    async used(account) {
      if (shared && tryAt === undefined) {
        try {
          return (await shared.get(account))?.consumedPoints ?? 0;
        } catch (error) {
          failed(error);
        }
      }
      return (await own.get(account))?.consumedPoints ?? 0;
    },
  };
}

/** As they stand on every authenticated answer. */
export const rateHeaders = ({ limit, remaining, resetSeconds }: Taken): Record<string, string> => ({
  "RateLimit-Limit": String(limit),
  "RateLimit-Remaining": String(remaining),
  "RateLimit-Reset": String(resetSeconds),
});
