// The Node response behind a Hono context, where Hono runs on Node: the connection tells whether an answer came through.
import type { Context } from "hono";

/** What is used of the Node response that @hono/node-server puts into the environment. */
export interface NodeResponse {
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  end(...args: readonly unknown[]): unknown;
  once(event: "finish" | "close", listener: () => void): unknown;
}

/** Undefined on other runtimes. */
export function nodeResponse(c: Context): NodeResponse | undefined {
  const env: unknown = c.env;
  const outgoing: unknown = typeof env === "object" && env !== null ? Reflect.get(env, "outgoing") : undefined;
  return isNodeResponse(outgoing) ? outgoing : undefined;
}

function isNodeResponse(value: unknown): value is NodeResponse {
  return (
    typeof value === "object" && value !== null && "writableFinished" in value && "once" in value && "end" in value
  );
}

/** Calls `finished` when the last byte was handed to the operating system, `lost` when the connection closed before. */
export function watch(outgoing: NodeResponse, finished: () => void, lost: () => void): void {
  if (outgoing.destroyed) {
    lost();
    return;
  }
  outgoing.once("finish", finished);
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) lost();
  });
}
