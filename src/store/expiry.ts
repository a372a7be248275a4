// Keys by the second in which they expire, so that expiry costs what has expired and not what is stored.

export interface Expiry {
  add(key: string, at: number): void;
  /** Forgets that `key` was to expire at `at`: a key that is written again must not be remembered for its old time. */
  remove(key: string, at: number): void;
  /** Visits and forgets every key whose second has passed. */
  passed(now: number, visit: (key: string) => void): void;
  /** Keys remembered. */
  readonly size: number;
}

/** Times are epoch milliseconds. */
export function createExpiry(startedAt: number): Expiry {
  const buckets = new Map<number, Set<string>>();
  const secondOf = (at: number) => Math.ceil(at / 1000);
  let swept = Math.floor(startedAt / 1000);
  let size = 0;
  return {
    add(key, at) {
      const second = secondOf(at);
      const bucket = buckets.get(second) ?? new Set<string>();
      buckets.set(second, bucket);
      if (!bucket.has(key)) size += 1;
      bucket.add(key);
    },
    remove(key, at) {
      const second = secondOf(at);
      const bucket = buckets.get(second);
      if (!bucket?.delete(key)) return;
      size -= 1;
      if (bucket.size === 0) buckets.delete(second);
    },
    passed(now, visit) {
      const second = Math.floor(now / 1000);
      if (second <= swept) return;
      swept = second;
      // A bucket is a second: there are never more of them than seconds in the longest lifetime.
      for (const [at, keys] of buckets) {
        if (at > second) continue;
        buckets.delete(at);
        size -= keys.size;
        for (const key of keys) visit(key);
      }
    },
    get size() {
      return size;
    },
  };
}
