// Plans: how many requests a minute an account may make with a key, and which endpoints. Source: gateway-spec, Limits.
import { ENDPOINTS, type Plan } from "../settings.js";

/** All three permit all endpoints. */
export const BUILT_IN_PLANS: Readonly<Record<string, Plan>> = Object.freeze({
  standard: Object.freeze({ perMinute: 100, endpoints: ENDPOINTS }),
  premium: Object.freeze({ perMinute: 1_000, endpoints: ENDPOINTS }),
  enterprise: Object.freeze({ perMinute: "key", endpoints: ENDPOINTS }),
});

/** As it stands in logs and in the database. */
export const PLAN_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
