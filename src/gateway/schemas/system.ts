// What the gateway says of itself: /healthz and /readyz.
import { z } from "@hono/zod-openapi";
import { success } from "./fields.js";

export const healthAnswer = z.object({ success, status: z.literal("ok") }).openapi("HealthAnswer");

export const readyAnswer = z
  .object({
    success,
    /** `degraded`: it serves, and something beside the database does not answer. */
    status: z.enum(["ready", "degraded"]),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean() })),
  })
  .openapi("ReadyAnswer");
export type ReadyAnswer = z.infer<typeof readyAnswer>;
