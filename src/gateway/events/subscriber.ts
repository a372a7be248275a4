// Who an event socket belongs to, and how long it may stay open.
import type { IncomingMessage } from "node:http";
import type { ApiKey } from "../caller.js";
import type { Fault } from "../errors.js";
import type { Mode } from "../payment.js";
import type { EventLimits } from "../settings.js";

export interface Subscriber {
  readonly account: string;
  readonly mode: Mode;
  readonly plan: string;
  readonly limits: EventLimits;
  /** The key by which it came: the socket ends with it. */
  readonly key?: ApiKey;
  /** In place of a key: asked again and again, and the socket ends when it says no. */
  readonly isAlive?: () => Promise<boolean>;
}

/**
 * Whose the request for a socket is, by something that it carries. Undefined = it carries nothing of the kind, and the next one is
 * asked; where none knows it, an API key must. Whatever a browser sends by itself (a cookie) goes only with a check of `Origin`
 * in here: the rule for origins that stands behind is not asked any more.
 */
export type AuthenticateRequest = (request: IncomingMessage) => Promise<Subscriber | Fault | undefined>;
