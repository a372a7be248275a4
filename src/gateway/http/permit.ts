// Whether the caller's key and plan permit an endpoint, and how many requests a minute they have. Fails closed: a plan that
// is no longer configured permits nothing. Source: gateway-spec, design §7.
import type { ApiKey, Scope } from "../caller.js";
import { type Fault, fault } from "../errors.js";
import type { Endpoint, GatewaySettings } from "../settings.js";

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

/** Own properties only: a plan of the name `constructor` is none. */
const planOf = ({ plan }: ApiKey, plans: GatewaySettings["plans"]) =>
  Object.hasOwn(plans, plan) ? plans[plan] : undefined;
