// Tells the other instances that an account has events, so that they read them at once. Only a hint: what nobody hears is found by
// the next look at the outbox.
import type { Redis } from "ioredis";

const CHANNEL = "tollgate:events";

export interface Hints {
  send(account: string): void;
  close(): void;
}

/** `heard`: undefined = some may have been missed. */
export function openHints(redis: Redis | undefined, heard: (account: string | undefined) => void): Hints {
  if (!redis) return { send: () => undefined, close: () => undefined };
  // A connection that listens can do nothing else.
  const listener = redis.duplicate({ lazyConnect: true, autoResubscribe: false });
  let closed = false;
  // Safe because nobody relies on it; without a listener the client writes to the console.
  listener.on("error", () => undefined);
  listener.on("ready", () => {
    listener.subscribe(CHANNEL).then(
      () => heard(undefined),
      // A connection that is good for nothing else is made anew, until it listens.
      () => !closed && listener.disconnect(true),
    );
  });
  listener.on("message", (_channel, account) => heard(account));
  listener.connect().catch(() => undefined);
  return {
    send: (account) => void redis.publish(CHANNEL, account).catch(() => undefined),
    close() {
      closed = true;
      listener.disconnect();
    },
  };
}
