// A clock that stands still until a test moves it.
import type { Clock } from "../../src/clock.js";

export interface FakeClock extends Clock {
  /** Moves time on, running every timer that falls due, in order; lets pending promises settle in between. */
  advance(ms: number): Promise<void>;
}

/** Lets everything that is already decided run its course. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  let timers: { at: number; task: () => void }[] = [];
  return {
    now: () => now,
    after(ms, task) {
      const timer = { at: now + ms, task };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        timers = timers.filter((other) => other !== next);
        now = Math.max(now, next.at);
        next.task();
        await settle();
      }
      now = end;
    },
  };
}
