// How many sockets each account has open: counted in this process and, through Redis, in all of them. The seat of a socket whose
// process has died is free after a few seconds. Redis down = this process counts alone.
import type { Redis } from "ioredis";
import type { Clock } from "../../clock.js";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";

export interface Seat {
  free(): void;
}

export interface Seats {
  /** Undefined = all that the account may have are taken. */
  take(account: string, most: number): Promise<Seat | undefined>;
  /** Keeps the seats of this process: to be called several times in `seatMs`. */
  renew(): Promise<void>;
}

export interface SeatsParts {
  readonly redis: Redis | undefined;
  readonly logger: Pick<GatewayLogger, "warn">;
  readonly clock: Clock;
  readonly seatMs: number;
}

/** Takes a seat unless there are `most`, by the clock of Redis. Those that were not renewed in time are gone. */
const TAKE = `
local t = redis.call("TIME")
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call("ZADD", KEYS[1], now + ARGV[3], ARGV[1])
redis.call("PEXPIRE", KEYS[1], ARGV[3])
return 1`;
const RENEW = `
local t = redis.call("TIME")
local ends = t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[1]
for i = 2, #ARGV do redis.call("ZADD", KEYS[1], ends, ARGV[i]) end
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return 1`;
const WARN_MS = 60_000;
/** Seats that one call renews: no call of Redis holds it up for long. */
const AT_ONCE = 500;

const keyOf = (account: string): string => `tollgate:seats:{${account}}`;

export function createSeats({ redis, logger, clock, seatMs }: SeatsParts): Seats {
  const taken = new Map<string, Set<string>>();
  let warnedAt = Number.NEGATIVE_INFINITY;

  function failed(error: unknown): void {
    if (clock.now() - warnedAt < WARN_MS) return;
    warnedAt = clock.now();
    logger.warn({ reason: reasonOf(error) }, "Redis does not answer: this process counts event sockets by itself");
  }

  function free(account: string, id: string): void {
    const own = taken.get(account);
    if (!own?.delete(id)) return;
    if (own.size === 0) taken.delete(account);
    redis?.zrem(keyOf(account), id).catch(failed);
  }

  return {
    async take(account, most) {
      const own = taken.get(account) ?? new Set();
      if (own.size >= most) return undefined;
      const id = crypto.randomUUID();
      // Before Redis is asked: what comes meanwhile finds it taken.
      taken.set(account, own.add(id));
      const seat: Seat = { free: () => free(account, id) };
      if (!redis) return seat;
      try {
        const got = await redis.eval(TAKE, 1, keyOf(account), id, most, seatMs);
        if (got === 1) return seat;
        seat.free();
        return undefined;
      } catch (error) {
        failed(error);
        return seat;
      }
    },
    async renew() {
      if (!redis) return;
      const calls = [...taken].flatMap(([account, ids]) => {
        const all = [...ids];
        const parts = Math.ceil(all.length / AT_ONCE);
        return Array.from({ length: parts }, (_, at) =>
          redis.eval(RENEW, 1, keyOf(account), seatMs, ...all.slice(at * AT_ONCE, (at + 1) * AT_ONCE)),
        );
      });
      await Promise.all(calls).catch(failed);
    },
  };
}
