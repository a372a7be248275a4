// The event sockets of one gateway: whoever is let in is told, in the order of the commits, what happens to its account's payments,
// for as long as its key is good and it reads. What becomes of a socket:
//
//   upgrade ── refused (HTTP) · unknown ── its first message ── refused (4401 …) · session ── cut (ends.ts) · left
import type { Redis } from "ioredis";
import type { WebSocket } from "ws";
import { type Clock, systemClock } from "../../clock.js";
import { fault } from "../errors.js";
import type { FloodGate } from "../http/flood.js";
import { createLimits, type Limits } from "../http/limits.js";
import type { GatewayParts } from "../parts.js";
import { createCommands, readCommand, refuse } from "./commands.js";
import { createEntrance, type Guest } from "./entrance.js";
import { createFeeds } from "./feeds.js";
import { openHints } from "./hints.js";
import { createIntake } from "./intake.js";
import { createLiveSocket, type LiveSocket } from "./live-socket.js";
import type { EventMetrics } from "./metrics.js";
import { startPulse } from "./pulse.js";
import { createSeats } from "./seats.js";
import { openSession, type Session } from "./session.js";
import type { AuthenticateRequest } from "./subscriber.js";
import { EVENT_TIMES, type EventTimes } from "./times.js";
import { createUpgrade, type Upgrade } from "./upgrade.js";
import { createWaiting } from "./waiting.js";

export interface EventSockets {
  /** For the `upgrade` event of an http server. */
  readonly upgrade: Upgrade;
  /** Somebody of this process has written a payment of this account. */
  written(account: string): void;
  /** Ends every socket with 1001; no further one opens. */
  close(): Promise<void>;
}

export interface EventSocketsOptions {
  readonly redis?: Redis | undefined;
  readonly gate: FloodGate;
  /** Requests a minute of an account. */
  readonly limits: Limits;
  readonly metrics: EventMetrics;
  /** Asked in this order, before API keys. */
  readonly authenticators?: readonly AuthenticateRequest[];
  /** In place of the usual: for tests. */
  readonly times?: Partial<EventTimes>;
}

/** @example server.on("upgrade", createEventSockets(parts, { gate, limits, metrics }).upgrade); */
export function createEventSockets(
  parts: Pick<GatewayParts, "settings" | "database" | "networks" | "logger" | "now">,
  { redis, gate, limits, metrics, authenticators = [], times: own = {} }: EventSocketsOptions,
): EventSockets {
  const { logger, now } = parts;
  const times: EventTimes = { ...EVENT_TIMES, ...own };
  const clock: Clock = { now, after: systemClock.after };
  const open = new Set<Session>();
  const all = new Set<LiveSocket>();
  let closed = false;

  const seats = createSeats({ redis, logger, clock, seatMs: times.seatMs });
  const entrance = createEntrance({ ...parts, gate, limits, seats });
  const feeds = createFeeds({ ...parts, nextBeat: () => pulse.next(), isClosed: () => closed });
  const pulse = startPulse({ ...parts, feeds, seats, open, clock, times, refusalOf: entrance.refusalOf });
  const hints = openHints(redis, (account) => (account === undefined ? feeds.wakeAll() : feeds.wake(account)));
  const messages = createLimits({ redis, logger, now, window: { name: "messages", seconds: 1 } });
  const carryOut = createCommands({ ...parts, messages });
  const waiting = createWaiting();

  function toLive(socket: WebSocket): LiveSocket {
    const live = createLiveSocket(socket, clock, times);
    all.add(live);
    metrics.opened();
    live.onClosed((end) => {
      all.delete(live);
      metrics.ended(end);
      if (end !== "left") logger.info({ end }, "an event socket was ended");
    });
    return live;
  }

  function begin(live: LiveSocket, { subscriber, seat }: Guest): Session {
    const session = openSession(live, subscriber, feeds, metrics);
    open.add(session);
    live.onClosed(() => {
      open.delete(session);
      seat.free();
    });
    return session;
  }

  /** Undefined = it was cut. */
  async function introduce(live: LiveSocket, address: string, data: Buffer, isBinary: boolean) {
    const read = readCommand(data, isBinary);
    const isKey = read.ok && read.command.method === "authenticate";
    const refusal = read.ok ? NO_KEY_YET : read;
    // Invariant: nothing is done, and nothing told, before somebody is known.
    const entered = isKey ? await entrance.byKey(`Bearer ${read.command.apiKey}`, address) : refusal;
    if (entered.ok) {
      if (!live.closed) return begin(live, entered.guest);
      entered.guest.seat.free();
      return undefined;
    }
    refuse(live, entered);
    live.cut(entered.code === "RATE_LIMIT" ? "rate" : entered.code === "FORBIDDEN" ? "forbidden" : "unauthorized");
    return undefined;
  }

  const upgrade = createUpgrade({
    ...{ settings: parts.settings, entrance, authenticators, metrics, isClosed: () => closed, waiting: waiting.count },
    opened(socket, guest) {
      const session = begin(toLive(socket), guest);
      createIntake(socket, clock, (data, isBinary) => carryOut(session, data, isBinary));
    },
    unknown(socket, address) {
      const live = toLive(socket);
      let session: Session | undefined;
      const known = waiting.add(address);
      const cancel = clock.after(times.authenticateMs, () => {
        refuse(live, LATE);
        live.cut("late");
      });
      const isOver = () => {
        known();
        cancel();
      };
      live.onClosed(isOver);
      createIntake(socket, clock, async (data, isBinary) => {
        if (session) return carryOut(session, data, isBinary);
        session = await introduce(live, address, data, isBinary).catch(() => {
          live.cut("unavailable");
          return undefined;
        });
        if (session) isOver();
        return true;
      });
    },
  });

  return {
    upgrade,
    written(account) {
      feeds.wake(account);
      hints.send(account);
    },
    async close() {
      if (closed) return;
      closed = true;
      for (const live of all) live.cut("shutdown");
      hints.close();
      await pulse.stop();
    },
  };
}

const NO_KEY_YET = fault("UNAUTHORIZED", "expected { method: authenticate, apiKey } as the first message");
const LATE = fault("UNAUTHORIZED", "no authentication came in time");
