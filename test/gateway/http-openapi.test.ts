// The OpenAPI document says what the gateway does: every route, field, bound, default, code and status, from the schemas that
// validate; and the page at /docs is made of it.

import { z } from "@hono/zod-openapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GATEWAY_ERRORS } from "../../src/gateway/errors.js";
import { PROTECTED } from "../../src/gateway/http/endpoints.js";
import { EXAMPLES } from "../../src/gateway/http/examples.js";
import { ENDPOINTS } from "../../src/gateway/settings.js";
import type { Json } from "./call.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let world: GatewayWorld;
let document: Json;
beforeAll(async () => {
  world = await createGatewayWorld();
  document = (await world.call("GET", "/openapi.json", undefined, { key: null })).body;
});
afterAll(() => world.close());

/** Follows a local reference. */
function resolve(node: Json | undefined): Json {
  const ref: unknown = node?.$ref;
  if (typeof ref !== "string") return node ?? {};
  const found = ref
    .slice(2)
    .split("/")
    .reduce<Json | undefined>((at, name) => at?.[name], document);
  if (!found) throw new Error(`${ref} leads nowhere`);
  return resolve(found);
}
const operation = (path: string, method: string): Json => document.paths?.[path]?.[method] ?? {};
const schemaOf = (content: Json | undefined): Json => resolve(content?.content?.["application/json"]?.schema);
const requestOf = (path: string): Json => schemaOf(operation(path, "post").requestBody);
const fieldsOf = (schema: Json): string[] => Object.keys(schema.properties ?? {}).sort();

function everyNode(node: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) visit(node as Record<string, unknown>);
  for (const member of Object.values(node)) everyNode(member, visit);
}

describe("the OpenAPI document", () => {
  it("is OpenAPI 3.1 with a bearer scheme, and every reference in it leads somewhere", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
    });
    let references = 0;
    everyNode(document, (node) => {
      if (typeof node.$ref !== "string") return;
      references += 1;
      expect(resolve(node as unknown as Json)).toBeTypeOf("object");
    });
    expect(references).toBeGreaterThan(20);
  });

  it("has every endpoint that plans know, and every public one", () => {
    expect([...PROTECTED.map(({ name }) => name), "GET /events"].sort()).toEqual([...ENDPOINTS].sort());
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(
      [
        "POST /payment/send",
        "POST /payment/receive",
        "GET /payment/status/{paymentId}",
        "GET /payment/history/{walletAddress}",
        "POST /transaction/send",
        "POST /transaction/receive",
        "GET /transaction/{transactionId}",
        "POST /verify",
        "POST /settle",
        "POST /wallets/challenge",
        "POST /wallets/prove",
        "GET /supported",
        "GET /healthz",
        "GET /readyz",
        "GET /events",
      ].sort(),
    );
  });

  it("has exactly the fields of the specification and of the design", () => {
    const common = [
      "amount",
      "asset",
      "metadata",
      "network",
      "priorityFee",
      "recipientAddress",
      "resource",
      "walletAddress",
    ];
    expect(fieldsOf(requestOf("/payment/send"))).toEqual([...common, "requirements"].sort());
    expect(fieldsOf(requestOf("/transaction/send"))).toEqual(common);
    const claim = ["asset", "expectedAmount", "facilitatorUrl", "network", "paymentProof", "resource", "walletAddress"];
    expect(fieldsOf(requestOf("/payment/receive"))).toEqual([...claim, "settle", "timeout"].sort());
    expect(fieldsOf(requestOf("/transaction/receive"))).toEqual([...claim, "priorityFee"].sort());
    expect(requestOf("/payment/send").required).toEqual(["walletAddress", "recipientAddress", "amount"]);
    expect(requestOf("/payment/receive").required).toEqual(["walletAddress", "paymentProof", "expectedAmount"]);
    expect(requestOf("/payment/send").additionalProperties).toBe(false);
  });

  it("has the bounds and defaults of the specification", () => {
    const send = requestOf("/payment/send").properties;
    const numberOf = (field: Json | undefined) => ((field?.anyOf ?? []) as unknown as Json[])[0];
    expect(numberOf(send?.amount)).toMatchObject({ type: "number", minimum: 0.001, maximum: 100 });
    expect(numberOf(send?.priorityFee)).toMatchObject({ minimum: 0.00001, maximum: 0.01 });
    expect(numberOf(requestOf("/transaction/send").properties?.amount)?.maximum).toBeUndefined();
    expect(numberOf(requestOf("/transaction/send").properties?.priorityFee)?.maximum).toBe(0.01);
    expect(requestOf("/payment/receive").properties).toMatchObject({
      timeout: { minimum: 1, maximum: 300, default: 30 },
      settle: { default: true },
    });
    const parameters = operation("/payment/history/{walletAddress}", "get").parameters as unknown as Json[];
    const named = Object.fromEntries(parameters.map((one) => [String(one.name), one]));
    expect(named).toMatchObject({
      walletAddress: { in: "path", required: true },
      type: { in: "query", required: false, schema: { enum: ["sent", "received", "all"], default: "all" } },
      limit: { in: "query", required: false, schema: { type: "integer", minimum: 1, maximum: 500, default: 50 } },
      offset: { in: "query", required: false, schema: { type: "integer", minimum: 0, default: 0 } },
      before: { in: "query", required: false },
    });
  });

  it("has every code of every status, with an example of each in the one shape", () => {
    const described = new Set<string>();
    for (const { path, method, codes } of PROTECTED) {
      const { responses, security } = operation(path, method);
      expect(security).toEqual([{ apiKey: [] }]);
      const expected = new Set([
        "200",
        "400",
        "401",
        "403",
        "429",
        "500",
        ...codes.map((code) => String(GATEWAY_ERRORS[code].status)),
      ]);
      for (const status of expected)
        expect([path, status, responses?.[status] !== undefined]).toEqual([path, status, true]);
      for (const [status, answer] of Object.entries(responses ?? {})) {
        if (status === "200") continue;
        const examples = answer?.content?.["application/json"]?.examples ?? {};
        expect(Object.keys(examples).length).toBeGreaterThan(0);
        for (const [code, example] of Object.entries(examples)) {
          described.add(code);
          expect(example?.value).toMatchObject({ success: false, error: { code } });
          const own = String(GATEWAY_ERRORS[code as keyof typeof GATEWAY_ERRORS].status);
          expect([own, "504"]).toContain(status);
        }
      }
    }
    // Of paths and methods that are not described nothing can be.
    expect(Object.keys(GATEWAY_ERRORS).filter((code) => !described.has(code))).toEqual(["METHOD_NOT_ALLOWED"]);
  });

  it("has examples that the schemas take", () => {
    for (const { name, body, answer, examples } of PROTECTED) {
      if (body) expect([name, z.core.safeParse(body, examples.request).error]).toEqual([name, undefined]);
      expect([name, z.core.safeParse(answer, examples.answer).error]).toEqual([name, undefined]);
    }
    expect(EXAMPLES.supported.kinds.length).toBeGreaterThan(0);
  });

  it("names the address under which callers reach the service", async () => {
    const own = await createGatewayWorld({ options: { publicUrl: "https://pay.example/x402" } });
    const { servers } = (await own.call("GET", "/openapi.json")).body;
    expect(servers).toEqual([{ url: "https://pay.example/x402" }]);
    await own.close();
  });
});

describe("the page at /docs", () => {
  it("shows every endpoint and code, and asks nobody for anything", async () => {
    const { status, text, headers } = await world.call("GET", "/docs", undefined, { key: null });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=UTF-8");
    for (const { method, path } of PROTECTED) expect(text).toContain(`${method.toUpperCase()} ${path}`);
    for (const code of Object.keys(GATEWAY_ERRORS)) expect(text).toContain(code);
    expect(text).not.toMatch(/<script|<link|<img|@import|url\(|undefined|\[object/i);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    expect(policy).toContain(`'sha256-${Buffer.from(digest).toString("base64")}'`);
  });
});
