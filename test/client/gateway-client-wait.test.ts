// Following a payment to where it ends, and a history to its end, whatever the gateway says on the way.
import { describe, expect, it, vi } from "vitest";
import { createGatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { WaitOptions } from "../../src/client/gateway-client-wait.js";
import { wait } from "../../src/client/wait.js";
import { API_KEY, fault, inTurn, movedClock, type Scripted, startScriptedGateway } from "./scripted-gateway.js";

const at = (status: unknown): Scripted => ({ body: { success: true, paymentId: "pay_1", status, history: [] } });

async function follow(replies: readonly Scripted[], options: WaitOptions = {}, retries = 0) {
  const server = await startScriptedGateway(inTurn(...replies));
  const clock = movedClock();
  const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY, retries }, clock);
  const outcome = await client.wait("pay_1", options).then(
    ({ status }) => status,
    (error: unknown) => error,
  );
  return { outcome, asked: server.asked.length, pauses: clock.pauses };
}

describe("waiting for a payment", () => {
  it.each([
    [["created", "submitted", "confirmed"], {}, "confirmed"],
    [["submitted", "finalized"], {}, "finalized"],
    [["submitted", "confirmed", "finalized"], { until: "finalized" }, "finalized"],
    [["created", "failed"], {}, "failed"],
    [["submitted", "confirmed", "failed"], { until: "finalized" }, "failed"],
    [["created", "expired"], { until: "finalized" }, "expired"],
  ] as const)("ends where it is reached or can no longer be: %j %j", async (statuses, options, last) => {
    expect(await follow(statuses.map(at), options)).toMatchObject({ outcome: last, asked: statuses.length });
  });

  it("waits longer each time, up to five seconds", async () => {
    const { pauses } = await follow([...Array.from({ length: 9 }, () => at("submitted")), at("confirmed")]);
    expect(pauses).toEqual([500, 750, 1_125, 1_687.5, 2_531.25, 3_796.875, 5_000, 5_000, 5_000]);
  });

  it("gives up when its time is over, and says where the payment was", async () => {
    const { outcome, pauses } = await follow([at("submitted")], { timeoutMs: 10_000 });
    expect(outcome).toMatchObject({ code: "NOT_IN_TIME", paymentId: "pay_1", retryable: true });
    expect(String(outcome)).toContain("pay_1 was not confirmed in time; its status is submitted");
    expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(10_000);
  });

  it("outlasts a gateway that does not answer, for as long as that asks to be left alone", async () => {
    const limited = fault(429, "RATE_LIMIT", { retryable: true, headers: { "retry-after": "9" } });
    const { outcome, pauses } = await follow(["reset", limited, at("confirmed")]);
    expect([outcome, pauses]).toEqual(["confirmed", [500, 9_000]]);
    expect((await follow([fault(404, "NOT_FOUND"), at("confirmed")])).outcome).toMatchObject({ code: "NOT_FOUND" });
  });

  it("ends with the caller's own reason", async () => {
    const reason = new Error("enough");
    expect((await follow([at("submitted")], { signal: AbortSignal.abort(reason) })).outcome).toBe(reason);
  });

  it.each([[`\u001b[2J${API_KEY}`], ["paid"], [""], [5], [null], [{ toString: 1, valueOf: 1 }], [["confirmed"]]])(
    "takes no status that is none, and shows nothing of it: %j",
    async (status) => {
      const { outcome, asked } = await follow([at(status)], { timeoutMs: 10_000 }, 3);
      expect([outcome, asked]).toEqual([expect.objectContaining({ name: "GatewayError", code: "BAD_ANSWER" }), 1]);
      expect(String(outcome)).toMatch(/^GatewayError: GET [^:]+: BAD_ANSWER: HTTP 200: expected JSON of a gateway/);
      expect(String(outcome)).not.toContain(API_KEY);
    },
  );

  it("ends in its time, also while a call hangs", async () => {
    const server = await startScriptedGateway(inTurn("hang"));
    const client = gatewayClient({ baseUrl: server.url, apiKey: API_KEY, timeoutMs: 20_000, totalMs: 20_000 });
    const startedAt = performance.now();
    await expect(client.wait("pay_1", { timeoutMs: 2_000 })).rejects.toMatchObject({ code: "NOT_IN_TIME" });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(server.asked).toHaveLength(1);
  }, 60_000);

  it.each([Number.POSITIVE_INFINITY, Number.NaN, 99, 3_600_001, 500.5, "1000", null])(
    "asks nothing for a time that is none: %s",
    async (timeoutMs) => {
      const { outcome, asked } = await follow([at("submitted")], { timeoutMs: timeoutMs as number });
      expect([String(outcome), asked]).toEqual([
        expect.stringMatching(/^TypeError: timeoutMs: expected whole mill/),
        0,
      ]);
    },
  );

  it("does not run at once because a pause is longer than a timer can be", async () => {
    vi.useFakeTimers();
    try {
      const over = vi.fn<() => void>();
      void wait(3_000_000_000, undefined).then(over);
      await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
      expect(over).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(over).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("reading a history to its end", () => {
  const page = (ids: readonly string[], before?: string, hasMore = before !== undefined): Scripted => ({
    body: {
      success: true,
      payments: ids.map((paymentId) => ({ paymentId })),
      pagination: { hasMore, ...(before !== undefined && { before }) },
    },
  });
  async function read(...pages: readonly Scripted[]) {
    const server = await startScriptedGateway(inTurn(...pages));
    const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY }, movedClock());
    const found: string[] = [];
    for await (const { paymentId } of client.payments("0x1", { limit: 2, type: "sent" })) found.push(paymentId);
    return { found, urls: server.asked.map(({ url }) => url) };
  }

  it("goes by the cursor of the page before", async () => {
    const { found, urls } = await read(page(["a", "b"], "c1"), page(["c"], "c2"), page(["d"]));
    expect(found).toEqual(["a", "b", "c", "d"]);
    const path = "/payment/history/0x1?limit=2&type=sent";
    expect(urls).toEqual([path, `${path}&before=c1`, `${path}&before=c2`]);
  });

  it("is not led in a circle", async () => {
    await expect(read(page(["a"], "c1"), page(["b"], "c1"))).rejects.toThrow("does not lead on");
    await expect(read(page(["a"], "c1"), page([], "c2"))).rejects.toThrow("does not lead on");
    const rounds = [page(["a"], "c1"), page(["b"], "c2"), page(["c"], "c3"), page(["d"], "c1"), page(["e"])];
    await expect(read(...rounds)).rejects.toMatchObject({ code: "BAD_ANSWER", retryable: false });
  });

  it.each([
    [5, { hasMore: false }],
    ["abc", { hasMore: false }],
    [{ length: 1e9 }, { hasMore: false }],
    [[1], { hasMore: false }],
    [[null], { hasMore: false }],
    [[], null],
    [[], {}],
    [[], { hasMore: "no" }],
    [[{ paymentId: "a" }], { hasMore: true, before: 5 }],
  ])("believes no page of another shape: %j, %j", async (payments, pagination) => {
    const reading = read({ body: { success: true, payments, pagination } });
    await expect(reading).rejects.toMatchObject({ name: "GatewayError", code: "BAD_ANSWER", status: 200 });
  });
});
