// Paid and not served: a buyer who gets nothing is not charged, and learns why in words that a program can act on.
import { afterEach, describe, expect, it } from "vitest";
import { facilitator } from "../../src/receive/facilitator.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { good, refused } from "../support/configurations.js";
import { answer } from "../support/scripted-facilitator.js";
import { ask, required, signFor } from "./buyer.js";
import { receiptOf } from "./market.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
const settles = (at: Shop) => at.remote.requests.filter(({ endpoint }) => endpoint === "settle").length;

it("F12: a settlement that is waited for longer than a signature lasts is refused at the start, with both numbers", async () => {
  const receive = facilitator({ url: "https://facilitator.example", timeoutMs: 60_000 });
  const [problem, ...others] = refused({ ...good, receive, handlerTimeoutMs: 5000, maxTimeoutSeconds: 5 });
  expect(others).toEqual([]);
  expect(problem?.path).toMatch(/TimeoutMs$|TimeoutSeconds$/);
  for (const part of ["60000", "5"]) expect(problem?.message).toContain(part);
  expect(refused({ ...good, receive, handlerTimeoutMs: 5000, maxTimeoutSeconds: 66 })).toEqual([]);
  await receive.close();
});

describe.each(FRAMEWORKS)("paid and not served on %s", (framework) => {
  it("F15: a handler that throws is not charged; settled first, its payment is served without a new charge", async () => {
    let runs = 0;
    const handler = () => {
      runs += 1;
      if (runs % 2 === 1) throw new Error("upstream is down");
      return { body: "the goods" };
    };
    shop = await openShop(framework, {
      routes: [
        { path: "/report", handler },
        { path: "/upfront", options: { flow: "upfront" }, handler },
      ],
    });
    const later = await signFor(`${shop.url}/report`);
    expect((await ask(`${shop.url}/report`, later)).status).toBe(500);
    expect(settles(shop)).toBe(0);
    expect((await ask(`${shop.url}/report`, later)).status).toBe(200);

    const first = await signFor(`${shop.url}/upfront`);
    expect((await ask(`${shop.url}/upfront`, first)).status).toBe(500);
    expect((await ask(`${shop.url}/upfront`, first)).body).toBe("the goods");
    expect([settles(shop), shop.remote.settled.size]).toEqual([2, 2]);
  });

  it("F18: the unpaid body says the same as the PAYMENT-REQUIRED header, in JSON", async () => {
    shop = await openShop(framework);
    const got = await ask(`${shop.url}/report`);
    const header = required(got) as { accepts: { amount: string; payTo: string; asset: string; extra: object }[] };
    const body = got.json as { accepts: { maxAmountRequired: string; payTo: string; asset: string; extra: object }[] };
    const terms = (offer: { payTo: string; asset: string; extra: object }, amount: string) =>
      JSON.stringify([amount, offer.payTo.toLowerCase(), offer.asset.toLowerCase(), offer.extra]);
    expect(body.accepts.map((offer) => terms(offer, offer.maxAmountRequired))).toEqual(
      header.accepts.map((offer) => terms(offer, offer.amount)),
    );
    expect(header.accepts).toHaveLength(1);
  });

  it("F18: a settlement that fails says its reason in the body and in the receipt", async () => {
    shop = await openShop(framework);
    shop.remote.script("settle", answer.refuse("insufficient_funds"));
    const got = await ask(`${shop.url}/report`, await signFor(`${shop.url}/report`));
    expect([got.status, got.json.error]).toEqual([402, "insufficient_funds"]);
    expect(receiptOf(got)).toMatchObject({ success: false, errorReason: "insufficient_funds", transaction: "" });
  });
});
