// Waiting that an abort ends.

/** A timer of more runs at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or the 24 days that a timer can wait; rejects with the reason of the signal when it is aborted, also before. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const end = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, LONGEST_MS));
    signal?.addEventListener("abort", stop, { once: true });
  });
}
