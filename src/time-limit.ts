// A time limit as a signal that is made when it is first asked for: most checks in process are done without one.
import type { Clock } from "./clock.js";

/** The guard gives up a verification after this. */
export const VERIFY_MS = 10_000;

export interface TimeLimit {
  /** Aborts when the time is over. */
  signal(): AbortSignal;
  cancel(): void;
}

/** @param ms from now */
export function createTimeLimit(clock: Clock, ms: number): TimeLimit {
  const endAt = clock.now() + ms;
  let stop: AbortController | undefined;
  let cancel = () => {};
  return {
    signal() {
      if (stop) return stop.signal;
      // Not AbortSignal.timeout: its signals outlive the call and cost a finalizer each.
      const made = new AbortController();
      stop = made;
      cancel = clock.after(Math.max(0, endAt - clock.now()), () => made.abort());
      return made.signal;
    },
    cancel: () => cancel(),
  };
}
