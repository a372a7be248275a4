// What one socket is subscribed to, each key with the cursor after which it is told: an event is told where one of its keys is
// subscribed from before it, so that a key that was added with `since` brings its past and the others nothing twice.
import type { Told } from "./told.js";

export interface Subscriptions {
  readonly size: number;
  /** How many there would be with these. */
  sizeWith(keys: readonly string[]): number;
  /** `from`: the cursor after which they are told. Keys that are there already keep their place, unless `again`. */
  add(keys: readonly string[], from: number, again: boolean): void;
  remove(keys: readonly string[]): void;
  wants(event: Pick<Told, "keys" | "cursor">): boolean;
  /** All events up to this cursor have been told, as far as they were wanted. */
  advance(cursor: number): void;
  /** The cursor after which something may still be to be told; undefined without keys. */
  lowest(): number | undefined;
  /** Grows with every key that is added. */
  readonly version: number;
}

export function createSubscriptions(): Subscriptions {
  const places = new Map<string, number>();
  /** Stands above every place that is lower. */
  let floor = 0;
  let version = 0;
  return {
    get size() {
      return places.size;
    },
    get version() {
      return version;
    },
    sizeWith: (keys) => new Set([...places.keys(), ...keys]).size,
    add(keys, from, again) {
      for (const [key, place] of places) places.set(key, Math.max(place, floor));
      floor = 0;
      for (const key of keys) if (again || !places.has(key)) places.set(key, from);
      version += 1;
    },
    remove(keys) {
      for (const key of keys) places.delete(key);
    },
    wants: ({ keys, cursor }) =>
      cursor > floor && keys.some((key) => cursor > (places.get(key) ?? Number.POSITIVE_INFINITY)),
    advance(cursor) {
      floor = Math.max(floor, cursor);
    },
    lowest() {
      if (places.size === 0) return undefined;
      return Math.max(floor, Math.min(...places.values()));
    },
  };
}
