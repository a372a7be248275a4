// Stops paying a host that takes payments and does not serve: a loop that asks again and again ends after a few.
export interface Breaker {
  /** Epoch milliseconds until which the host is not paid; undefined = it is. */
  stoppedUntil(host: string): number | undefined;
  /** A paid request to it ended without the goods. */
  failed(host: string): void;
}

/** Beyond this, the host that failed longest ago is forgotten. */
const MAX_HOSTS = 1_000;

/** @param settings a host that failed `failures` times within `windowMs` is not paid until one of them is that old */
export function createBreaker(
  { failures, windowMs }: { readonly failures: number; readonly windowMs: number },
  now: () => number,
): Breaker {
  const hosts = new Map<string, readonly number[]>();
  const recent = (host: string) => (hosts.get(host) ?? []).filter((at) => at > now() - windowMs);
  return {
    stoppedUntil(host) {
      const times = recent(host);
      const last = times.at(-failures);
      return last === undefined ? undefined : last + windowMs;
    },
    failed(host) {
      const times = [...recent(host), now()].slice(-failures);
      hosts.delete(host);
      hosts.set(host, times);
      const [oldest] = hosts.keys();
      if (hosts.size > MAX_HOSTS && oldest !== undefined) hosts.delete(oldest);
    },
  };
}
