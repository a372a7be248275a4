// The specification's section Authentication, row by row, over sockets; and what its keys must never tell.
import { createHash, timingSafeEqual } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Keys } from "../../src/gateway/database/database.js";
import { findKey } from "../../src/gateway/http/auth.js";
import { createFloodGate } from "../../src/gateway/http/flood.js";
import { NOBODY_KEY, REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

// Counted, and otherwise itself.
vi.mock("node:crypto", async (original) => {
  const real = await original<typeof import("node:crypto")>();
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) };
});

const { engine, reached } = scriptEngine();
let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ context: { engine } });
});
afterAll(() => world.close());

const status = (key: string | null, headers: Record<string, string> = {}) =>
  world.call("GET", REQUESTS[2][1], undefined, { key, headers });

describe("Authentication 1: every request carries Authorization: Bearer <API_KEY>", () => {
  for (const [method, path, body] of REQUESTS) {
    it(`${method} ${path.replace(/[^/]{20,}/, "…")} answers to a key and to nobody without one`, async () => {
      const before = reached.length;
      const without = await world.call(method, path, body, { key: null });
      expect(without.status).toBe(401);
      expect(reached.length).toBe(before);
      expect((await world.call(method, path, body)).status).toBe(200);
      expect(reached.length).toBe(before + 1);
    });
  }

  it("takes the key from the header and never from the URL, a cookie or another header", async () => {
    const { apiKey } = world;
    expect((await world.call("GET", `${REQUESTS[2][1]}?api_key=${apiKey}`, undefined, { key: null })).status).toBe(401);
    expect((await status(null, { Cookie: `key=${apiKey}` })).status).toBe(401);
    expect((await status(null, { "X-Api-Key": apiKey })).status).toBe(401);
    expect((await status(null, { Authorization: `Basic ${btoa(`${apiKey}:`)}` })).status).toBe(401);
    expect((await status(null, { Authorization: `bearer ${apiKey}` })).status).toBe(200);
  });
});

describe("Authentication 2: keys are secret", () => {
  it("writes no whole key to the log, whatever is done with it", async () => {
    await status(world.apiKey, { "X-Request-Id": world.apiKey });
    await world.call("GET", `/payment/status/${world.apiKey}?key=${world.apiKey}`);
    expect(world.log.lines.join("\n")).not.toContain(world.apiKey);
    expect(world.log.lines.join("\n")).toContain(world.apiKey.slice(0, 16));
  });

  it("is for servers only: no answer carries a CORS header", async () => {
    const { headers } = await status(world.apiKey, { Origin: "https://shop.example" });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });
});

describe("Authentication 3: rotation", () => {
  it("works with the old key until it is deleted, and with the new one from the start", async () => {
    const { keys } = world.gateway.database;
    const usual = { account: world.account, name: "old", mode: "test", plan: "standard", scopes: ["read"] } as const;
    const old = await keys.create(usual);
    const next = await keys.create({ ...usual, name: "new" });
    expect((await status(old.secret)).status).toBe(200);
    expect((await status(next.secret)).status).toBe(200);
    await keys.revoke(world.account, old.key.id);
    expect((await status(old.secret)).status).toBe(401);
    expect((await status(next.secret)).status).toBe(200);
  });
});

describe("Authentication 4: rate limits depend on the plan of the key", () => {
  it("says the plan's limit in every answer", async () => {
    for (const [plan, limit] of [
      ["standard", "100"],
      ["premium", "1000"],
    ] as const) {
      const { headers } = await status(await world.newKey({ plan, account: await world.newAccount() }));
      expect(headers.get("ratelimit-limit")).toBe(limit);
    }
  });
});

describe("Authentication 5: a missing or invalid key is 401 Unauthorized", () => {
  it("gives one answer for a key that is unknown, wrong, revoked, over, or no key at all", async () => {
    const { keys } = world.gateway.database;
    const wrong = world.apiKey.slice(0, 16) + NOBODY_KEY.slice(16);
    const over = await world.newKey({ expiresAt: Date.now() - 1 });
    const revoked = await keys.create({
      account: world.account,
      name: "x",
      mode: "test",
      plan: "standard",
      scopes: ["read"],
    });
    await keys.revoke(world.account, revoked.key.id);
    const answers = [];
    for (const key of [NOBODY_KEY, wrong, over, revoked.secret, "tg_test_", "x"]) {
      const { status: code, headers, body } = await status(key, { "X-Request-Id": "same-request" });
      answers.push({ code, scheme: headers.get("www-authenticate"), body });
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ code: 401, scheme: "Bearer", body: { error: { code: "UNAUTHORIZED" } } });
  });

  it("says so where there is no header, which tells nothing of any key", async () => {
    const { headers, body } = await status(null);
    expect(headers.get("www-authenticate")).toBe("Bearer");
    expect(body.error).toMatchObject({
      code: "UNAUTHORIZED",
      message: expect.stringContaining("no Authorization header"),
    });
    expect((await status("x")).body.error?.message).not.toContain("no Authorization header");
  });

  it("asks the database once and compares once, whether the key is unknown, wrong, revoked or over", async () => {
    const { keys } = world.gateway.database;
    const { key } = await keys.create({
      ...{ account: world.account, name: "x", mode: "test", plan: "standard", scopes: ["read"] as const },
    });
    const hash = createHash("sha256").update(NOBODY_KEY).digest("hex");
    const steps = async (found: Awaited<ReturnType<Keys["find"]>>) => {
      const compared = vi.mocked(timingSafeEqual).mock.calls.length;
      const find = vi.fn(async () => found);
      const parts = {
        keys: { ...keys, find },
        gate: createFloodGate(Date.now),
        logger: world.log.logger,
        now: Date.now,
      };
      const result = await findKey(`Bearer ${NOBODY_KEY}`, parts);
      return [result?.id, find.mock.calls.length, vi.mocked(timingSafeEqual).mock.calls.length - compared];
    };
    expect(await steps(undefined)).toEqual([undefined, 1, 1]);
    expect(await steps({ key, hash: "00".repeat(32) })).toEqual([undefined, 1, 1]);
    expect(await steps({ key, hash: "" })).toEqual([undefined, 1, 0]);
    expect(await steps({ key: { ...key, revokedAt: 1 }, hash })).toEqual([undefined, 1, 1]);
    expect(await steps({ key: { ...key, expiresAt: 1 }, hash })).toEqual([undefined, 1, 1]);
    expect(await steps({ key, hash })).toEqual([key.id, 1, 1]);
  });

  it("refuses before it reads the body", async () => {
    const { status: code } = await world.call("POST", "/payment/send", "{ no JSON", { key: NOBODY_KEY });
    expect(code).toBe(401);
  });
});

describe("Authentication 6: a plan that does not permit the endpoint is 403 Forbidden", () => {
  it("is judged by the plan of the key", async () => {
    const poor = await createGatewayWorld({
      context: { engine },
      options: { plans: { reader: { perMinute: 100, endpoints: ["GET /payment/status"] } } },
    });
    const key = await poor.newKey({ plan: "reader" });
    for (const [method, path, body] of REQUESTS) {
      const answer = await poor.call(method, path, body, { key });
      expect([path, answer.status]).toEqual([path, path.startsWith("/payment/status") ? 200 : 403]);
      expect(answer.headers.get("ratelimit-remaining")).not.toBeNull();
      if (answer.status === 403) expect(answer.body.error?.code).toBe("FORBIDDEN");
    }
    await poor.close();
  });

  it("fails closed where the plan is no longer configured, or is named like a member of every object", async () => {
    for (const plan of ["retired", "constructor", "__proto__"]) {
      expect((await status(await world.newKey({ plan }))).status).toBe(403);
    }
    expect((await status(await world.newKey({ plan: "enterprise" }))).status).toBe(403);
    expect(
      (await status(await world.newKey({ plan: "enterprise", rateLimit: 7 }))).headers.get("ratelimit-limit"),
    ).toBe("7");
  });

  it("opens each endpoint to the scopes that it names and to no other", async () => {
    const open: Record<string, readonly string[]> = {
      send: ["/payment/send", "/payment/status"],
      receive: [
        ...["/payment/receive", "/payment/status", "/transaction/receive", "/verify", "/settle"],
        ...["/transaction/id", "/wallets/challenge", "/wallets/prove"],
      ],
      build: ["/payment/status", "/transaction/send", "/transaction/receive"],
      read: ["/payment/status", "/payment/history"],
      events: [],
    };
    for (const scope of ["send", "receive", "build", "read", "events"] as const) {
      const key = await world.newKey({ scopes: [scope] });
      const permitted = [];
      for (const [method, path, body] of REQUESTS) {
        const { status: code } = await world.call(method, path, body, { key });
        if (code === 200)
          permitted.push(
            path
              .replace(/0x[^/]+$/, "id")
              .split("/")
              .slice(0, 3)
              .join("/"),
          );
        else expect(code).toBe(403);
      }
      expect([scope, permitted.sort()]).toEqual([scope, [...(open[scope] ?? [])].sort()]);
    }
  });
});

describe("Authentication 7: a successful answer shows that the key is valid", () => {
  it("records when a key was last used, once a minute", async () => {
    const { keys } = world.gateway.database;
    const { key, secret } = await keys.create({
      ...{ account: world.account, name: "used", mode: "test", plan: "standard", scopes: ["read"] as const },
    });
    await status(secret);
    await expect.poll(async () => (await keys.get(key.id))?.lastUsedAt).not.toBeNull();
  });
});
