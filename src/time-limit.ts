// Time limits. As a signal that is made when it is first asked for, because most checks in process are done without one; and around
// a question whose answer may never come, where whoever takes no notice of the signal is left behind.
import type { Clock } from "./clock.js";

/** The guard gives up a verification after this. */
export const VERIFY_MS = 10_000;
/** What others wait behind gives the store up after this: twice what the stores themselves wait for a server. */
export const STORE_MS = 10_000;

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

export interface Patience<Answer> {
  readonly clock: Clock;
  readonly ms: number;
  /** Ends the waiting too. */
  readonly outer?: AbortSignal;
  /** The answer in place of one that does not come; a promise of it may reject. */
  late(): Answer | Promise<Answer>;
}

/** What comes of `ask`, or of `late`. Rejects as `ask` does. */
export async function inTime<Answer>(
  { clock, ms, outer, late }: Patience<Answer>,
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  const given = new Promise<Answer>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve(late()), { once: true });
  });
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort, { once: true });
  const cancel = clock.after(ms, abort);
  try {
    return await Promise.race([ask(stop.signal), given]);
  } finally {
    cancel();
    outer?.removeEventListener("abort", abort);
  }
}
