// What strangers may cost: addresses by one spelling each, and bounded memory under a flood of invented keys and addresses.
import { describe, expect, it } from "vitest";
import { normaliseAddress } from "../../src/gateway/http/client-address.js";
import { createFloodGate, MAX_FAILURES, MAX_REMEMBERED } from "../../src/gateway/http/flood.js";
import { dice } from "../support/dice.js";
import { heldBytes } from "../support/heap.js";
import { createGatewayWorld } from "./world.js";

describe("a client's address", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["::FFFF:102:304", "1.2.3.4"],
    ["1.2.3.4:5678", "1.2.3.4"],
    ["[::ffff:1.2.3.4]:5678", "1.2.3.4"],
    ["2001:db8:0:7:1:2:3:4", "2001:db8:0:7::/64"],
    ["2001:DB8:0:7::1", "2001:db8:0:7::/64"],
    ["[2001:db8:0:7::2]:443", "2001:db8:0:7::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
  ])("%s counts as %s", (spelling, address) => {
    expect(normaliseAddress(spelling)).toBe(address);
  });

  it.each(["", "unknown", "1.2.3", "1.2.3.4.5", "::1::", "localhost", "<script>", "1.2.3.4, 5.6.7.8"])(
    "%j is none",
    (text) => {
      expect(normaliseAddress(text)).toBeUndefined();
    },
  );

  it("keeps two clients of a dual-stack server apart", () => {
    expect(normaliseAddress("::ffff:1.2.3.4")).not.toBe(normaliseAddress("::ffff:1.2.3.5"));
  });
});

describe("the gate against strangers", () => {
  it("shuts an address after its failures of one minute, and opens it with the next", () => {
    let now = 0;
    const gate = createFloodGate(() => now);
    for (let n = 0; n < MAX_FAILURES; n++) {
      expect(gate.waitMs("a")).toBe(0);
      gate.failed("a");
    }
    expect(gate.waitMs("a")).toBe(60_000);
    expect(gate.waitMs("b")).toBe(0);
    now = 60_000;
    expect(gate.waitMs("a")).toBe(0);
  });

  it("remembers a bounded number of addresses and keys, however many come", () => {
    const gate = createFloodGate(() => 0);
    for (let n = 0; n < 50_000; n++) {
      gate.failed(`2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::/64`);
      gate.judged(`digest ${n}`, true);
    }
    expect(gate.size).toBeLessThanOrEqual(2 * MAX_REMEMBERED);
  });
});

describe("a flood of 50,000 random keys from as many addresses", () => {
  it("costs bounded memory", async () => {
    const world = await createGatewayWorld({ options: { trustProxy: 1 }, watch: false });
    const draw = dice(5);
    const { app } = world.gateway;
    const attempt = async () => {
      const key = `tg_test_${Array.from({ length: 44 }, () => "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"[draw(32)]).join("")}`;
      const from = `10.${draw(256)}.${draw(256)}.${draw(256)}`;
      const headers = { Authorization: `Bearer ${key}`, "X-Forwarded-For": from };
      const { status } = await app.request("/payment/status/pay_7WkEoVyS3bWkQrZ9dGqUdx", { headers });
      expect(status).toBe(401);
    };
    const flood = async (count: number) => {
      for (let n = 0; n < count; n += 100) await Promise.all(Array.from({ length: 100 }, attempt));
      (world.log.lines as string[]).length = 0;
    };
    await flood(10_000);
    const before = heldBytes();
    await flood(40_000);
    // The log of the test is emptied; what is left are two bounded maps.
    expect(heldBytes() - before).toBeLessThan(20 * 2 ** 20);
    await world.close();
  }, 300_000);
});
