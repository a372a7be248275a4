// What is done for all sockets at once, again and again: what other instances wrote is looked for, keys that are not good any more
// end their sockets, seats are kept, the dead are found. A few statements a beat, however many sockets there are.
import type { Clock } from "../../clock.js";
import type { ApiKey } from "../caller.js";
import type { Fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { reasonOf } from "../reason.js";
import { refuse } from "./commands.js";
import type { Feeds } from "./feeds.js";
import type { LiveSocket } from "./live-socket.js";
import type { Seats } from "./seats.js";
import type { Subscriber } from "./subscriber.js";
import type { EventTimes } from "./times.js";

/** An authenticated socket, as the pulse sees it. */
export interface Watched {
  readonly socket: LiveSocket;
  readonly subscriber: Subscriber;
}

export interface PulseParts extends Pick<GatewayParts, "database" | "logger"> {
  readonly feeds: Pick<Feeds, "accounts" | "wake">;
  readonly seats: Pick<Seats, "renew">;
  readonly open: ReadonlySet<Watched>;
  readonly refusalOf: (key: ApiKey) => Fault | undefined;
  readonly clock: Clock;
  readonly times: EventTimes;
}

export interface Pulse {
  /** Resolves at the end of the beat that comes next, or when it has stopped. */
  next(): Promise<void>;
  stop(): Promise<void>;
}

const WARN_MS = 60_000;

export function startPulse({ database, logger, feeds, seats, open, refusalOf, clock, times }: PulseParts): Pulse {
  const waiting = new Set<() => void>();
  let stopped = false;
  let beating: Promise<void> | undefined;
  let checkedAt = clock.now();
  let pingedAt = clock.now();
  let warnedAt = Number.NEGATIVE_INFINITY;
  let cancel = clock.after(times.beatMs, begin);

  function begin(): void {
    beating = beat().finally(() => {
      if (!stopped) cancel = clock.after(times.beatMs, begin);
      const all = [...waiting];
      waiting.clear();
      for (const wake of all) wake();
    });
  }

  async function beat(): Promise<void> {
    if (clock.now() - pingedAt >= times.pingMs) {
      pingedAt = clock.now();
      for (const { socket } of open) socket.ping();
    }
    if (open.size === 0) {
      checkedAt = clock.now();
      return;
    }
    const cares = [seats.renew(), checkSubscribers(), lookForEvents()];
    for (const { status, reason } of (await Promise.allSettled(cares)).filter((one) => one.status === "rejected")) {
      if (clock.now() - warnedAt < WARN_MS) continue;
      warnedAt = clock.now();
      logger.warn({ status, reason: reasonOf(reason) }, "event sockets could not be looked after");
    }
    // Invariant: nobody is told anything for long by a key of which nothing is known.
    if (clock.now() - checkedAt > times.uncheckedMs) for (const { socket } of open) socket.cut("unavailable");
  }

  /** Keys in one statement for all; whoever opened a socket after it began is looked at by the next. */
  async function checkSubscribers(): Promise<void> {
    const all = [...open];
    const began = clock.now();
    const ids = new Set(all.flatMap(({ subscriber: { key } }) => (key ? [key.id] : [])));
    const usable = new Map((await database.keys.usable([...ids])).map((key) => [key.id, key]));
    for (const { socket, subscriber } of all) {
      if (!subscriber.key) continue;
      const key = usable.get(subscriber.key.id);
      if (!key) socket.cut("unauthorized", OVER);
      else if (refusalOf(key)) endForbidden(socket, refusalOf(key));
    }
    await Promise.all(
      all.map(async ({ socket, subscriber: { isAlive } }) => {
        if (isAlive && !(await isAlive())) socket.cut("unauthorized", OVER);
      }),
    );
    checkedAt = began;
  }

  async function lookForEvents(): Promise<void> {
    const latest = await database.events.latestOf(feeds.accounts());
    for (const [account, last] of latest) feeds.wake(account, last);
  }

  return {
    next: () => (stopped ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
    async stop() {
      stopped = true;
      cancel();
      for (const wake of waiting) wake();
      await beating;
    },
  };
}

const OVER = {
  type: "error",
  code: "UNAUTHORIZED",
  message: "the API key or session of this socket was revoked or is over",
} as const;

function endForbidden(socket: LiveSocket, refusal: Fault | undefined): void {
  if (refusal) refuse(socket, refusal);
  socket.cut("forbidden");
}
