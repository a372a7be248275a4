// What the gateway says of itself: /healthz and /readyz.
import { success } from "./fields.js";
import { z } from "./zod.js";

export const healthAnswer = z
  .object({ success, status: z.literal("ok").describe("The process answers") })
  .openapi("HealthAnswer");

export const readyAnswer = z
  .object({
    success,
    status: z
      .enum(["ready", "degraded"])
      .describe("degraded: it serves, and something beside the database does not answer"),
    checks: z
      .array(
        z.object({
          name: z.string().describe("database, redis, or a network"),
          ok: z.boolean().describe("Did it answer within 3 s?"),
        }),
      )
      .describe("Each part, as it was within the last 5 s"),
  })
  .openapi("ReadyAnswer");
export type ReadyAnswer = z.infer<typeof readyAnswer>;
