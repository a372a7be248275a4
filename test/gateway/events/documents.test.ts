// What docs/gateway.md and the OpenAPI document say of GET /events is what the socket goes by: methods, types, codes, bounds, ends.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDS } from "../../../src/gateway/events/ends.js";
import { EVENT_TIMES, MAX_MESSAGE_BYTES } from "../../../src/gateway/events/times.js";
import { BUILT_IN_PLANS } from "../../../src/gateway/options/plans.js";
import {
  EVENT_CHANNELS,
  eventCommand,
  eventMessage,
  MAX_EVENT_KEYS,
  paymentRecord,
} from "../../../src/gateway/schemas/index.js";
import type { Json } from "../call.js";
import { gatewayDocument, sectionOf, tablesOf, wordsOf } from "../gateway-document.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";

const text = sectionOf(gatewayDocument(), "## Live events");
const [said = []] = tablesOf(text);

let world: GatewayWorld;
let document: Json;
beforeAll(async () => {
  world = await createGatewayWorld({ watch: false });
  document = (await world.call("GET", "/openapi.json", undefined, { key: null })).body;
});
afterAll(() => world.close());

const METHODS = eventCommand.options.map(({ shape }) => [...shape.method.values][0]);
const TYPES = eventMessage.options.map(({ shape }) => [...shape.type.values][0]);
const EVENTS = Object.values(EVENT_CHANNELS);
const componentOf = (name: string): Json => document.components?.schemas?.[name] ?? {};
const branches = (node: Json) => (node.oneOf ?? node.anyOf ?? []) as unknown as Json[];

describe("GET /events in docs/gateway.md", () => {
  it("has every method and every field of it, and no other", () => {
    const rows = said.map((row) => row["you say"] ?? "").filter((words) => words.includes('"method"'));
    const methodIn = (words: string) => /"method": "(\w+)"/.exec(words)?.[1];
    expect(rows.map(methodIn)).toEqual(METHODS);
    for (const { shape } of eventCommand.options) {
      const row = rows.find((words) => methodIn(words) === [...shape.method.values][0]) ?? "";
      const fields = [...(wordsOf(row)[0] ?? "").matchAll(/"(\w+)"[?:,\s]/g)].map(([, name]) => name);
      expect(fields.filter((name) => name !== methodIn(row))).toEqual(Object.keys(shape));
    }
  });

  it("has every message with its fields, and no other", () => {
    const shown = said.flatMap((row) => wordsOf(row["you are told"]).filter((words) => words.startsWith("{")));
    const event = /\{ "type": "payment" \|[^`]*/.exec(text)?.[0] ?? "";
    for (const { shape } of eventMessage.options) {
      const type = [...shape.type.values][0] ?? "";
      const words = shown.find((one) => one.includes(`"type": "${type}"`)) ?? event;
      expect(words).toContain(`"${type}"`);
      for (const name of Object.keys(shape))
        expect([type, words]).toEqual([type, expect.stringContaining(`"${name}"`)]);
    }
    expect(shown.length + EVENTS.length).toBe(TYPES.length);
  });

  it("has the channels, the close codes and the bounds that the code has", () => {
    for (const name of Object.keys(EVENT_CHANNELS)) expect(text).toContain(`\`${name}\``);
    const ends = /\*\*Ends\*\*[^*]*/.exec(text)?.[0] ?? "";
    const codes = [...ends.matchAll(/\b(1\d{3}|4\d{3})\b/g)].map(([, code]) => Number(code));
    // That of a message that is too large comes from the protocol itself.
    expect(codes.sort()).toEqual([1009, ...Object.values(ENDS).map(({ code }) => code)].sort());
    expect(text).toContain(`at most ${MAX_MESSAGE_BYTES / 1024} KiB`);
    expect(text).toContain(`At most ${MAX_EVENT_KEYS} on a socket`);
    expect(text).toContain(`within ${EVENT_TIMES.authenticateMs / 1000} s`);
    expect(text).toContain(`takes nothing for ${EVENT_TIMES.slowMs / 1000} s`);
    const plans = sectionOf(gatewayDocument(), "## Keys, plans and limits");
    for (const { events } of Object.values(BUILT_IN_PLANS)) {
      if (events === "key") continue;
      expect(plans).toMatch(new RegExp(`\\b${events.connections}\\b`));
      expect(plans).toMatch(new RegExp(`\\b${events.messagesPerSecond}\\b`));
    }
  });
});

describe("GET /events in the OpenAPI document", () => {
  it("is an upgrade without parameters, which names what is said on the socket and what is told", () => {
    const operation: Json = document.paths?.["/events"]?.get ?? {};
    expect(operation).toMatchObject({
      security: [{ apiKey: [] }, {}],
      "x-websocket": {
        says: { $ref: "#/components/schemas/EventCommand" },
        tells: { $ref: "#/components/schemas/EventMessage" },
      },
    });
    expect(operation.parameters).toBeUndefined();
    expect(Object.keys(operation.responses ?? {})).toContain("101");
    expect(Object.keys(operation.responses ?? {})).not.toContain("200");
  });

  it("has a shape for each method and each type, and the record of a payment by its name", () => {
    const constantOf = (branch: Json, name: string): unknown => {
      const field: Json | undefined = branch.properties?.[name];
      return field?.const ?? (field?.enum as unknown as string[] | undefined)?.[0];
    };
    expect(branches(componentOf("EventCommand")).map((one) => constantOf(one, "method"))).toEqual(METHODS);
    const told = branches(componentOf("EventMessage"));
    expect(told.map((one) => constantOf(one, "type"))).toEqual(TYPES);
    for (const one of told.filter((branch) => EVENTS.includes(constantOf(branch, "type") as never))) {
      expect(one.properties?.data).toEqual({ $ref: "#/components/schemas/PaymentRecord" });
    }
    const fields = Object.keys(componentOf("PaymentRecord").properties ?? {});
    expect(fields.sort()).toEqual(Object.keys(paymentRecord.shape).sort());
  });
});
