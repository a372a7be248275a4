// Answers to a paid try, over sockets: what is sent again and how often, what the caller gets, and what is known of the money.
import { describe, expect, it } from "vitest";
import { flowBuyer, START } from "./flow-buyer.js";
import { type Answer, asks, goods, receipt, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const said = (status: number, body: object, headers = {}): Answer => ({ status, headers, body: JSON.stringify(body) });
const busy = (status: number, headers = {}): Answer => ({ status, headers });

describe("the same proof goes out again", () => {
  const unknown: [string, Answer][] = [
    ["the connection drops", "drop"],
    ["409 in progress", said(409, { code: "payment_in_progress" })],
    ...[409, 425, 429, 502, 503, 504].map((status): [string, Answer] => [`a bare ${status}`, busy(status)]),
  ];

  it.each(unknown)("after %s, until it is served", async (_name, answer) => {
    const shop = await seller(sells(answer, answer, goods()));
    const { pay, wallet, waits, payments, events, store } = flowBuyer();
    expect(await (await pay(shop.url)).text()).toBe("the goods");
    expect(wallet.signed).toHaveLength(1);
    expect(new Set(shop.paid.map(({ proof }) => proof)).size).toBe(1);
    expect(new Set(shop.paid.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(shop.paid).toHaveLength(3);
    expect(waits).toHaveLength(2);
    expect(payments).toHaveLength(1);
    expect(events.filter(({ type }) => type === "sent")).toMatchObject([
      { again: false },
      { again: true },
      { again: true },
    ]);
    expect(await store.purchases()).toMatchObject([{ served: true }]);
  });

  it.each(unknown)(
    "after %s, at most as often as the options say: then the outcome is unknown",
    async (_name, answer) => {
      const shop = await seller(sells(answer));
      const { pay, wallet, counted, events } = flowBuyer({ resend: { times: 2 } });
      await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown", money: "unknown" });
      expect(shop.paid).toHaveLength(3);
      expect(wallet.signed).toHaveLength(1);
      expect(wallet.closed).toBe(1);
      expect(await counted()).toBe(10_000);
      expect(events.at(-1)).toMatchObject({ type: "failed", code: "outcome_unknown", purchase: { status: "sent" } });
    },
  );

  it("waits as Retry-After says, in seconds or until a time, and no longer than the options allow", async () => {
    const at = new Date(START + 7_000).toUTCString();
    const answers = ["2", "3600", at].map((after) => busy(503, { "retry-after": after }));
    const shop = await seller(sells(answers[2]!, answers[0]!, answers[1]!, goods()));
    const { pay, waits } = flowBuyer({ resend: { times: 3, maxDelayMs: 8_000 } });
    await pay(shop.url);
    expect(waits).toEqual([7_000, 2_000, 8_000]);
  });

  it("outlasts a seller's process that died, whatever the others answer: the lease of it is fifteen seconds", async () => {
    for (const after of [undefined, "0", "1", "2"]) {
      const shop = await seller(sells(busy(409, after === undefined ? {} : { "retry-after": after })));
      const { pay, waits } = flowBuyer({ resend: undefined });
      await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
      const [waited, asked] = [waits.reduce((sum, ms) => sum + ms, 0), 1_000 * Number(after ?? 0)];
      expect(waited).toBeGreaterThan(15_000);
      expect(waited).toBeLessThan(45_000);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(asked);
    }
  });

  it("waits longer each time where nothing is said, within the options, and not in step with others", async () => {
    const shop = await seller(sells("drop"));
    const { pay, waits } = flowBuyer({ resend: { times: 6, maxDelayMs: 4_000 } });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    const most = [500, 1_000, 2_000, 4_000, 4_000, 4_000];
    expect(waits).toHaveLength(6);
    for (const [at, waited] of waits.entries()) {
      expect(waited).toBeGreaterThanOrEqual(most[at]! / 2);
      expect(waited).toBeLessThanOrEqual(most[at]!);
    }
    expect(new Set(waits.slice(3)).size).toBeGreaterThan(1);
  });

  it("is not sent again where the options say so", async () => {
    const shop = await seller(sells("drop"));
    await expect(flowBuyer({ resend: { times: 0 } }).pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(shop.paid).toHaveLength(1);
  });

  it("gives the network's own error as the cause", async () => {
    const shop = await seller(sells("drop"));
    const error = await flowBuyer()
      .pay(shop.url)
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ cause: { message: "fetch failed" } });
  });
});

describe("what the seller says of the money is believed", () => {
  it("a receipt of success beside a 402: it was charged without the goods", async () => {
    const shop = await seller(sells({ ...(asks() as object), status: 402, headers: receipt() }));
    const { pay, payments } = flowBuyer();
    const error = {
      code: "charged_without_goods",
      money: "settled",
      purchase: { transaction: "0xabc", status: "settled" },
    };
    await expect(pay(shop.url)).rejects.toMatchObject(error);
    expect(payments).toMatchObject([{ served: false, status: "settled" }]);
  });

  it("a receipt of success beside answers that are asked again", async () => {
    const shop = await seller(sells(busy(503, receipt()), busy(503)));
    const { pay, payments } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "charged_without_goods", money: "settled" });
    expect(payments).toHaveLength(1);
  });

  it("a receipt of failure beside a 402: its reason is told", async () => {
    const failed = { status: 402, headers: receipt(false, { errorReason: "insufficient_funds" }) };
    const shop = await seller(sells(failed));
    const { pay, payments } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({
      code: "payment_refused",
      money: "unknown",
      facts: { reason: "insufficient_funds", status: 402 },
    });
    expect(payments).toHaveLength(0);
    expect(await pay.receipts()).toMatchObject([{ status: "refused", served: false, httpStatus: 402 }]);
  });

  it("goods without a receipt are goods", async () => {
    const shop = await seller(sells({ status: 206, body: "part" }));
    const { pay, payments } = flowBuyer();
    expect((await pay(shop.url)).status).toBe(206);
    expect(payments).toMatchObject([{ status: "settled", served: true, transaction: undefined }]);
  });

  it("payment_already_used: nothing more comes of the proof", async () => {
    const body = { code: "payment_already_used", message: "This payment has already been used", retry: "never" };
    const shop = await seller(sells(said(409, body)));
    const { pay } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "payment_already_used", money: "settled" });
    expect(shop.paid).toHaveLength(1);
    expect(await pay.receipts()).toMatchObject([{ status: "settled", served: false }]);
  });

  it("a 409 that says never is a refusal", async () => {
    const shop = await seller(sells(said(409, { code: "payment_too_old", error: "too old", retry: "never" })));
    await expect(flowBuyer().pay(shop.url)).rejects.toMatchObject({
      code: "payment_refused",
      facts: { reason: "too old", sellerCode: "payment_too_old" },
    });
    expect(shop.paid).toHaveLength(1);
  });
});

describe("another answer is the caller's, as of any fetch", () => {
  it.each([400, 404, 500])("%i without a receipt: the money's fate is not known", async (status) => {
    const shop = await seller(sells({ status, body: "sorry" }));
    const { pay, payments, counted } = flowBuyer();
    const response = await pay(shop.url);
    expect([response.status, await response.text()]).toEqual([status, "sorry"]);
    expect(payments).toHaveLength(0);
    expect(await counted()).toBe(10_000);
    expect(await pay.receipts()).toMatchObject([{ status: "sent", httpStatus: status, served: false }]);
  });

  it("500 with a receipt: it was taken", async () => {
    const shop = await seller(sells({ status: 500, headers: receipt(), body: "sorry" }));
    const { pay, payments } = flowBuyer();
    expect(await (await pay(shop.url)).text()).toBe("sorry");
    expect(payments).toMatchObject([{ status: "settled", served: false }]);
  });
});

it("reads no more of a refusal than it needs, however long or slow it is", async () => {
  const shop = await seller(sells({ status: 409, body: Buffer.alloc(3_000_000, 0x20) }));
  await expect(flowBuyer({ resend: { times: 0 } }).pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
});
