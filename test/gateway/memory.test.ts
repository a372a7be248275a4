// Memory under many requests of every kind: what a gateway remembers of callers and strangers is bounded. Short here; the long
// form, 100,000 requests against the process alone, is `node bench/gateway-memory.mjs`.
import { expect, it } from "vitest";
import { dice } from "../support/dice.js";
import { heldBytes } from "../support/heap.js";
import { createGatewayWorld } from "./world.js";

const REQUESTS = 5_000;
const MEGABYTE = 2 ** 20;
const STATUS = "/payment/status/pay_7WkEoVyS3bWkQrZ9dGqUdx";
const HISTORY = "/payment/history/0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

it("5,000 requests of callers and strangers leave less than 15 MB", async () => {
  const world = await createGatewayWorld({ options: { trustProxy: 1 }, watch: false });
  const key = await world.newKey({ plan: "enterprise", rateLimit: 1_000_000 });
  const draw = dice(7);
  const own = { Authorization: `Bearer ${key}` };
  const address = () => `10.${draw(256)}.${draw(256)}.${draw(256)}`;
  const stranger = () => ({
    Authorization: `Bearer tg_test_${String(10 ** 9 + draw(10 ** 9)).replace(/0/g, "x")}${"z".repeat(34)}`,
    "X-Forwarded-For": address(),
  });
  const order = { walletAddress: "0x00", recipientAddress: "0x00", amount: 1 };
  const post = { method: "POST", headers: { ...own, "Content-Type": "application/json" }, body: JSON.stringify(order) };
  const kinds: readonly (readonly [number, () => Response | Promise<Response>])[] = [
    [404, () => world.gateway.app.request(STATUS, { headers: own })],
    [200, () => world.gateway.app.request(HISTORY, { headers: own })],
    [401, () => world.gateway.app.request(STATUS, { headers: stranger() })],
    [404, () => world.gateway.app.request(`/nowhere/${draw(10 ** 9)}`, { headers: own })],
    [400, () => world.gateway.app.request("/transaction/send", post)],
  ];
  const run = async (count: number) => {
    for (let n = 0; n < count; n += kinds.length) {
      const got = await Promise.all(kinds.map(async ([, ask]) => (await ask()).status));
      expect(got).toEqual(kinds.map(([status]) => status));
    }
    // The lines that the test itself keeps.
    (world.log.lines as string[]).length = 0;
  };
  await run(1_500);
  const before = heldBytes();
  await run(REQUESTS);
  expect(heldBytes() - before).toBeLessThan(15 * MEGABYTE);
  await world.close();
}, 120_000);
