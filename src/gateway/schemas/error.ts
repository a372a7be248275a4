// The one shape of every answer that is not a success. Source: design §7.
import { z } from "@hono/zod-openapi";
import { GATEWAY_ERRORS, type GatewayErrorCode } from "../errors.js";

const codes = Object.keys(GATEWAY_ERRORS) as GatewayErrorCode[];

export const errorAnswer = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.enum(codes),
      message: z.string(),
      /** The recommended caller action. */
      action: z.string(),
      /** Each place of the request that was wrong. */
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      /** Is the same request worth sending again? */
      retryable: z.boolean(),
      /** The record that tells how it went, where one was made. */
      paymentId: z.string().optional(),
    }),
    requestId: z.string(),
  })
  .openapi("ErrorAnswer");
export type ErrorAnswer = z.infer<typeof errorAnswer>;
