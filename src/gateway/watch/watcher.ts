// Follows payments to their end: in the background by rounds, at once for whoever asks or waits. What happens to a payment
// stands in transitions.ts, how it is found out in sight.ts.
import { setMaxListeners } from "node:events";
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../../clock.js";
import type { Watcher } from "../parts.js";
import type { Payment } from "../payment.js";
import { repairSent } from "../send/repair.js";
import type { AnnouncedDatabase } from "./announce.js";
import { type LookOptions, look, type WatchParts } from "./look.js";
import { waitPace } from "./pace.js";
import { createRounds } from "./rounds.js";
import { resumeSettlement } from "./settlement.js";

export interface WatcherOptions {
  /** Whose announcements wake who waits; without them he looks at the chain's pace. */
  readonly onChange?: AnnouncedDatabase["onChange"];
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Milliseconds between two rounds of the background, 1,000. */
  readonly intervalMs?: number;
}

/** The chain is asked about one payment at most this often, however many ask. */
const REFRESH_MS = 1_000;
const MOST_REMEMBERED = 10_000;

/**
 * The watcher of one instance. `start` begins the background; `refresh` and `wait` work without it.
 *
 * @example
 * const { database, onChange } = announceChanges(opened, logger);
 * const watcher = createWatcher({ ...parts, database }, { onChange });
 * watcher.start();
 */
export function createWatcher(parts: WatchParts, options: WatcherOptions = {}): Watcher {
  const { clock = { now: parts.now, after: systemClock.after }, random = Math.random, intervalMs = 1_000 } = options;
  const { payments } = parts.database;
  const closing = new AbortController();
  // Each wait and each look listens to it while it lasts: their number is bounded by what runs, not by a guess at a leak.
  setMaxListeners(0, closing.signal);
  const lookOptions: LookOptions = {
    clock,
    closing: closing.signal,
    repairs: {
      sent: (payment) => repairSent(parts, payment),
      settlement: (payment) => resumeSettlement(parts, payment),
    },
  };
  const inFlight = new Map<string, Promise<Payment>>();
  const lookedAt = new LRUCache<string, number>({ max: MOST_REMEMBERED });
  const wakes = createWakes(options.onChange);

  const rounds = createRounds({
    clock,
    random,
    intervalMs,
    logger: parts.logger,
    takeDue: (limit, leaseMs) => payments.takeDue(limit, leaseMs),
    look: async (payment) => (await look(parts, lookOptions, payment, true)).answered,
  });

  async function freshen({ id }: Payment, maxAgeMs: number): Promise<Payment> {
    const known = await payments.get(id);
    if (!known) throw new Error(`the record of payment ${id} is gone`);
    if (known.dueAt === null || clock.now() - (lookedAt.get(id) ?? Number.NEGATIVE_INFINITY) < maxAgeMs) return known;
    lookedAt.set(id, clock.now());
    return (await look(parts, lookOptions, known, false)).payment;
  }

  /** Single flight: who comes while a look goes on gets its result. */
  function refreshed(payment: Payment, maxAgeMs: number): Promise<Payment> {
    const running = inFlight.get(payment.id);
    if (running) return running;
    const asked = freshen(payment, maxAgeMs).finally(() => inFlight.delete(payment.id));
    inFlight.set(payment.id, asked);
    return asked;
  }

  return {
    refresh: (payment) => refreshed(payment, REFRESH_MS),
    async wait(payment, deadlineAt) {
      const network = parts.networks.find(payment.network);
      const pace = network ? waitPace(network) : REFRESH_MS;
      for (;;) {
        const current = await refreshed(payment, pace);
        const left = deadlineAt - clock.now();
        if (isDecided(current) || left <= 0 || closing.signal.aborted) return current;
        await wakes.next(payment.id, clock, Math.min(pace, left), closing.signal);
      }
    },
    start: () => rounds.start(),
    async close() {
      closing.abort();
      await rounds.close();
      wakes.close();
    },
  };
}

/** What a caller can be told: it counts, or it does not, or the chain has shown a failure that is not final yet. */
const isDecided = ({ status, error, dueAt }: Payment): boolean =>
  dueAt === null || error !== null || (status !== "created" && status !== "submitted");

interface Wakes {
  /** Resolves when the payment was written in this process, after `ms`, or when the watcher closes. */
  next(id: string, clock: Clock, ms: number, closing: AbortSignal): Promise<void>;
  close(): void;
}

function createWakes(onChange: WatcherOptions["onChange"]): Wakes {
  const sleepers = new Map<string, Set<() => void>>();
  const unsubscribe = onChange?.(({ payment }) => {
    for (const wake of sleepers.get(payment.id) ?? []) wake();
  });
  return {
    next: (id, clock, ms, closing) =>
      new Promise((resolve) => {
        const own = sleepers.get(id) ?? new Set();
        const wake = () => {
          cancel();
          closing.removeEventListener("abort", wake);
          own.delete(wake);
          if (own.size === 0) sleepers.delete(id);
          resolve();
        };
        const cancel = clock.after(ms, wake);
        closing.addEventListener("abort", wake, { once: true });
        sleepers.set(id, own.add(wake));
      }),
    close: () => unsubscribe?.(),
  };
}
