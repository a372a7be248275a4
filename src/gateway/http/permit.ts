// Whether the caller's key and plan permit an endpoint, and how many requests a minute they have. Fails closed: a plan that
// is no longer configured permits nothing. Source: gateway-spec, design §7.
import type { ApiKey, Scope } from "../caller.js";
import { type Fault, fault } from "../errors.js";
import type { Endpoint, EventLimits, GatewaySettings } from "../settings.js";

/** Undefined = permitted. `scopes`: any one of them opens the endpoint. */
export function refusalOf(
  key: ApiKey,
  endpoint: Endpoint,
  scopes: readonly Scope[],
  plans: GatewaySettings["plans"],
): Fault | undefined {
  const plan = planOf(key, plans);
  if (!plan) return fault("FORBIDDEN", `the plan ${key.plan} of this key is not configured`);
  if (!plan.endpoints.includes(endpoint)) return fault("FORBIDDEN", `the plan ${key.plan} does not permit ${endpoint}`);
  if (!scopes.some((scope) => key.scopes.includes(scope))) {
    return fault("FORBIDDEN", `${endpoint} needs a key with the scope ${scopes.join(" or ")}`);
  }
  if (perMinuteOf(key, plans) === undefined) return fault("FORBIDDEN", `this key of the plan ${key.plan} has no rate`);
  return undefined;
}

/** Requests a minute; undefined where neither plan nor key says. */
export function perMinuteOf(key: ApiKey, plans: GatewaySettings["plans"]): number | undefined {
  const plan = planOf(key, plans);
  if (!plan) return undefined;
  return plan.perMinute === "key" ? (key.rateLimit ?? undefined) : plan.perMinute;
}

/** What the event sockets of the key's account may: the plan's, or in proportion to the key's own rate, at least those of premium. */
export function eventLimitsOf(key: ApiKey, plans: GatewaySettings["plans"]): EventLimits {
  const plan = planOf(key, plans);
  if (!plan) return NOTHING;
  if (plan.events !== "key") return plan.events;
  const perMinute = perMinuteOf(key, plans) ?? 0;
  return {
    connections: Math.max(20, Math.floor(perMinute / 50)),
    messagesPerSecond: Math.max(200, Math.floor(perMinute / 5)),
  };
}

const NOTHING: EventLimits = { connections: 0, messagesPerSecond: 0 };

/** Own properties only: a plan of the name `constructor` is none. */
const planOf = ({ plan }: ApiKey, plans: GatewaySettings["plans"]) =>
  Object.hasOwn(plans, plan) ? plans[plan] : undefined;
