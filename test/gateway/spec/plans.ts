// Plans beside the built-in ones: one that permits a single endpoint, and one that permits none.
import { USUAL_EVENTS } from "../../../src/gateway/options/plans.js";
import type { Plan } from "../../../src/gateway/settings.js";

export const PLANS: Readonly<Record<string, Plan>> = {
  reader: { perMinute: 100, events: USUAL_EVENTS, endpoints: ["GET /payment/history"] },
  nothing: { perMinute: 100, events: USUAL_EVENTS, endpoints: [] },
};
