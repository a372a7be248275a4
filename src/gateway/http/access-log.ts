// One line and one figure for each request: what was asked for by its pattern, how it ended, who asked. Never a query string,
// a body, or a credential.
import type { GatewayLogger } from "../parts.js";
import type { Step } from "./context.js";
import type { Metrics } from "./metrics.js";

/** Stands for every path that no route has. */
const UNMATCHED = "unmatched";

export function accessLog(logger: GatewayLogger, metrics: Metrics): Step {
  return async (c, next) => {
    const begun = performance.now();
    await next();
    const ms = performance.now() - begun;
    const endpoint = c.get("endpoint") ?? UNMATCHED;
    const key = c.get("key");
    const { status } = c.res;
    metrics.answered(endpoint, status, ms / 1000);
    logger.info(
      {
        requestId: c.get("requestId"),
        method: c.req.method,
        endpoint,
        status,
        ms: Math.round(ms * 10) / 10,
        ...(key && { key: key.prefix, account: key.account }),
      },
      "request",
    );
  };
}
