// `client.events()` over real gateways: what comes, in order, once; through restarts, refusals and ends.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { gatewayClient } from "../../src/client/gateway-client.js";
import type { PaymentEvent } from "../../src/client/gateway-client-shapes.js";
import { serve } from "../../src/gateway/serve.js";
import { newPayment, recordOf } from "../gateway/database/payments-made.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "../gateway/world.js";
import { freePort } from "../support/process.js";

let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ watch: false });
});
afterAll(() => world.close());
afterEach(() => vi.unstubAllGlobals());

async function newListener(url = world.url) {
  const account = await world.newAccount();
  const apiKey = await world.newKey({ account });
  const insert = async () => recordOf(await world.gateway.parts.database.payments.insert(newPayment(account)));
  return { account, insert, client: gatewayClient({ baseUrl: url, apiKey }) };
}

/** The first so many events. */
async function take(events: AsyncIterable<PaymentEvent>, count: number): Promise<readonly PaymentEvent[]> {
  const got: PaymentEvent[] = [];
  for await (const event of events) if (got.push(event) === count) break;
  return got;
}
const cursors = (events: readonly PaymentEvent[]) => events.map(({ cursor }) => cursor);

describe.each(["the runtime's own WebSocket", "the package ws"])("events by %s", (kind) => {
  it("come typed, in order, from since on, and end with a break", async () => {
    if (kind === "the package ws") vi.stubGlobal("WebSocket", undefined);
    else if (typeof WebSocket !== "function") return;
    const { client, insert } = await newListener();
    for (let n = 0; n < 60; n += 1) await insert();
    const events = await take(client.events({ keys: ["payments"], since: 3 }), 57);
    expect(cursors(events)).toEqual(Array.from({ length: 57 }, (_, n) => n + 4));
    expect(events[0]).toMatchObject({ type: "payment", data: { status: "created", asset: "ETH" } });
  });
});

describe("events", () => {
  it("go on through a restart of the gateway, without a gap and nothing twice", async () => {
    // One that the system gives to nobody else between the two.
    const port = await freePort();
    const first: Instance = await world.another(undefined, port);
    const { client, insert } = await newListener(first.url);
    const events = client.events({ keys: ["payments"], since: 0 });
    const got: PaymentEvent[] = [];
    for (let n = 0; n < 3; n += 1) await insert();
    for (let n = 0; n < 3; n += 1) got.push(...((await events.next()).value ? [] : []));
    await first.close();
    for (let n = 0; n < 3; n += 1) await insert();
    const again = await serve(world.gateway, { port });
    try {
      got.push(...(await take(events, 3)));
      expect(cursors(got)).toEqual([4, 5, 6]);
    } finally {
      again.server.close();
      again.server.closeAllConnections();
    }
  });

  it("end with the signal, while nothing comes and before anything came", async () => {
    const { client } = await newListener();
    const stop = new AbortController();
    const events = client.events({ keys: ["payments"], signal: stop.signal });
    const next = events.next();
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await client.events({ keys: ["payments"], signal: AbortSignal.abort() }).next()).toMatchObject({
      done: true,
    });
  });

  it("are refused with the gateway's code: a wrong key, a key without the scope, a wrong key of a channel, an old cursor", async () => {
    const { client } = await newListener();
    const failing = (events: AsyncGenerator<PaymentEvent, void, undefined>) =>
      events.next().catch((error) => error.code);
    const as = (apiKey: string) => gatewayClient({ baseUrl: world.url, apiKey }).events({ keys: ["payments"] });
    expect(await failing(as(`tg_test_${"1".repeat(40)}`))).toBe("UNAUTHORIZED");
    expect(await failing(as(await world.newKey({ scopes: ["read"] })))).toBe("FORBIDDEN");
    expect(await failing(client.events({ keys: ["everything"] }))).toBe("INVALID_REQUEST");
    expect(await failing(client.events({ keys: ["payments"], since: 99 }))).toBe("cursor_expired");
  });

  it("of a gateway that nobody runs are UNREACHABLE after the client's retries", async () => {
    const apiKey = world.apiKey;
    const client = gatewayClient({ baseUrl: "http://127.0.0.1:9", apiKey, retries: 1 });
    await expect(client.events({ keys: ["payments"] }).next()).rejects.toMatchObject({ code: "UNREACHABLE" });
  });
});
