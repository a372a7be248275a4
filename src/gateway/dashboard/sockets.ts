// The dashboard's own event sockets: opened by the cookie of a session, for a page of this gateway alone, and ended with the session.
import type { AuthenticateRequest } from "../events/subscriber.js";
import type { GatewayParts } from "../parts.js";
import { isOwnForm, modeOfSocket, placeOf } from "./place.js";
import { findSession } from "./session.js";

/** A page has two sockets, and says one thing on each; those of keys are counted apart. */
const LIMITS = { connections: 20, messagesPerSecond: 10 };

export function authenticateSession({
  settings,
  database: { sessions },
}: Pick<GatewayParts, "settings" | "database">): AuthenticateRequest {
  const place = placeOf(settings);
  return async ({ url, headers }) => {
    const mode = modeOfSocket(url);
    if (mode === undefined) return undefined;
    const { host, origin, cookie } = headers;
    // Invariant: the browser sends the cookie by itself, also for a page of a neighbouring host; only our own page may use it.
    if (!isOwnForm(place, { host, origin, site: undefined })) return undefined;
    const session = await findSession(cookie, place, sessions, false);
    if (!session) return undefined;
    const isAlive = async () => (await sessions.look(session.hash)) !== undefined;
    return { account: session.account.id, mode, plan: "dashboard", limits: LIMITS, isAlive };
  };
}
