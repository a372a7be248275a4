// A limit on what strangers may try: failed authentications of one client address in a minute. Memory is bounded whatever
// arrives; callers whose key was good lately pass, so that nobody is shut out by a neighbour behind the same address.
import { LRUCache } from "lru-cache";
import { fault } from "../errors.js";
import { answerFault } from "./answer.js";
import { clientAddress } from "./client-address.js";
import type { Step } from "./context.js";

/** Failed authentications of one address in a minute. */
export const MAX_FAILURES = 60;
const WINDOW_MS = 60_000;
/** Addresses that are counted, and keys that are remembered, at once. */
export const MAX_REMEMBERED = 10_000;

interface Failures {
  count: number;
  readonly endsAt: number;
}

export interface FloodGate {
  /** Milliseconds until this address may try again; 0 = it may. */
  waitMs(address: string): number;
  failed(address: string): void;
  /** Remembers the digest of a credential that was good, and forgets one that was not. */
  judged(digest: string, good: boolean): void;
  wasGood(digest: string): boolean;
  /** Entries held, for tests and metrics. */
  readonly size: number;
}

export function createFloodGate(now: () => number): FloodGate {
  const failures = new LRUCache<string, Failures>({ max: MAX_REMEMBERED });
  const good = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  const current = (address: string) => {
    const found = failures.get(address);
    return found && found.endsAt > now() ? found : undefined;
  };
  return {
    waitMs(address) {
      const found = current(address);
      return found && found.count >= MAX_FAILURES ? found.endsAt - now() : 0;
    },
    failed(address) {
      const found = current(address);
      if (found) found.count += 1;
      else failures.set(address, { count: 1, endsAt: now() + WINDOW_MS });
    },
    judged(digest, isGood) {
      if (isGood) good.set(digest, true);
      else good.delete(digest);
    },
    wasGood: (digest) => good.has(digest),
    get size() {
      return failures.size + good.size;
    },
  };
}

/** Stands before authentication, and counts what it refuses. */
export function limitStrangers(gate: FloodGate, trustedProxies: number, digestOf: (header: string) => string): Step {
  return async (c, next) => {
    const address = clientAddress(c, trustedProxies);
    const waitMs = gate.waitMs(address);
    const header = c.req.header("authorization");
    if (waitMs > 0 && (header === undefined || !gate.wasGood(digestOf(header)))) {
      const message = `too many failed authentications from this address: at most ${MAX_FAILURES} a minute`;
      return answerFault(c, fault("RATE_LIMIT", message, { retryAfter: waitMs / 1000 }));
    }
    await next();
    if (c.res.status === 401) gate.failed(address);
    return undefined;
  };
}
