// Waiting that ends when the caller gives up.

/**
 * The promise's result, or a rejection with the signal's reason as soon as it aborts.
 *
 * @param late gets the result that came after the abort, so that nothing it holds is lost
 */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  late: (result: T) => void = () => {},
): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      // What comes of it now is nobody's, its failure too.
      promise.then(late).catch(() => {});
      reject(signal.reason);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const settle = () => signal.removeEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(settle);
  });
}
