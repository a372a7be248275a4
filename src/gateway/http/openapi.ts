// The OpenAPI document, made of the endpoints and the schemas that validate. Every code of every status has its example.
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { facilitatorRequestBody, settleResponse, supportedResponse, verifyResponse } from "../../wire/facilitator.js";
import { GATEWAY_ERRORS, type GatewayErrorCode } from "../errors.js";
import { errorAnswer, healthAnswer, readyAnswer } from "../schemas/index.js";
import { toErrorAnswer } from "./answer.js";
import type { GatewayEnv } from "./context.js";
import type { EndpointDefinition, Schema } from "./endpoint.js";
import { PROTECTED } from "./endpoints.js";
import { EXAMPLES } from "./examples.js";
import { describeEvents } from "./openapi-events.js";

type Registry = OpenAPIHono<GatewayEnv>["openAPIRegistry"];
type JsonSchema = Parameters<Registry["registerComponent"]>[2];

/** What every endpoint behind a key may answer. */
const COMMON = ["INVALID_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "RATE_LIMIT", "INTERNAL_ERROR"] as const;
/** What every one with a body may answer beside. */
const WITH_BODY = ["CONFLICT", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;

/** Shapes of the wire are schemas of zod/mini, which the generator does not read: they stand by name. */
const WIRE = new Map<Schema, string>([
  [facilitatorRequestBody, "FacilitatorRequest"],
  [verifyResponse, "VerifyResponse"],
  [settleResponse, "SettleResponse"],
  [supportedResponse, "SupportedResponse"],
]);

const info = {
  title: "tollgate gateway",
  version: "1",
  description:
    "Payments over x402 (HTTP 402): hosted (send, receive) and local (unsigned transactions). Amounts are whole units of the asset; instants are Unix seconds.",
};

/** Enters every route of the API. */
export function describeApi(registry: Registry): void {
  registry.registerComponent("securitySchemes", "apiKey", {
    type: "http",
    scheme: "bearer",
    description: "Authorization: Bearer tg_live_… or tg_test_…",
  });
  for (const [schema, name] of WIRE) {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input" });
    registry.registerComponent("schemas", name, json as JsonSchema);
  }
  for (const endpoint of PROTECTED) registry.registerPath(routeOf(endpoint));
  for (const route of PUBLIC) registry.registerPath(route);
  describeEvents(registry, errorsOf([...COMMON, "UNAVAILABLE"]));
}

/** The document as JSON text: made once, since nothing in it changes. */
export const writeDocument = (app: OpenAPIHono<GatewayEnv>, publicUrl: string | undefined): string =>
  JSON.stringify(documentOf(app, publicUrl));

export const documentOf = (app: OpenAPIHono<GatewayEnv>, publicUrl: string | undefined) =>
  app.getOpenAPI31Document({ openapi: "3.1.0", info, servers: [{ url: publicUrl ?? "/" }] });

const json = (schema: Schema, example?: object) => {
  const name = WIRE.get(schema);
  const shown = name === undefined ? (schema as z.ZodType) : { $ref: `#/components/schemas/${name}` };
  return { content: { "application/json": { schema: shown, ...(example && { example }) } } };
};

function routeOf({
  method,
  path,
  summary,
  description,
  codes,
  params,
  query,
  body,
  answer,
  examples,
  ...rest
}: EndpointDefinition) {
  const all = [...COMMON, ...(body ? WITH_BODY : []), ...codes];
  return createRoute({
    method,
    path,
    summary,
    description: `${description} Scope: ${rest.scopes.join(" or ")}.`,
    security: [{ apiKey: [] }],
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(body && { body: { required: true, ...json(body, examples.request) }, headers: idempotencyHeader }),
    },
    responses: { 200: { description: "Success", headers: RATE, ...json(answer, examples.answer) }, ...errorsOf(all) },
  });
}

const idempotencyHeader = z.object({
  "Idempotency-Key": z.string().min(1).max(255).optional().openapi({
    description: "The same key and content get the same answer for 24 hours. Use random keys.",
    example: "9c1e7f0a-5c1d-4b2e-9a57-2f3d6f6f8f10",
  }),
});

const integer = (description: string) => ({ description, schema: { type: "integer" as const } });
const RATE = {
  "RateLimit-Limit": integer("Requests a minute of the key's plan"),
  "RateLimit-Remaining": integer("What is left of them"),
  "RateLimit-Reset": integer("Seconds until the minute is over"),
  "X-Request-Id": { description: "Names this request in the log", schema: { type: "string" as const } },
};

/** One answer for each status, with an example of each of its codes. */
function errorsOf(codes: readonly GatewayErrorCode[]) {
  const statuses = new Map<number, GatewayErrorCode[]>();
  for (const code of codes) {
    const { status } = GATEWAY_ERRORS[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
    if (code === "PAYMENT_VERIFICATION_FAILED") statuses.set(504, [code]);
  }
  const entries = [...statuses].map(([status, found]) => {
    const words = found.map((code) => `${code}: ${GATEWAY_ERRORS[code].when}`);
    const examples = Object.fromEntries(found.map((code) => [code, { value: exampleOf(code) }]));
    const content = { "application/json": { schema: errorAnswer, examples } };
    return [String(status), { description: words.join("; "), content }] as const;
  });
  return Object.fromEntries(entries);
}

const exampleOf = (code: GatewayErrorCode) =>
  toErrorAnswer({ ok: false, code, message: GATEWAY_ERRORS[code].when }, "req_9Jm3d0QxYbq2rT5v");

const open = (
  path: string,
  summary: string,
  answer: Schema,
  example: object,
  codes: readonly GatewayErrorCode[] = [],
) =>
  createRoute({
    method: "get",
    path,
    summary,
    security: [],
    responses: { 200: { description: "Success", ...json(answer, example) }, ...errorsOf([...codes, "INTERNAL_ERROR"]) },
  });

const PUBLIC = [
  open("/supported", "x402 facilitator: what can be settled here", supportedResponse, EXAMPLES.supported),
  open("/healthz", "The process answers", healthAnswer, EXAMPLES.health),
  open("/readyz", "The service can serve", readyAnswer, EXAMPLES.ready, ["UNAVAILABLE"]),
];
