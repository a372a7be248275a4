// What an authenticated caller may do now: first whether the key permits the endpoint at all, then how often.
import type { Scope } from "../caller.js";
import { fault } from "../errors.js";
import type { Endpoint, GatewaySettings } from "../settings.js";
import { answerFault } from "./answer.js";
import type { Step } from "./context.js";
import { type Limits, rateHeaders } from "./limits.js";
import { perMinuteOf, refusalOf } from "./permit.js";

export function admit(
  endpoint: Endpoint,
  scopes: readonly Scope[],
  { plans }: Pick<GatewaySettings, "plans">,
  limits: Limits,
): Step {
  return async (c, next) => {
    const key = c.get("key");
    // Invariant: nothing is answered to a caller whom no step has authenticated.
    if (!key) throw new Error("an endpoint was reached without authentication");
    // Counted also where it is refused: every authenticated answer says what is left.
    const taken = await limits.take(key.account, perMinuteOf(key, plans) ?? 0);
    for (const [name, value] of Object.entries(rateHeaders(taken))) c.header(name, value);
    const refusal = refusalOf(key, endpoint, scopes, plans);
    if (refusal) return answerFault(c, refusal);
    if (!taken.ok) {
      const message = `the plan ${key.plan} permits ${taken.limit} requests a minute for all keys of the account`;
      return answerFault(c, fault("RATE_LIMIT", message, { retryAfter: taken.resetSeconds }));
    }
    return next();
  };
}
