// One path of the operator's API: JSON in by a schema, JSON out, every refusal in the gateway's one shape.

import type { z } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { type Fault, fault, type Outcome } from "../errors.js";
import { answerFault } from "../http/answer.js";
import { acceptBody, readBody } from "../http/body.js";
import type { GatewayContext, GatewayEnv, Step } from "../http/context.js";
import { invalidRequest } from "../http/details.js";
import type { GatewayParts } from "../parts.js";

export type AdminApp = Hono<GatewayEnv>;
export type AdminParts = Pick<GatewayParts, "settings" | "database" | "networks" | "custody" | "logger">;
/** Writes down what an operator has changed. */
export type Audit = (call: Pick<AdminCall<unknown>, "requestId">, change: string, facts: object) => void;
type AdminMethod = "get" | "post" | "patch" | "delete";

/** What a request is about. */
export interface AdminCall<Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** What one method of a path does; `answer` goes out beside `success: true`. */
export interface AdminVerb {
  readonly method: AdminMethod;
  readonly step: (c: GatewayContext) => Promise<Response>;
}

/** A method without a body. */
export const without = (
  method: "get" | "delete",
  run: (call: AdminCall<undefined>) => Promise<Outcome<object>>,
): AdminVerb => ({ method, step: async (c) => toAnswer(c, 200, await run({ ...factsOf(c), body: undefined })) });

/** A method whose body the schema reads. */
export const withBody = <Schema extends z.ZodType>(
  method: "post" | "patch",
  schema: Schema,
  run: (call: AdminCall<z.output<Schema>>) => Promise<Outcome<object>>,
): AdminVerb => ({
  method,
  async step(c) {
    const body = await readBody(c);
    if (!body.ok) return answerFault(c, body);
    const parsed = schema.safeParse(body.value);
    if (!parsed.success) return answerFault(c, invalidRequest(parsed.error, body.value));
    return toAnswer(c, method === "post" ? 201 : 200, await run({ ...factsOf(c), body: parsed.data }));
  },
});

/** Puts a path under /admin with all its methods; any other one is 405. */
export function route(app: AdminApp, path: string, ...verbs: readonly AdminVerb[]): void {
  const name = `/admin${path}`;
  for (const { method, step } of verbs) {
    const steps: Step[] = method === "post" || method === "patch" ? [acceptBody()] : [];
    app.on(method.toUpperCase(), path, named(`${method.toUpperCase()} ${name}`), ...steps, step);
  }
  const allowed = verbs.map(({ method }) => method.toUpperCase()).join(", ");
  app.all(path, named(name), (c: GatewayContext) =>
    answerFault(c, fault("METHOD_NOT_ALLOWED", `expected ${allowed}`), { Allow: allowed }),
  );
}

/** For the log: the pattern, never the path as it came. */
const named =
  (endpoint: string): Step =>
  async (c, next) => {
    c.set("endpoint", endpoint);
    await next();
  };

const factsOf = (c: GatewayContext) => ({
  params: c.req.param() as Readonly<Record<string, string>>,
  requestId: c.get("requestId"),
  signal: c.req.raw.signal,
});

const toAnswer = (c: GatewayContext, status: 200 | 201, outcome: Outcome<object>): Response =>
  outcome.ok ? c.json({ success: true, ...outcome.value }, status) : answerFault(c, outcome);

/** Said of one that is not there, before anything of it is looked for. */
export const NO_ACCOUNT: Fault = fault("NOT_FOUND", "there is no such account");
