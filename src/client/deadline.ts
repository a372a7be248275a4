// Asking the gateway within the time of a whole flow: whatever the client that asks would still wait for, it ends at the deadline.
import { unlessAborted } from "./abort.js";

export interface Limits {
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
  /** What it rejects with when the time is over. */
  readonly overdue: () => Error;
}

/** Gives `ask` a signal of both limits, and believes it in neither: a client of the caller's own may not know signals. */
export async function inTime<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  { deadlineAt, signal, overdue }: Limits,
): Promise<T> {
  signal?.throwIfAborted();
  const both = new AbortController();
  // Not AbortSignal.any: what it adds to a signal of the caller's stays there for as long as that lives.
  const follow = () => both.abort(signal?.reason);
  signal?.addEventListener("abort", follow, { once: true });
  const timer = setTimeout(() => both.abort(overdue()), deadlineAt - Date.now());
  try {
    return await unlessAborted(ask(both.signal), both.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", follow);
  }
}
