// Served and not paid: what is no settlement gives no byte of the goods, however the handler answers and whatever a header
// claims to be.
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS as SITES } from "../adapters/frameworks.js";
import { STYLES } from "../adapters/styles.js";
import { send as sendRaw } from "../adapters/wire.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { createWorld } from "../support/world.js";
import { ask, signFor } from "./buyer.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});

describe.each(SITES)("F20: a settlement that fails on $name", ({ start }) => {
  it.each(STYLES)("drops the goods of a handler that answers with $name", async (style) => {
    for (const failure of ["refused", "unknown", "unavailable"] as const) {
      const world = createWorld();
      world.receiver.settlements.push(() =>
        failure === "refused"
          ? { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" }
          : { outcome: failure, message: "scripted" },
      );
      const site = await start({ guard: world.guard, style });
      const got = await sendRaw(site.port, "/paid", { headers: await world.sign({ target: "/paid" }) });
      expect([failure, got.status]).toEqual([failure, failure === "refused" ? 402 : 503]);
      expect(got.text).not.toMatch(/goods|Created/);
      expect(got.headers).not.toHaveProperty("x-goods");
      expect([world.receiver.calls.settle, JSON.parse(got.text).x402Version]).toEqual([1, expect.any(Number)]);
      await site.close();
    }
  });
});

describe.each(FRAMEWORKS)("served and not paid on %s", (framework) => {
  it("F26: no header buys because it is long, looks like a hash, or names a transaction of the past", async () => {
    shop = await openShop(framework);
    const url = `${shop.url}/report`;
    const first = await ask(url, await signFor(url));
    expect(first.status).toBe(200);
    const settled = [...shop.remote.settled.values()][0] ?? "";
    const json = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64");
    const tries = [
      "aaaaaaaaaaaa",
      settled,
      `0x${"12".repeat(32)}`,
      json({ x402Version: 2, payload: { transaction: settled } }),
      json({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload: { transaction: settled } }),
      json({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload: { txHash: settled, secret: "00" } }),
    ];
    for (const value of [...tries, ...tries]) {
      for (const name of ["X-PAYMENT", "PAYMENT-SIGNATURE"]) {
        const got = await ask(url, { headers: { [name]: value } });
        expect([400, 402]).toContain(got.status);
        expect(got.body).not.toContain("the goods");
      }
    }
    expect(shop.runs).toHaveLength(1);
  });

  it("F27: the right amount for another payee is refused without a call, in any case of the letters for the right one", async () => {
    shop = await openShop(framework, { verify: "remote" });
    const url = `${shop.url}/report`;
    const other = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
    for (const version of [1, 2] as const) {
      const got = await ask(url, await signFor(url, { version, overrides: { to: other } }));
      expect([got.status, got.json.code]).toEqual([402, "recipient_mismatch"]);
    }
    expect(shop.remote.requests.filter(({ endpoint }) => endpoint !== "supported")).toEqual([]);
    const payment = await signFor(url);
    const lower = JSON.parse(Buffer.from(payment.value, "base64").toString());
    lower.payload.authorization.to = lower.payload.authorization.to.toLowerCase();
    lower.accepted.payTo = lower.accepted.payTo.toLowerCase();
    const value = Buffer.from(JSON.stringify(lower)).toString("base64");
    expect((await ask(url, { headers: { [payment.name]: value } })).status).toBe(200);
  });
});
