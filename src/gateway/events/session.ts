// An authenticated socket with its place in the feed of its account.
import type { Feed, Reader } from "./feed.js";
import type { Feeds } from "./feeds.js";
import type { LiveSocket } from "./live-socket.js";
import type { EventMetrics } from "./metrics.js";
import type { Subscriber } from "./subscriber.js";
import { createSubscriptions } from "./subscriptions.js";

export interface Session {
  readonly socket: LiveSocket;
  readonly subscriber: Subscriber;
  readonly reader: Reader;
  readonly feed: Feed;
}

/** Tells the client who it is; it is told of events once it subscribes. */
export function openSession(
  socket: LiveSocket,
  subscriber: Subscriber,
  feeds: Pick<Feeds, "enter">,
  metrics: Pick<EventMetrics, "told">,
): Session {
  const { account, mode, plan } = subscriber;
  // Invariant: the feed of its own account and mode is the only one that a socket ever sees.
  const { feed, leave } = feeds.enter(account, mode);
  const reader: Reader = {
    subscriptions: createSubscriptions(),
    get closed() {
      return socket.closed;
    },
    tell(event) {
      metrics.told();
      return socket.send(event.frame);
    },
    drained: () => socket.drained(),
    lost: () => socket.cut("cursor_expired", EXPIRED),
  };
  socket.onClosed(() => {
    feed.leave(reader);
    leave();
  });
  socket.say({ type: "authenticated", account, plan });
  return { socket, subscriber, reader, feed };
}

export const EXPIRED = {
  type: "error",
  code: "cursor_expired",
  message: "what comes after this cursor is not kept any more: read the history, and subscribe without since",
} as const;
