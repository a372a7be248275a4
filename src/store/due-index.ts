// Keys by the time from which they are due, so that asking for those that are due costs what is due and not what is stored.

export interface DueIndex {
  /** Moves the key to another time. */
  set(key: string, at: number): void;
  delete(key: string): void;
  clear(): void;
  /** Keys whose time has come, oldest first, so many after the first `skip`. */
  passed(now: number, limit: number, skip: number): string[];
}

const BUCKET_MS = 1000;

/** Times are epoch milliseconds. */
export function createDueIndex(): DueIndex {
  const times = new Map<string, number>();
  const buckets = new Map<number, Set<string>>();
  const bucketOf = (at: number) => Math.floor(at / BUCKET_MS);

  function remove(key: string): void {
    const at = times.get(key);
    if (at === undefined) return;
    times.delete(key);
    const bucket = buckets.get(bucketOf(at));
    bucket?.delete(key);
    if (bucket?.size === 0) buckets.delete(bucketOf(at));
  }

  return {
    set(key, at) {
      if (times.get(key) === at) return;
      remove(key);
      times.set(key, at);
      const bucket = buckets.get(bucketOf(at)) ?? new Set<string>();
      buckets.set(bucketOf(at), bucket.add(key));
    },
    delete: remove,
    clear() {
      times.clear();
      buckets.clear();
    },
    passed(now, limit, skip) {
      const found: string[] = [];
      // There are never more buckets than seconds between the oldest and the furthest time.
      const past = [...buckets.keys()].filter((bucket) => bucket <= bucketOf(now)).sort((a, b) => a - b);
      for (const bucket of past) {
        if (found.length >= skip + limit) break;
        const timed = [...(buckets.get(bucket) ?? [])].map((key) => ({ key, at: times.get(key) ?? 0 }));
        const ready = timed.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
        found.push(...ready.slice(0, skip + limit - found.length).map(({ key }) => key));
      }
      return found.slice(skip);
    },
  };
}
