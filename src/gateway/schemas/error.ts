// The one shape of every answer that is not a success. Source: design §7.
import { GATEWAY_ERRORS, type GatewayErrorCode } from "../errors.js";
import { z } from "./zod.js";

const codes = Object.keys(GATEWAY_ERRORS) as GatewayErrorCode[];

export const errorAnswer = z
  .object({
    success: z.literal(false).describe("Always false"),
    error: z
      .object({
        code: z.enum(codes).describe("One of the codes: stable, meant for programs"),
        message: z.string().describe("What was wrong, expected and got, for people"),
        action: z.string().describe("The recommended caller action"),
        details: z
          .array(
            z.object({
              path: z.string().describe("The field, or a machine's word such as already_used"),
              message: z.string().describe("What was wrong there"),
            }),
          )
          .optional()
          .describe("Each place of the request that was wrong"),
        retryable: z.boolean().describe("Is the same request worth sending again?"),
        paymentId: z.string().optional().describe("The record that tells how it went, where one was made"),
      })
      .describe("What was wrong"),
    requestId: z.string().describe("Names the request in the gateway's log; also in X-Request-Id"),
  })
  .openapi("ErrorAnswer");
export type ErrorAnswer = z.infer<typeof errorAnswer>;
