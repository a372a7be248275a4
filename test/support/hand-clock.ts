// A clock that a test turns by hand: timers run when `advance` passes them, in order, and never by themselves.
import type { Clock } from "../../src/clock.js";

export interface HandClock extends Clock {
  /** Milliseconds until each pending timer, soonest first. */
  readonly pending: readonly number[];
  /** Moves time and runs what comes due on the way. */
  advance(ms: number): void;
}

export function handClock(startAt = Date.UTC(2026, 0, 1)): HandClock {
  let now = startAt;
  const timers = new Set<{ readonly at: number; readonly task: () => void }>();
  const inOrder = () => [...timers].sort((a, b) => a.at - b.at);
  return {
    now: () => now,
    after(ms, task) {
      const timer = { at: now + ms, task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return inOrder().map(({ at }) => at - now);
    },
    advance(ms) {
      const end = now + ms;
      for (let next = inOrder()[0]; next && next.at <= end; next = inOrder()[0]) {
        timers.delete(next);
        now = next.at;
        next.task();
      }
      now = end;
    },
  };
}
