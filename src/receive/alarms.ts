// What an operator must hear about, said at most once a minute for each kind: an outage must not flood the log.
import type { Clock } from "../clock.js";
import type { Logger } from "../settings.js";

const QUIET_MS = 60_000;

/** Kinds are a fixed few, so the memory is bounded. */
export type AlarmKind = "credentials" | "supported" | "requirement" | "answer" | "unreachable";

export interface Alarms {
  raise(kind: AlarmKind, message: string, facts?: object): void;
}

export function createAlarms(logger: Logger, clock: Clock): Alarms {
  const raisedAt = new Map<AlarmKind, number>();
  return {
    raise(kind, message, facts) {
      const before = raisedAt.get(kind);
      if (before !== undefined && clock.now() - before < QUIET_MS) return;
      raisedAt.set(kind, clock.now());
      logger.error(message, facts);
    },
  };
}
