// What every schema of the API is written with: zod as @hono/zod-openapi has extended it. Its types are named as zod's own, so
// that the declarations of `tollgate/client`, which are inferred from these schemas, need no package of the gateway's.
import { z as extended } from "@hono/zod-openapi";
import type { core, z as plain } from "zod";

export const z: typeof plain = extended;
export declare namespace z {
  type infer<Schema extends core.$ZodType> = plain.infer<Schema>;
}
