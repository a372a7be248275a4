// Turns for payments that need an order: one at a time for each key, first come, first served. A turn that its holder never
// ends is over by itself, and the next one begins.
import { systemClock } from "../clock.js";

export interface AccountTurn {
  /** Over: the next one begins. Again: nothing. */
  end(): void;
  /** Over by itself at this time, epoch milliseconds, in place of the time that was said before. */
  endBy(at: number): void;
}

export interface TurnRequest {
  /** Epoch milliseconds until which a turn is waited for, and at which one that was got is over. */
  readonly until: number;
  readonly signal: AbortSignal | undefined;
}

export interface AccountTurns {
  /** A turn, or undefined where none has come in time. Rejects with the signal's reason only. */
  take(key: string, request: TurnRequest): Promise<AccountTurn | undefined>;
}

/** Timers count milliseconds in 31 bits, and end at once where there are more. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const msUntil = (at: number): number => Math.min(Math.max(0, at - Date.now()), MAX_TIMER_MS);

export function createAccountTurns(): AccountTurns {
  /** A key that is here has a holder; those who wait, in the order in which they came. */
  const lines = new Map<string, Set<() => void>>();

  function begin(key: string, until: number): AccountTurn {
    let open = true;
    let cancel = () => {};
    const end = () => {
      if (!open) return;
      open = false;
      cancel();
      const [next] = lines.get(key) ?? [];
      if (next) next();
      else lines.delete(key);
    };
    const endBy = (at: number) => {
      cancel();
      if (open) cancel = systemClock.after(msUntil(at), end);
    };
    endBy(until);
    return { end, endBy };
  }

  return {
    async take(key, { until, signal }) {
      signal?.throwIfAborted();
      const line = lines.get(key);
      if (!line) {
        lines.set(key, new Set());
        return begin(key, until);
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          line.delete(start);
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
        };
        const start = () => {
          leave();
          resolve(begin(key, until));
        };
        const onAbort = () => {
          leave();
          reject(signal?.reason);
        };
        const timer = setTimeout(() => {
          leave();
          resolve(undefined);
        }, msUntil(until));
        signal?.addEventListener("abort", onAbort);
        line.add(start);
      });
    },
  };
}
