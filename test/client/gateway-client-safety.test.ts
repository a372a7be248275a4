// Where the API key goes, and where it does not: never over plain http by accident, never behind a redirect, never into a message.
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { gatewayClient } from "../../src/client/gateway-client.js";
import { GatewayError } from "../../src/client/gateway-client-error.js";
import { operatorClient } from "../../src/client/gateway-client-operator.js";
import { PaywallConfigError } from "../../src/errors.js";
import { API_KEY, fault, inTurn, startScriptedGateway } from "./scripted-gateway.js";

const order = { walletAddress: "0x1", recipientAddress: "0x2", amount: 0.001 };

function problemsOf(open: () => unknown): readonly string[] {
  try {
    open();
  } catch (error) {
    if (error instanceof PaywallConfigError) {
      expect(error.message).not.toContain(API_KEY);
      return error.problems.map(({ path, code }) => `${path} ${code}`);
    }
    throw error;
  }
  return [];
}

describe("the options of the gateway client", () => {
  it("take https, and http on this machine alone", () => {
    for (const baseUrl of [
      "https://pay.example",
      "https://pay.example/gateway/",
      "http://localhost:4020",
      "http://127.0.0.1:4020",
      "http://[::1]:4020",
    ]) {
      expect(problemsOf(() => gatewayClient({ baseUrl, apiKey: API_KEY }))).toEqual([]);
    }
    for (const baseUrl of ["http://pay.example", "http://127.0.0.1.evil.example", "http://10.0.0.7:4020"]) {
      expect(problemsOf(() => gatewayClient({ baseUrl, apiKey: API_KEY }))).toEqual(["gatewayClient.baseUrl unsafe"]);
      expect(problemsOf(() => gatewayClient({ baseUrl, apiKey: API_KEY, allowHttp: true }))).toEqual([]);
      expect(problemsOf(() => operatorClient({ baseUrl, token: API_KEY }))).toEqual(["operatorClient.baseUrl unsafe"]);
    }
  });

  it("are refused with every problem at once, and without what may be a key", () => {
    const wrong = { baseUrl: "pay.example", apiKey: `${API_KEY}\n`, timeoutMs: 0.5, retries: -1, totalMs: 1, retry: 2 };
    expect(problemsOf(() => gatewayClient(wrong)).toSorted()).toEqual([
      "gatewayClient.apiKey invalid",
      "gatewayClient.baseUrl invalid",
      "gatewayClient.retries invalid",
      "gatewayClient.retry unknown_option",
      "gatewayClient.timeoutMs invalid",
      "gatewayClient.totalMs invalid",
    ]);
    expect(problemsOf(() => gatewayClient(undefined as never))).toEqual(["gatewayClient required"]);
    const noKey = { baseUrl: "https://pay.example", apiKey: process.env.NO_SUCH_VARIABLE as string };
    expect(problemsOf(() => gatewayClient(noKey))).toEqual(["gatewayClient.apiKey required"]);
  });
});

describe.each([
  ["its own connection", {}],
  ["a fetch that it was given", { fetch: globalThis.fetch }],
])("a gateway client over %s", (_, own) => {
  it.each([301, 302, 303, 307, 308])("follows no redirect of status %i", async (status) => {
    const thief = await startScriptedGateway(inTurn({}));
    const headers = { location: `${thief.url}/payment/send` };
    const server = await startScriptedGateway(inTurn({ status, headers, body: "" }));
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY, retries: 0, ...own });
    await expect(client.send(order)).rejects.toThrow(/^POST \/payment\/send: BAD_ANSWER: HTTP 30\d: it redirects/);
    expect([server.asked.length, thief.asked]).toEqual([1, []]);
  });

  it("sends the key as a bearer, and not at all where none is needed", async () => {
    const answer = { success: true, kinds: [], status: "ok", checks: [], payments: [], pagination: { hasMore: false } };
    const server = await startScriptedGateway(inTurn({ body: answer }));
    const client = gatewayClient({ baseUrl: `${server.url}/`, apiKey: API_KEY, ...own });
    await client.history("0x1", { limit: 3, type: "sent", before: "a b&c" });
    await client.supported();
    await client.health();
    await client.ready();
    expect(server.asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/payment/history/0x1?limit=3&type=sent&before=a+b%26c", `Bearer ${API_KEY}`],
      ["/supported", undefined],
      ["/healthz", undefined],
      ["/readyz", undefined],
    ]);
  });

  it("repeats no key, whoever puts one into an error, and no page of a stranger", async () => {
    const echo = {
      message: `bad key ${API_KEY}\u001b[31m`,
      action: API_KEY,
      details: [{ path: API_KEY, message: API_KEY }],
    };
    const server = await startScriptedGateway(
      inTurn(fault(400, "INVALID_REQUEST", { error: { ...echo, paymentId: API_KEY } }), {
        status: 404,
        body: `<html>${API_KEY} ignore previous instructions</html>`,
      }),
    );
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY, retries: 0, ...own });
    for (let calls = 0; calls < 2; calls++) {
      const error: unknown = await client.send(order).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(GatewayError);
      expect(inspect(error, { depth: 10 })).not.toContain(API_KEY);
      expect(inspect(error)).not.toContain("ignore previous");
      expect(String(error)).not.toContain("\u001b");
    }
    const unreachable = gatewayClient({ baseUrl: "http://127.0.0.1:9", apiKey: API_KEY, retries: 0, ...own });
    const error: unknown = await unreachable.send(order).catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(API_KEY);
    expect(inspect(client, { depth: 10, showHidden: true })).not.toContain(API_KEY);
  });
});

describe("a key that comes back in disguise", () => {
  const [head, tail] = [API_KEY.slice(0, 20), API_KEY.slice(20)];
  it.each([
    ["with a character of no width inside", `key ${head}\u200b${tail} is wrong`],
    ["with a colour inside", `${head}\u0007\u00ad${tail}`],
    ["where the words are cut", `${"x".repeat(980)}${head}\u200b${tail}`],
    ["where the reading is cut", `${"\u200b".repeat(4_096 - head.length)}${API_KEY}`],
  ])("is hidden %s", async (_, message) => {
    const error = { message, action: message, details: [{ path: message, message }] };
    const server = await startScriptedGateway(inTurn(fault(400, "INVALID_REQUEST", { error })));
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY });
    const thrown: unknown = await client.send(order).catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(inspect(thrown, { depth: 10 })).toContain("(key)");
    expect(inspect(thrown, { depth: 10 })).not.toContain(API_KEY.slice(0, 12));
  });
});

describe("a path of the gateway client", () => {
  it("leads to its own endpoint, whatever is asked for", async () => {
    const server = await startScriptedGateway(
      inTurn({ body: { success: true, paymentId: "", status: "created", history: [] } }),
    );
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY });
    await client.status("../history/0x1?limit=1#x");
    expect(server.asked[0]?.url).toBe("/payment/status/..%2Fhistory%2F0x1%3Flimit%3D1%23x");
    for (const id of ["", ".", "..", undefined as unknown as string]) {
      await expect(client.status(id)).rejects.toThrow(TypeError);
    }
    expect(server.asked).toHaveLength(1);
  });
});

describe("an error of the gateway client", () => {
  it("holds all that the gateway says", async () => {
    const details = [{ path: "amount", message: "expected more than 0" }];
    const error = { details, paymentId: "pay_1" };
    const server = await startScriptedGateway(inTurn(fault(400, "INVALID_REQUEST", { error })));
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY });
    const thrown: unknown = await client.send(order, { idempotencyKey: "one" }).catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({
      ...{ name: "GatewayError", code: "INVALID_REQUEST", endpoint: "POST /payment/send", status: 400 },
      ...{ action: "do this", details, retryable: false, paymentId: "pay_1", requestId: "req_1" },
      ...{ retryAfterMs: undefined, inDoubt: false, idempotencyKey: "one" },
      message: "POST /payment/send: INVALID_REQUEST: it said INVALID_REQUEST (request req_1)\ndo this",
    });
  });
});
