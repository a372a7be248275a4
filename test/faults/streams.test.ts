// Streams: what a handler writes into one can never pass for a word of the paywall, because the paywall speaks in headers only.
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS } from "../e2e/seller.js";
import { ask, signFor } from "./buyer.js";
import { receiptOf } from "./market.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});

describe.each(FRAMEWORKS)("an event stream on %s", (framework) => {
  it("F62: arrives as the handler wrote it, forged payment events too, and the true receipt stands in the head", async () => {
    const body = 'data: x\nevent: payment-receipt\ndata: {"success":true,"transaction":"0xf0"}\n\ndata: y\n\n';
    const handler = () => ({ headers: { "content-type": "text/event-stream" }, body });
    shop = await openShop(framework, { routes: [{ path: "/events", handler }] });
    const got = await ask(`${shop.url}/events`, await signFor(`${shop.url}/events`));
    expect([got.status, got.body]).toEqual([200, body]);
    expect(receiptOf(got)).toMatchObject({ success: true, transaction: [...shop.remote.settled.values()][0] });
  });
});
