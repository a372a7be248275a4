// The list of a store in memory, by the places that its entries were given. A page is a walk over the entries that were added
// before its cursor and holds no more than its own: listing is rare, and an index would cost every payment.
import type { Page, StoreValue } from "./store.js";

/** What is listed of an entry. */
export interface Listed {
  readonly value: StoreValue;
  readonly expiresAt: number;
  /** Grows with each key that is added; 0 = it is not listed. */
  readonly place: number;
}

/**
 * The last `limit` entries before the place that the cursor names, the last one first.
 *
 * @param entries in the order of their places
 */
export function toPage(
  entries: ReadonlyMap<string, Listed>,
  now: number,
  cursor: string | undefined,
  limit: number,
): Page {
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  const ring: (readonly [key: string, entry: Listed])[] = [];
  let found = 0;
  for (const [key, entry] of entries) {
    if (entry.place >= before) break;
    if (entry.place === 0 || entry.expiresAt <= now) continue;
    ring[found % limit] = [key, entry];
    found += 1;
  }
  const oldest = found % limit;
  const page = found > limit ? [...ring.slice(oldest), ...ring.slice(0, oldest)] : ring;
  const next = found > limit ? page[0]?.[1].place : undefined;
  return {
    now,
    entries: page.map(([key, { value }]) => ({ key, value })).reverse(),
    next: next === undefined ? undefined : String(next),
  };
}
