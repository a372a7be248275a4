// The feeds of this process, one for each account and mode that somebody listens to, and their reads of the outbox: few at a time,
// and tried again for as long as the database does not answer.
import { createTurns } from "../../receive/turns.js";
import type { GatewayParts } from "../parts.js";
import type { Mode } from "../payment.js";
import { reasonOf } from "../reason.js";
import { createFeed, type Feed } from "./feed.js";
import { PAGE } from "./times.js";
import { type Page, toTold } from "./told.js";

export interface Feeds {
  /** Kept until everybody who has entered it has left. */
  enter(account: string, mode: Mode): Entered;
  /** Accounts that somebody listens to. */
  accounts(): readonly string[];
  wake(account: string, last?: number): void;
  wakeAll(): void;
}

export interface Entered {
  readonly feed: Feed;
  leave(): void;
}

export interface FeedsParts extends Pick<GatewayParts, "database" | "networks" | "logger" | "now"> {
  /** Resolves when it is worth trying again. */
  readonly nextBeat: () => Promise<void>;
  readonly isClosed: () => boolean;
}

const MODES = ["live", "test"] as const;
/** Reads at once, of all accounts. */
const AT_ONCE = 16;
const TURN_MS = 30_000;

export function createFeeds({ database, networks, logger, now, nextBeat, isClosed }: FeedsParts): Feeds {
  const feeds = new Map<string, Map<Mode, { readonly feed: Feed; users: number }>>();
  const turns = createTurns(AT_ONCE, now);

  async function read(account: string, mode: Mode, cursor: number): Promise<Page | "expired" | undefined> {
    for (;;) {
      if (isClosed()) return undefined;
      const end = await turns.take("read", now() + TURN_MS);
      if (!end) continue;
      try {
        const page = await database.events.since(account, mode, cursor, PAGE);
        if (page.outcome === "expired") return "expired";
        return { events: page.events.map((event) => toTold(event, networks)), next: page.next };
      } catch (error) {
        if (!isClosed())
          logger.warn({ account, reason: reasonOf(error) }, "the events of an account could not be read");
      } finally {
        end();
      }
      await nextBeat();
    }
  }

  return {
    enter(account, mode) {
      const own = feeds.get(account) ?? new Map();
      const used = own.get(mode) ?? { feed: createFeed((cursor) => read(account, mode, cursor)), users: 0 };
      used.users += 1;
      feeds.set(account, own.set(mode, used));
      return {
        feed: used.feed,
        leave() {
          used.users -= 1;
          if (used.users === 0) own.delete(mode);
          if (own.size === 0) feeds.delete(account);
        },
      };
    },
    accounts: () => [...feeds.keys()],
    wake(account, last) {
      const own = feeds.get(account);
      for (const mode of MODES) own?.get(mode)?.feed.wake(last);
    },
    wakeAll() {
      for (const own of feeds.values()) for (const { feed } of own.values()) feed.wake();
    },
  };
}
