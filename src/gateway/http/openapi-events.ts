// GET /events in the OpenAPI document. OpenAPI has no words for a WebSocket: the upgrade stands there as a request, and under
// `x-websocket` what is said on it and what is told, from the schemas that the socket itself goes by.
import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import { eventCommand, eventMessage } from "../schemas/index.js";
import type { GatewayEnv } from "./context.js";

type Responses = Parameters<typeof createRoute>[0]["responses"];

const SHAPES = { EventCommand: eventCommand, EventMessage: eventMessage };
const refTo = (name: keyof typeof SHAPES) => ({ $ref: `#/components/schemas/${name}` });

/** @param refusals what an upgrade may be answered instead, in the shape of all errors */
export function describeEvents(registry: OpenAPIHono<GatewayEnv>["openAPIRegistry"], refusals: Responses): void {
  for (const [name, schema] of Object.entries(SHAPES)) registry.register(name, schema);
  registry.registerPath(
    createRoute({
      method: "get",
      path: "/events",
      summary: "Live events, on a WebSocket",
      description:
        "Without Authorization the socket opens, and its first message authenticates: a page cannot send the header. The URL takes no parameter, and never a key. Scope: events.",
      security: [{ apiKey: [] }, {}],
      responses: { 101: { description: "It is a WebSocket now: one JSON text a message" }, ...refusals },
      "x-websocket": { says: refTo("EventCommand"), tells: refTo("EventMessage") },
    }),
  );
}
