// Plans: how many requests a minute an account may make with a key, which endpoints, and what its event sockets may. Source:
// gateway-spec, Limits; design §7.
import { ENDPOINTS, type EventLimits, type Plan } from "../settings.js";

/** Of a plan that does not say. */
export const USUAL_EVENTS: EventLimits = Object.freeze({ connections: 5, messagesPerSecond: 50 });

/** All three permit all endpoints. */
export const BUILT_IN_PLANS: Readonly<Record<string, Plan>> = Object.freeze({
  standard: Object.freeze({ perMinute: 100, endpoints: ENDPOINTS, events: USUAL_EVENTS }),
  premium: Object.freeze({
    perMinute: 1_000,
    endpoints: ENDPOINTS,
    events: Object.freeze({ connections: 20, messagesPerSecond: 200 }),
  }),
  enterprise: Object.freeze({ perMinute: "key", endpoints: ENDPOINTS, events: "key" }),
});

/** As it stands in logs and in the database. */
export const PLAN_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
