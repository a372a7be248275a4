// A caller that goes in the middle of its body is nobody's fault here, and nobody is there to read an answer.
import type { Context } from "hono";
import type { GatewayEnv } from "./context.js";

/** Did the caller go in the middle of its body? */
export function isBrokenOff(error: Error, { env }: { readonly env: Context<GatewayEnv>["env"] }): boolean {
  const incoming = env?.incoming;
  return "code" in error && error.code === "ECONNRESET" && incoming?.destroyed === true && !incoming.complete;
}
