// One endpoint of the API as data: what stands in the OpenAPI document, what validates, and what runs are the same object.
import { z } from "@hono/zod-openapi";
import type { Caller, Scope } from "../caller.js";
import type { Engine } from "../engine.js";
import type { GatewayErrorCode, Outcome } from "../errors.js";
import type { Endpoint } from "../settings.js";
import { invalidRequest } from "./details.js";

/** What came, as text and JSON. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined for a GET. */
  readonly body: unknown;
}

/** A validated request. */
export interface ReadRequest {
  /** What an Idempotency-Key stands for. */
  readonly content: unknown;
  /** How long the engine may take, where the request says. */
  readonly timeoutMs?: number;
  run(engine: Engine, caller: Caller): Promise<Outcome<object>>;
}

/** A schema of zod or of zod/mini. */
export type Schema = z.core.$ZodType;

export interface EndpointDefinition {
  readonly name: Endpoint;
  readonly method: "get" | "post";
  /** As OpenAPI writes it. */
  readonly path: string;
  /** Any one of them opens it. */
  readonly scopes: readonly [Scope, ...Scope[]];
  readonly summary: string;
  readonly description: string;
  /** Beside those that every authenticated endpoint has. */
  readonly codes: readonly GatewayErrorCode[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: Schema;
  readonly answer: Schema;
  readonly examples: { readonly request?: object; readonly answer: object };
  read(asked: Asked): Outcome<ReadRequest>;
}

/** Reads the body by a schema. */
export const byBody =
  <Body extends Schema>(
    schema: Body,
    run: (engine: Engine, caller: Caller, body: z.core.output<Body>) => Promise<Outcome<object>>,
    timeoutMs?: (body: z.core.output<Body>) => number,
  ) =>
  ({ body }: Asked): Outcome<ReadRequest> => {
    const parsed = z.core.safeParse(schema, body);
    if (!parsed.success) return invalidRequest(parsed.error, body);
    const content = parsed.data;
    const value = { content, run: (engine: Engine, caller: Caller) => run(engine, caller, content) };
    return { ok: true, value: timeoutMs ? { ...value, timeoutMs: timeoutMs(content) } : value };
  };

/** Query parameters by a schema; one that stands twice is refused by its own schema, as the list that it then is. */
export function readQuery<Query extends Schema>(schema: Query, query: URLSearchParams): Outcome<z.core.output<Query>> {
  const names = [...new Set(query.keys())];
  const given = names.map((name) => {
    const all = query.getAll(name);
    return [name, all.length === 1 ? all[0] : all];
  });
  const asked = Object.fromEntries(given);
  const parsed = z.core.safeParse(schema, asked);
  return parsed.success ? { ok: true, value: parsed.data } : invalidRequest(parsed.error, asked);
}
