// The specification's section Limits, the rows about rates, over sockets; in memory, and on a real Redis that two gateways share.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceives, MAX_RECEIVES } from "../../src/gateway/http/receives.js";
import { noRedis } from "../support/redis.js";
import { NOBODY_KEY, REQUESTS, scriptEngine } from "./scripted-engine.js";
import { sharedRedis } from "./services.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "./world.js";

/** The client tries again every two seconds at most. */
const PATIENCE = { timeout: 15_000 };
const { engine, reached, answer } = scriptEngine();
const [, STATUS] = REQUESTS[2];
const [, RECEIVE, RECEIVE_BODY] = REQUESTS[1];

/** `count` requests, `at` in turn, and how many got each status. */
async function tally(at: readonly Instance[], key: string, count: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += 20) {
    const turns = Array.from({ length: Math.min(20, count - sent) }, (_, n) => at[(sent + n) % at.length]!);
    for (const { status } of await Promise.all(turns.map((one) => one.call("GET", STATUS, undefined, { key })))) {
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  }
  return statuses;
}

function rules(name: string, redis: boolean): void {
  describe.skipIf(redis && noRedis() !== undefined)(name, () => {
    let world: GatewayWorld;
    let instances: readonly Instance[];
    beforeAll(async () => {
      world = await createGatewayWorld({ context: { engine }, redis, database: "sqlite" });
      instances = redis ? [world, await world.another()] : [world];
    });
    afterAll(() => world.close());
    const keyOf = async (plan: string, rateLimit?: number, account?: string) =>
      world.newKey({ plan, account: account ?? (await world.newAccount()), ...(rateLimit && { rateLimit }) });

    it("Rate, Standard plan: 100 requests per minute", async () => {
      const key = await keyOf("standard");
      expect(await tally(instances, key, 103)).toEqual({ 200: 100, 429: 3 });
    });

    it("Rate, Premium plan: 1,000 requests per minute", async () => {
      const key = await keyOf("premium");
      expect(await tally(instances, key, 1002)).toEqual({ 200: 1000, 429: 2 });
    }, 60_000);

    it("Rate, Enterprise plan: custom, set for each key", async () => {
      const key = await keyOf("enterprise", 7);
      expect(await tally(instances, key, 9)).toEqual({ 200: 7, 429: 2 });
    });

    it("exceeding it yields 429 with RATE_LIMIT, Retry-After and RateLimit headers, and reaches nothing", async () => {
      const key = await keyOf("enterprise", 1);
      const [first, ...rest] = [await world.call("GET", STATUS, undefined, { key }), world];
      expect(first.headers.get("ratelimit-remaining")).toBe("0");
      expect(rest).toHaveLength(1);
      const before = reached.length;
      const refused = await world.call("GET", STATUS, undefined, { key });
      expect(refused).toMatchObject({
        status: 429,
        body: { success: false, error: { code: "RATE_LIMIT", retryable: true } },
      });
      const reset = Number(refused.headers.get("ratelimit-reset"));
      expect(reset).toBeGreaterThan(50);
      expect(reset).toBeLessThanOrEqual(60);
      expect(refused.headers.get("retry-after")).toBe(String(reset));
      expect(reached.length).toBe(before);
    });

    it("counts the keys of an account together, each judged by its own plan", async () => {
      const account = await world.newAccount();
      const [small, large] = [await keyOf("enterprise", 5, account), await keyOf("enterprise", 8, account)];
      expect(await tally(instances, small, 7)).toEqual({ 200: 5, 429: 2 });
      // What was refused has taken nothing from the other key.
      expect(await tally(instances, large, 5)).toEqual({ 200: 3, 429: 2 });
      expect(await tally(instances, await keyOf("enterprise", 5), 1)).toEqual({ 200: 1 });
    });

    it("counts refused endpoints and invalid requests too, and says what is left on each", async () => {
      const key = await keyOf("enterprise", 3);
      const left = [];
      for (const path of [STATUS, "/payment/history/nonsense", "/payment/history/0x00"]) {
        left.push((await world.call("GET", path, undefined, { key })).headers.get("ratelimit-remaining"));
      }
      expect(left).toEqual(["2", "1", "0"]);
    });
  });
}

rules("limits of one process", false);
rules("limits of two processes on one Redis", true);

describe.skipIf(noRedis() !== undefined)("limits while Redis is down", () => {
  it("go on in each process, never without a limit, and the log says so once", async () => {
    const world = await createGatewayWorld({ context: { engine }, redis: true });
    const redis = await sharedRedis();
    const key = await world.newKey({ plan: "enterprise", rateLimit: 10, account: await world.newAccount() });
    expect(await tally([world], key, 2)).toEqual({ 200: 2 });
    redis.freeze();
    try {
      expect(await tally([world], key, 14)).toEqual({ 200: 8, 429: 6 });
      expect(world.log.of("Redis does not answer: this process counts requests by itself")).toHaveLength(1);
    } finally {
      redis.thaw();
    }
    await redis.kill();
    expect(await tally([world], key, 2)).toEqual({ 429: 2 });
    await redis.restart();
    await world.close();
  });

  it("are shared as soon as a Redis that was down at the start has come", async () => {
    const redis = await sharedRedis();
    await redis.kill();
    const world = await createGatewayWorld({ context: { engine }, redis: true });
    const key = await world.newKey({ plan: "enterprise", rateLimit: 3, account: await world.newAccount() });
    expect(await tally([world], key, 4)).toEqual({ 200: 3, 429: 1 });
    await redis.restart();
    const account = await world.newAccount();
    const fresh = await world.newKey({ plan: "enterprise", rateLimit: 1000, account });
    await expect
      .poll(async () => {
        await world.call("GET", STATUS, undefined, { key: fresh });
        return redis.command("exists", `tollgate:rate:${account}`);
      }, PATIENCE)
      .toBe(1);
    await world.close();
  });
});

describe("every authenticated answer", () => {
  it("says what is left of the minute, whatever its status", async () => {
    const world = await createGatewayWorld({ context: { engine } });
    answer("send", () => Promise.reject(new Error("unforeseen")));
    const [, SEND, ORDER] = REQUESTS[0];
    const answers = [
      await world.call("GET", STATUS),
      await world.call("POST", SEND, {}),
      await world.call("POST", SEND, "{", { headers: { "Idempotency-Key": "" } }),
      await world.call("GET", "/payment/status/pay_"),
      await world.call("POST", SEND, ORDER, { headers: { "Content-Type": "text/plain" } }),
      await world.call("POST", SEND, { ...ORDER, resource: "x".repeat(65_536) }),
      await world.call("POST", SEND, ORDER),
      await world.call("GET", STATUS, undefined, { key: await world.newKey({ scopes: [] }) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 404, 415, 413, 500, 403]);
    const left = answers.map(({ headers }) => Number(headers.get("ratelimit-remaining")));
    expect(left).toEqual([999, 998, 997, 996, 995, 994, 993, 992]);
    expect(answers.every(({ headers }) => Number(headers.get("ratelimit-reset")) > 0)).toBe(true);
    answer("send", undefined);
    await world.close();
  });
});

describe("at most 20 receives of an account at once", () => {
  it("refuses the 21st with a message that says which limit, and takes the next once one has ended", async () => {
    const world = await createGatewayWorld({ context: { engine } });
    const gates: (() => void)[] = [];
    answer("receive", () => new Promise((resolve) => gates.push(() => resolve({ ok: true, value: {} }))));
    const running = Array.from({ length: MAX_RECEIVES }, () => world.call("POST", RECEIVE, RECEIVE_BODY));
    await expect.poll(() => gates.length).toBe(MAX_RECEIVES);
    const refused = await world.call("POST", RECEIVE, RECEIVE_BODY);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMIT" } } });
    expect(String(refused.body.error?.message)).toContain("20 receives");
    expect(refused.headers.get("retry-after")).toBe("1");
    const stranger = await world.newKey({ account: await world.newAccount() });
    const others = world.call("POST", RECEIVE, RECEIVE_BODY, { key: stranger });
    await expect.poll(() => gates.length).toBe(MAX_RECEIVES + 1);
    gates[0]?.();
    await running[0];
    const next = world.call("POST", RECEIVE, RECEIVE_BODY);
    await expect.poll(() => gates.length).toBe(MAX_RECEIVES + 2);
    for (const end of gates) end();
    const all = await Promise.all([...running, others, next]);
    expect(all.map(({ status }) => status)).toEqual(Array(MAX_RECEIVES + 2).fill(200));
    answer("receive", undefined);
    await world.close();
  });
});

describe("receives of several instances", () => {
  it("count together, as the database knows them", async () => {
    let elsewhere = MAX_RECEIVES;
    const receives = createReceives(async () => elsewhere);
    const run = () => receives.run("acc", async () => "done");
    expect(await run()).toMatchObject({ ok: false, code: "RATE_LIMIT" });
    elsewhere -= 1;
    expect(await run()).toBe("done");
  });
});

describe("strangers", () => {
  it("are limited by address, while callers with a good key behind the same address pass", async () => {
    const world = await createGatewayWorld({ context: { engine } });
    expect((await world.call("GET", STATUS)).status).toBe(200);
    const statuses = new Set<number>();
    for (let n = 0; n < 70; n++) statuses.add((await world.call("GET", STATUS, undefined, { key: NOBODY_KEY })).status);
    expect([...statuses]).toEqual([401, 429]);
    const refused = await world.call("POST", "/settle", {}, { key: NOBODY_KEY });
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMIT" } } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await world.call("GET", STATUS)).status).toBe(200);
    expect((await world.call("GET", "/healthz", undefined, { key: null })).status).toBe(200);
    await world.close();
  });

  it("cannot escape by inventing forwarded addresses", async () => {
    const world = await createGatewayWorld({ context: { engine }, options: { trustProxy: 1 } });
    const spoof = (n: number) => ({ "X-Forwarded-For": `10.0.${n >> 8}.${n & 255}, 203.0.113.9` });
    const statuses: number[] = [];
    for (let n = 0; n < 70; n++) {
      statuses.push((await world.call("GET", STATUS, undefined, { key: NOBODY_KEY, headers: spoof(n) })).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(60);
    const other = { "X-Forwarded-For": "203.0.113.9, 203.0.113.10" };
    expect((await world.call("GET", STATUS, undefined, { key: NOBODY_KEY, headers: other })).status).toBe(401);
    await world.close();
  });
});
