// What a facilitator serves (`GET /supported`): fetched at start and then kept fresh in the background, never on the path
// of a request. A failed fetch is tried again with growing, jittered pauses and is never what is remembered.
import type { Clock } from "../clock.js";

/** One fetch of the list. */
export type Fetched<List> =
  | { readonly outcome: "list"; readonly list: List }
  /** The credentials were refused or cannot be had as configured. Fetched again all the same: it may have been one odd answer. */
  | { readonly outcome: "refused"; readonly message: string }
  /** Anything else; `retryAfterMs` where the facilitator said when to come again. */
  | { readonly outcome: "failed"; readonly message: string; readonly retryAfterMs?: number };

export interface SupportedCache<List> {
  /** The last good list, however old; undefined before the first. Never waits. */
  current(): List | undefined;
  /**
   * The list as soon as there is one: at once from the cache, else from the attempt that runs or comes next. Resolves with
   * the failure of the last attempt when the next is too far off to wait for, or when the signal aborts.
   */
  load(signal: AbortSignal): Promise<Fetched<List>>;
  /** An answer has contradicted the list: fetches it anew, at most once in a while. Never waits. */
  refresh(): void;
  close(): void;
}

/** How long a list counts as fresh. Source: protocol §6.4. */
const FRESH_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;
/** A facilitator's `Retry-After` is honoured up to this. */
const LONGEST_RETRY_AFTER_MS = 10 * 60_000;
/** `load` waits for an attempt that is due within this time. */
const PATIENCE_MS = 5_000;
/** `refresh` leaves a list alone that is younger than this. */
const YOUNG_MS = 10_000;
/** An attempt that has run for so long is not joined by who comes later. */
const TRUSTED_MS = 2_000;

const unreadable = (error: unknown) =>
  ({ outcome: "failed", message: `the list cannot be read: ${String(error).slice(0, 200)}` }) as const;

export function createSupportedCache<List>(options: {
  fetchList(): Promise<Fetched<List>>;
  clock: Clock;
  /** From 0 to below 1. */
  random(): number;
  /** Told of every failed refresh. */
  onFailure(message: string): void;
}): SupportedCache<List> {
  const { fetchList, clock, random, onFailure } = options;
  let list: List | undefined;
  let last: Fetched<List> | undefined;
  let running: Promise<void> | undefined;
  let beganAt = 0;
  let failures = 0;
  let nextAt = 0;
  let cancel: (() => void) | undefined;
  let closed = false;
  const waiting = new Set<() => void>();

  async function attempt(): Promise<void> {
    // Invariant: no answer, however strange, ends the process: this runs in the background.
    last = await fetchList().catch(unreadable);
    if (last.outcome === "list") {
      list = last.list;
      failures = 0;
    } else {
      failures++;
      onFailure(last.message);
    }
    if (!closed) schedule(pauseAfter(last));
    for (const wake of [...waiting]) wake();
  }

  function run(): Promise<void> {
    if (running) return running;
    beganAt = clock.now();
    const own = attempt().finally(() => {
      if (running === own) running = undefined;
    });
    running = own;
    return own;
  }

  function schedule(ms: number): void {
    cancel?.();
    nextAt = clock.now() + ms;
    cancel = clock.after(ms, () => void run());
  }

  /** Half fixed, half random: many processes that failed together do not come back together. */
  function pauseAfter(result: Fetched<List>): number {
    const spread = 0.5 + random() / 2;
    if (result.outcome === "list") return FRESH_MS * spread;
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS) * spread;
    const told = result.outcome === "failed" ? (result.retryAfterMs ?? 0) : 0;
    // The pause asked for is a minimum, so the jitter comes on top of it.
    return Math.max(backoff, told > 0 ? Math.min(told, LONGEST_RETRY_AFTER_MS) + backoff : 0);
  }

  function untilAttempt(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  return {
    current: () => list,
    async load(signal) {
      if (list !== undefined) return { outcome: "list", list };
      if (closed) return { outcome: "failed", message: "the receiver is closed" };
      const tooFar = last !== undefined && nextAt - clock.now() > PATIENCE_MS;
      if (!tooFar || running) {
        // On Workers an attempt dies with the request that began it, without a word, and so do others that waited for it: one
        // for which nobody waits, or that is old, is not believed in.
        if (waiting.size === 0 || clock.now() - beganAt >= TRUSTED_MS) running = undefined;
        const attempted = untilAttempt(signal);
        // Due, and nobody has begun it: the first one, or one whose timer died.
        if (clock.now() >= nextAt) void run();
        if (!signal.aborted) await attempted;
      }
      if (list !== undefined) return { outcome: "list", list };
      return last ?? { outcome: "failed", message: "no answer yet" };
    },
    refresh() {
      // After a failure the next attempt is planned, no sooner than the facilitator asked for.
      if (closed || last?.outcome !== "list" || clock.now() - beganAt < YOUNG_MS) return;
      void run();
    },
    close() {
      closed = true;
      cancel?.();
      for (const wake of [...waiting]) wake();
    },
  };
}
