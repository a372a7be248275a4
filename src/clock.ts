// Time as the guard sees it, so that a test can move it. Timers never keep a process alive.

/** Epoch milliseconds and one-shot timers. */
export interface Clock {
  now(): number;
  /** Runs `task` once after `ms`; the returned function cancels it. */
  after(ms: number, task: () => void): () => void;
}

interface Unrefable {
  unref?(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    (timer as Unrefable).unref?.();
    return () => clearTimeout(timer);
  },
};
