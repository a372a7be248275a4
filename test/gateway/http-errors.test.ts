// The specification's section Errors, row by row, over sockets: each status and code in the one shape, and every problem named.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fault, GATEWAY_ERRORS, type GatewayErrorCode } from "../../src/gateway/errors.js";
import { EXAMPLES } from "../../src/gateway/http/examples.js";
import { errorAnswer } from "../../src/gateway/schemas/index.js";
import { type Answer, detailsOf } from "./call.js";
import { NOBODY_KEY, REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const { engine, reached, answer, hold } = scriptEngine();
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ context: { engine } });
});
afterAll(() => world.close());

const [[, SEND, ORDER], [, RECEIVE, CLAIM]] = REQUESTS;

/** The one shape, with nothing beside it. */
function expectError(got: Answer, status: number, code: GatewayErrorCode): void {
  expect(got.status).toBe(status);
  expect(errorAnswer.strict().safeParse(got.body).error).toBeUndefined();
  expect(got.body).toMatchObject({ success: false, error: { code } });
  expect(got.body.error?.action).toBe(GATEWAY_ERRORS[code].action);
  expect(got.body.error?.retryable).toBe(GATEWAY_ERRORS[code].retryable);
  expect(got.body.requestId).toBe(got.headers.get("x-request-id"));
}

describe("HTTP statuses common to all endpoints", () => {
  for (const [method, path, body] of REQUESTS) {
    const name = `${method} ${path.replace(/0x\w+|pay_\w+/g, "{id}")}`;
    it(`${name}: 400 Bad Request for invalid parameters`, async () => {
      if (path.startsWith("/payment/status")) expectError(await world.call(method, `${path}x`), 404, "NOT_FOUND");
      else if (method === "POST") expectError(await world.call(method, path, {}), 400, "INVALID_REQUEST");
      else {
        const query = `${path.includes("?") ? "&" : "?"}nonsense=1`;
        expectError(await world.call(method, path + query), 400, "INVALID_REQUEST");
      }
    });

    it(`${name}: 401 Unauthorized where the API key is missing or invalid`, async () => {
      expectError(await world.call(method, path, body, { key: null }), 401, "UNAUTHORIZED");
      expectError(await world.call(method, path, body, { key: NOBODY_KEY }), 401, "UNAUTHORIZED");
    });

    it(`${name}: 403 Forbidden where the plan lacks access`, async () => {
      const key = await world.newKey({ plan: "retired" });
      expectError(await world.call(method, path, body, { key }), 403, "FORBIDDEN");
    });

    it(`${name}: 429 where the rate limit is exceeded`, async () => {
      const key = await world.newKey({ account: await world.newAccount(), plan: "enterprise", rateLimit: 1 });
      await world.call(method, path, body, { key });
      expectError(await world.call(method, path, body, { key }), 429, "RATE_LIMIT");
    });
  }
});

describe("error codes", () => {
  it.each([
    ["INSUFFICIENT_BALANCE", 400, "Add funds to the wallet"],
    ["INVALID_PAYMENT_PROOF", 400, "Retry with a fresh proof"],
    ["PAYMENT_VERIFICATION_FAILED", 502, "Check payment status and retry"],
    ["INVALID_RECIPIENT", 400, "Verify the recipient address"],
    ["RATE_LIMIT", 429, "Slow down; retry with exponential backoff"],
  ] as const)("%s is answered with %i and the recommended action: %s", async (code, status, action) => {
    answer("send", async () => fault(code, "words", { paymentId: "pay_7WkEoVyS3bWkQrZ9dGqUdx" }));
    const got = await world.call("POST", SEND, ORDER);
    expectError(got, status, code);
    expect(got.body.error).toMatchObject({ action, message: "words", paymentId: "pay_7WkEoVyS3bWkQrZ9dGqUdx" });
    answer("send", undefined);
  });

  it("have another action, and are final, where the engine says so", async () => {
    answer("send", async () => fault("UNAVAILABLE", "words", { action: "Ask the operator", retryable: false }));
    const got = await world.call("POST", SEND, ORDER);
    expect(got.status).toBe(503);
    expect(got.body.error).toMatchObject({ code: "UNAVAILABLE", action: "Ask the operator", retryable: false });
    answer("send", undefined);
  });

  it("passes every fault of the engine on in the same shape", async () => {
    for (const code of Object.keys(GATEWAY_ERRORS) as GatewayErrorCode[]) {
      const details = [{ path: "amount", message: "expected less" }];
      answer("send", async () => fault(code, "words", { details, retryAfter: 1.2 }));
      const got = await world.call("POST", SEND, ORDER);
      expectError(got, GATEWAY_ERRORS[code].status, code);
      expect(got.body.error?.details).toEqual(details);
      expect(got.headers.get("retry-after")).toBe("2");
    }
    answer("send", undefined);
  });

  it("says nothing of an unexpected error but an id, under which the log has it without any key", async () => {
    const key = `0x${"ab".repeat(32)}`;
    answer("send", () => Promise.reject(new Error(`inner words\nwith ${key}`)));
    const got = await world.call("POST", SEND, ORDER, { headers: { "X-Request-Id": "my-request-1" } });
    expectError(got, 500, "INTERNAL_ERROR");
    expect(got.text).not.toContain("inner");
    expect(got.body.requestId).toBe("my-request-1");
    const [line] = world.log.of("a request failed").filter(({ requestId }) => requestId === "my-request-1");
    expect(line?.reason).toContain("inner words");
    // Where it was thrown, and nothing else of what it said.
    expect(String(line?.at).split("\n")).toEqual(String(line?.at).match(/^ +at .+$/gm));
    expect(world.log.lines.join()).not.toContain(key.slice(2));
    answer("send", undefined);
  });
});

describe("a verification that takes too long", () => {
  it("is 504 PAYMENT_VERIFICATION_FAILED where the engine says so, with the record it made", async () => {
    answer("receive", async ({ caller }) => {
      await new Promise<void>((resolve) => caller.signal.addEventListener("abort", () => resolve()));
      return fault("PAYMENT_VERIFICATION_FAILED", "not confirmed in time", { status: 504, paymentId: "pay_x" });
    });
    const got = await world.call("POST", RECEIVE, { ...CLAIM, timeout: 1 });
    expectError(got, 504, "PAYMENT_VERIFICATION_FAILED");
    expect(got.body.error?.paymentId).toBe("pay_x");
    answer("receive", undefined);
  });

  it("is 504 also where the engine says nothing; what it then finds is kept for the same Idempotency-Key", async () => {
    const end = hold("receive");
    const before = reached.length;
    const headers = { "Idempotency-Key": "slow" };
    const ask = () => world.call("POST", RECEIVE, { ...CLAIM, timeout: 1 }, { headers });
    expectError(await ask(), 504, "PAYMENT_VERIFICATION_FAILED");
    expectError(await ask(), 409, "CONFLICT");
    end({ late: true });
    await expect.poll(async () => (await ask()).body.late).toBe(true);
    expect(reached.length).toBe(before + 1);
    answer("receive", undefined);
  });
});

describe("a caller who goes away", () => {
  it("is told to the engine, unless an Idempotency-Key says that it will ask again", async () => {
    const end = hold("send");
    const leave = async (headers: Record<string, string>) => {
      const before = reached.length;
      const stop = new AbortController();
      const gone = world.call("POST", SEND, ORDER, { headers, signal: stop.signal }).catch(() => "gone");
      await expect.poll(() => reached.length).toBe(before + 1);
      stop.abort();
      expect(await gone).toBe("gone");
      return reached.at(-1)?.caller.signal;
    };
    const kept = await leave({ "Idempotency-Key": "leaves" });
    const told = await leave({});
    await expect.poll(() => told?.aborted).toBe(true);
    expect(kept?.aborted).toBe(false);
    end({});
    answer("send", undefined);
  });
});

describe("every other way to be refused", () => {
  it("404 for a path that no route has, whoever asks", async () => {
    for (const path of ["/", "/payment", "/payment/send/", "/Payment/Send", "/payment/status/", "/v1/payment/send"]) {
      expectError(await world.call("GET", path), 404, "NOT_FOUND");
      expectError(await world.call("POST", path, ORDER, { key: null }), 404, "NOT_FOUND");
    }
  });

  it("405 with Allow for a path with another method", async () => {
    for (const [method, path] of REQUESTS) {
      for (const wrong of ["PUT", "DELETE", "PATCH", "OPTIONS", method === "POST" ? "GET" : "POST"]) {
        const got = await world.call(wrong, path);
        expectError(got, 405, "METHOD_NOT_ALLOWED");
        expect(got.headers.get("allow")).toBe(method === "POST" ? "POST" : "GET, HEAD");
      }
    }
    expectError(await world.call("POST", "/healthz"), 405, "METHOD_NOT_ALLOWED");
  });

  it("413 for more than 64 KiB, by length or as it comes", async () => {
    const large = { ...ORDER, resource: "x".repeat(64 * 1024) };
    expectError(await world.call("POST", SEND, large), 413, "BODY_TOO_LARGE");
    const stream = new Blob([JSON.stringify(large)]).stream();
    const init = { method: "POST", body: stream, duplex: "half" } as RequestInit;
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${world.apiKey}` };
    const chunked = await fetch(world.url + SEND, { ...init, headers });
    expect(chunked.status).toBe(413);
    expect(await chunked.json()).toMatchObject({ error: { code: "BODY_TOO_LARGE" } });
    const small = await fetch(world.url + SEND, {
      ...({ method: "POST", duplex: "half", body: new Blob([JSON.stringify(ORDER)]).stream() } as RequestInit),
      headers,
    });
    expect(small.status).toBe(200);
  });

  it.each([
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/jsonp",
    "application/json, text/html",
    "multipart/form-data; boundary=x",
  ])("415 for Content-Type %j", async (type) => {
    const body = new TextEncoder().encode(JSON.stringify(ORDER));
    expectError(
      await world.call("POST", SEND, body, { headers: { "Content-Type": type } }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    );
  });

  it("415 for a body in another encoding, and none for JSON by any of its spellings", async () => {
    expectError(
      await world.call("POST", SEND, ORDER, { headers: { "Content-Encoding": "gzip" } }),
      415,
      "UNSUPPORTED_MEDIA_TYPE",
    );
    for (const type of ["application/json;charset=UTF-8", 'application/json ; charset="utf-8"', "Application/JSON"]) {
      expect((await world.call("POST", SEND, ORDER, { headers: { "Content-Type": type } })).status).toBe(200);
    }
  });

  it("400 with every problem of a request, and without one word of what was refused", async () => {
    const got = await world.call("POST", SEND, {
      walletAddress: "SECRETSECRET",
      amount: "SECRET",
      metadata: 1,
      priorityFee: 5,
      extra: 1,
      "a.b": 2,
    });
    expectError(got, 400, "INVALID_REQUEST");
    expect(
      detailsOf(got)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(["a.b", "amount", "extra", "metadata", "priorityFee", "recipientAddress", "walletAddress"].sort());
    expect(got.text).not.toContain("SECRET");
  });

  it("400 says what is missing, and which field an unknown one was probably meant to be", async () => {
    const { recipientAddress, amount: _, ...rest } = ORDER;
    const got = await world.call("POST", SEND, { ...rest, recipient: recipientAddress });
    expectError(got, 400, "INVALID_REQUEST");
    expect(got.body.error).toMatchObject({ message: expect.stringMatching(/amount: is missing: expected a number/) });
    expect(detailsOf(got)).toContainEqual({
      path: "recipient",
      message: "unknown field: did you mean recipientAddress?",
    });
    expect(String((await world.call("POST", SEND, [])).body.error)).not.toContain("missing");
    const small = await world.call("POST", SEND, { ...ORDER, amount: 0.0001 });
    expect(detailsOf(small)).toEqual([
      { path: "amount", message: "expected from 0.001 to 100 (POST /transaction/send takes any amount)" },
    ]);
  });

  it("names the problems of an x402 request by the version that it is in", async () => {
    const facilitated = EXAMPLES.verify.request;
    const got = await world.call("POST", "/verify", { ...facilitated, paymentRequirements: { scheme: "exact" } });
    expectError(got, 400, "INVALID_REQUEST");
    const paths = detailsOf(got).map(({ path }) => path);
    expect(paths).toContain("paymentRequirements.payTo");
    expect(paths.every((path) => path.startsWith("paymentRequirements."))).toBe(true);
  });
});
