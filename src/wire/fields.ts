// Members that several wire shapes have in common.
import * as z from "zod/mini";
import { parseInteger } from "../money.js";

/** A member that may be absent or null, both of which mean absent in v2 (protocol §2). */
export const optional = <Schema extends z.ZodMiniType>(schema: Schema) => z.optional(z.nullable(schema));

export const text = z.string().check(z.minLength(1, "expected text that is not empty"));

/** Text, never a number: a float cannot hold an amount, and a second spelling would be a second identity. */
export const uint256 = z
  .string()
  .check(
    z.refine((digits) => parseInteger(digits).ok, "expected a whole number below 2^256 in decimal digits, as text"),
  );
