// What the steps of one request tell each other.
import type { HttpBindings } from "@hono/node-server";
import type { Context, MiddlewareHandler } from "hono";
import type { ApiKey } from "../caller.js";

export interface GatewayEnv {
  /** Absent where the app's fetch is called without a server of Node. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    requestId: string;
    /** The route's pattern, for log and metrics: never the path as it came. */
    endpoint?: string;
    /** Set once the caller has authenticated. */
    key?: ApiKey;
  };
}

export type GatewayContext = Context<GatewayEnv>;
/** One step before the endpoint: answers, or hands on. */
export type Step = MiddlewareHandler<GatewayEnv>;
