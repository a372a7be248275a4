// Who may have an event socket: a key that is good, that its plan and scopes permit it, with requests and a seat left. Counted and
// judged as any other request of the API, and refused with the same faults.

import type { ApiKey } from "../caller.js";
import { type Fault, fault } from "../errors.js";
import { digestOf, findKey, markUsed, NO_KEY, WRONG_KEY } from "../http/auth.js";
import { type FloodGate, MAX_FAILURES } from "../http/flood.js";
import type { Limits } from "../http/limits.js";
import { eventLimitsOf, perMinuteOf, refusalOf } from "../http/permit.js";
import type { GatewayParts } from "../parts.js";
import type { Seat, Seats } from "./seats.js";
import type { Subscriber } from "./subscriber.js";

/** A subscriber who was let in. */
export interface Guest {
  readonly subscriber: Subscriber;
  readonly seat: Seat;
}
export type Entered = { readonly ok: true; readonly guest: Guest } | Fault;

export interface EntranceParts extends Pick<GatewayParts, "settings" | "database" | "logger" | "now"> {
  readonly gate: FloodGate;
  /** Requests a minute of an account. */
  readonly limits: Limits;
  readonly seats: Seats;
}

export interface Entrance {
  /** `address`: whose failures are counted. `authorization`: as in the header. */
  byKey(authorization: string | undefined, address: string): Promise<Entered>;
  bySubscriber(subscriber: Subscriber): Promise<Entered>;
  /** Why a key may have no socket; undefined = it may. */
  refusalOf(key: ApiKey): Fault | undefined;
}

export function createEntrance({ settings, database, logger, now, gate, limits, seats }: EntranceParts): Entrance {
  const { keys } = database;
  const { plans } = settings;

  const refusal = (key: ApiKey) => refusalOf(key, "GET /events", ["events"], plans);

  const bySubscriber: Entrance["bySubscriber"] = async (subscriber) => {
    const { account, plan } = subscriber;
    const { connections } = subscriber.limits;
    // What a person looks at takes no seat of the account's programs.
    const seat = await seats.take(subscriber.key ? account : `${account} session`, connections);
    if (seat) return { ok: true, guest: { subscriber, seat } };
    const message = `the plan ${plan} permits ${connections} event sockets of an account at once`;
    return fault("RATE_LIMIT", message, { retryAfter: RETRY_S });
  };

  return {
    bySubscriber,
    refusalOf: refusal,
    async byKey(authorization, address) {
      const digest = authorization === undefined ? undefined : digestOf(authorization);
      const waitMs = gate.waitMs(address);
      if (waitMs > 0 && (digest === undefined || !gate.wasGood(digest))) return tooMany(waitMs);
      const key = await findKey(authorization, { keys, now });
      if (digest !== undefined) gate.judged(digest, key !== undefined);
      if (!key) {
        gate.failed(address);
        return digest === undefined ? NO_KEY : WRONG_KEY;
      }
      markUsed(key, { keys, now, logger });
      const taken = await limits.take(key.account, perMinuteOf(key, plans) ?? 0);
      const refused = refusal(key);
      if (refused) return refused;
      if (!taken.ok) {
        const message = `the plan ${key.plan} permits ${taken.limit} requests a minute for all keys of the account`;
        return fault("RATE_LIMIT", message, { retryAfter: taken.resetSeconds });
      }
      const { account, mode, plan } = key;
      return bySubscriber({ account, mode, plan, limits: eventLimitsOf(key, plans), key });
    },
  };
}

/** A seat of a dead instance is free by then. */
const RETRY_S = 5;

const tooMany = (waitMs: number): Fault =>
  fault("RATE_LIMIT", `too many failed authentications from this address: at most ${MAX_FAILURES} a minute`, {
    retryAfter: waitMs / 1000,
  });
