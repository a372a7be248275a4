// Which web pages may open a socket: those of the gateway itself and those that the operator names. A browser writes its page's
// origin on every upgrade; programs that are no browsers send none. Source: faults A44.
import type { GatewaySettings } from "../settings.js";

/** `origin`: the header as it came; undefined = no browser. */
export function isAllowedOrigin(
  origin: string | undefined,
  { publicUrl, eventOrigins }: Pick<GatewaySettings, "publicUrl" | "eventOrigins">,
): boolean {
  if (origin === undefined) return true;
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return origin === own || eventOrigins.includes(origin);
}
