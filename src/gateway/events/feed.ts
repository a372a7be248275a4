// The events of one account and mode in this process: read from the outbox once for all sockets that are abreast of each other,
// in the order of the commits. A reader that is behind (it asked for the past, or reads slowly) is brought up by reads of its own,
// at its own pace, and joins the others where they are. Nothing is kept here: the outbox is the memory.
import type { Subscriptions } from "./subscriptions.js";
import { PAGE } from "./times.js";
import type { Page, Told } from "./told.js";

/** One socket, as a feed sees it. */
export interface Reader {
  readonly subscriptions: Subscriptions;
  readonly closed: boolean;
  /** False: it has enough until it has read this. */
  tell(event: Told): boolean;
  /** Resolves when what was told has been taken, or when it is closed. */
  drained(): Promise<void>;
  /** What it is to be told is not kept any more. */
  lost(): void;
}

/** Undefined = the gateway is closing. Never rejects. */
export type ReadPage = (cursor: number) => Promise<Page | "expired" | undefined>;

export interface Feed {
  /** Tells a reader what it is subscribed to from now on; again after each change of its subscriptions. */
  place(reader: Reader): void;
  leave(reader: Reader): void;
  /** Something was written; `last`: the account's last cursor, where it is known. */
  wake(last?: number): void;
}

export function createFeed(read: ReadPage): Feed {
  /** Abreast: each has been told all up to `cursor`. */
  const abreast = new Set<Reader>();
  const behind = new Set<Reader>();
  let cursor = 0;
  let running = false;
  let again = false;

  /** Invariant: a reader's cursor moves only over what it was told, or did not want. */
  function tellAll(reader: Reader, { events, next }: Page): boolean {
    const { subscriptions } = reader;
    for (const event of events) {
      if (!subscriptions.wants(event) || reader.tell(event)) continue;
      subscriptions.advance(event.cursor);
      return false;
    }
    subscriptions.advance(next);
    return true;
  }

  async function run(): Promise<void> {
    again = true;
    if (running) return;
    running = true;
    while (again && abreast.size > 0) {
      again = false;
      const from = cursor;
      const page = await read(from);
      if (page === undefined) break;
      // All have left meanwhile, and others have come who are elsewhere.
      if (cursor !== from) {
        again = true;
        continue;
      }
      if (page === "expired") {
        for (const reader of abreast) reader.lost();
        abreast.clear();
        continue;
      }
      cursor = page.next;
      if (page.events.length === PAGE) again = true;
      for (const reader of abreast) if (!tellAll(reader, page)) fallBehind(reader);
    }
    running = false;
  }

  function fallBehind(reader: Reader): void {
    abreast.delete(reader);
    if (behind.has(reader)) return;
    behind.add(reader);
    void bringUp(reader);
  }

  async function bringUp(reader: Reader): Promise<void> {
    const { subscriptions } = reader;
    for (;;) {
      await reader.drained();
      const from = subscriptions.lowest();
      if (reader.closed || from === undefined || !behind.has(reader)) break;
      if (join(reader, from)) return;
      const { version } = subscriptions;
      const page = await read(from);
      if (page === undefined || reader.closed) break;
      // A key was added meanwhile, perhaps with an earlier place.
      if (subscriptions.version !== version) continue;
      if (page === "expired") {
        reader.lost();
        break;
      }
      tellAll(reader, page);
    }
    behind.delete(reader);
  }

  /** False where the others are further than this reader. */
  function join(reader: Reader, from: number): boolean {
    if (abreast.size === 0) cursor = from;
    else if (from < cursor) return false;
    behind.delete(reader);
    abreast.add(reader);
    void run();
    return true;
  }

  return {
    place(reader) {
      // Whoever is being brought up looks at its subscriptions anew before each read.
      if (behind.has(reader)) return;
      abreast.delete(reader);
      const from = reader.subscriptions.lowest();
      if (from !== undefined && !join(reader, from)) fallBehind(reader);
    },
    leave(reader) {
      abreast.delete(reader);
      behind.delete(reader);
    },
    wake(last) {
      if (last !== cursor) void run();
    },
  };
}
