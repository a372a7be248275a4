// What a paying fetch does with a 402: one payment, told to whoever wants to know, and a typed error for every way in which none is
// made. That it touches nothing else stands in `flow-untouched.test.ts`.
import { describe, expect, it } from "vitest";
import { BuyerError } from "../../src/client/errors.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import type { BuyerStore } from "../../src/client/store.js";
import { challengeV1, evm, inV1, PAYEE } from "./challenges.js";
import { flowBuyer, PAYER, START } from "./flow-buyer.js";
import { asks, goods, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const decode = (header: unknown) => JSON.parse(Buffer.from(String(header), "base64").toString());

describe("a paying fetch", () => {
  it("pays a 402 once and gives back the goods", async () => {
    const shop = await seller();
    const { pay, wallet, payments, counted } = flowBuyer();
    const response = await pay(shop.url);
    expect(await response.text()).toBe("the goods");
    expect(shop.requests).toHaveLength(2);
    expect(wallet.signed).toHaveLength(1);
    expect(wallet.closed).toBe(1);
    expect(payments).toMatchObject([{ status: "settled", served: true, transaction: "0xabc", amount: 10_000n }]);
    expect(await counted()).toBe(10_000);
  });

  it("makes two requests at a seller that always asks, and signs once (F106)", async () => {
    const shop = await seller(() => asks());
    const { pay, wallet } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "payment_refused", money: "unknown" });
    expect(shop.requests).toHaveLength(2);
    expect(wallet.signed).toHaveLength(1);
  });

  it("makes no second payment when the second 402 names another price", async () => {
    const shop = await seller(({ proof }) => asks([evm({ amount: proof ? "1" : "10000" })], { error: "too little" }));
    const { pay, wallet } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "payment_refused", facts: { reason: "too little" } });
    expect(wallet.signed).toHaveLength(1);
  });

  it("holds the cap against the offer that it signs, not against its neighbour (F108)", async () => {
    const cheap = evm({ amount: "1", scheme: "upto" });
    const shop = await seller(() => asks([cheap, evm({ amount: "5000000" })]));
    const { pay, wallet, events } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "over_cap", money: "none" });
    expect(wallet.signed).toHaveLength(0);
    expect(events).toMatchObject([{ type: "stopped", code: "over_cap", host: shop.host }]);
  });

  it("tells what happens, in order, and lists what was bought", async () => {
    const shop = await seller();
    const { pay, events } = flowBuyer();
    await pay(`${shop.url}?q=1#part`);
    expect(events.map((event) => event.type)).toEqual(["chosen", "signed", "sent", "paid"]);
    const id = shop.paid[0]?.headers["idempotency-key"];
    expect(await pay.receipts()).toEqual([
      {
        id,
        status: "settled",
        method: "GET",
        url: `${shop.url}?q=1`,
        host: shop.host,
        network: "eip155:84532",
        asset: evm().asset,
        symbol: "USDC",
        decimals: 6,
        amount: 10_000n,
        price: "0.01 USDC",
        payTo: PAYEE,
        payer: PAYER,
        at: START,
        transaction: "0xabc",
        httpStatus: 200,
        served: true,
      },
    ]);
  });

  it("is not disturbed by observers that throw or reject", async () => {
    const shop = await seller();
    const throws = (): never => {
      throw new Error("an observer's own affair");
    };
    const { pay } = flowBuyer({ onEvent: throws, onPayment: (async () => throws()) as () => void });
    expect((await pay(shop.url)).status).toBe(200);
  });

  it("asks for approval with the price and the seller's words, and signs nothing without it", async () => {
    const shop = await seller();
    for (const approve of [() => false, () => Promise.reject(new Error("no terminal")), () => "yes" as never]) {
      const { pay, wallet, counted } = flowBuyer({ approve });
      await expect(pay(shop.url)).rejects.toMatchObject({ code: "not_approved", money: "none" });
      expect(wallet.signed).toHaveLength(0);
      expect(await counted()).toBe(0);
    }
    const asked: unknown[] = [];
    const approve = (request: unknown) => asked.push(request) === 1;
    expect((await flowBuyer({ approve }).pay(shop.url)).status).toBe(200);
    expect(asked).toMatchObject([
      { url: shop.url, method: "GET", host: shop.host, price: "0.01 USDC", description: "One report" },
    ]);
  });

  it("says which limit the budget reached, what is spent and what was asked, and counts nothing more", async () => {
    const shop = await seller();
    const { pay, events, counted, wallet } = flowBuyer({ budget: { perRequest: "$0.01", perDay: "$0.025" } });
    await pay(shop.url);
    await pay(shop.url);
    await expect(pay(shop.url)).rejects.toMatchObject({
      code: "over_budget",
      money: "none",
      facts: { expected: "at most $0.025 by budget.perDay", got: "$0.01 beside the $0.02 that are spent" },
    });
    expect(events.at(-1)).toMatchObject({ type: "stopped", code: "over_budget", host: shop.host });
    expect(wallet.signed).toHaveLength(2);
    expect(await counted()).toBe(20_000);
  });

  it("refuses a 402 that is no x402 challenge", async () => {
    const shop = await seller(() => ({ status: 402, body: "<h1>Pay</h1>" }));
    await expect(flowBuyer().pay(shop.url)).rejects.toMatchObject({ code: "challenge_invalid", money: "none" });
  });
});

describe("the retry key", () => {
  const advertises = { extensions: { "payment-identifier": { info: { required: false }, schema: {} } } };

  it("travels inside the payment where the seller offers that, and is the purchase's id", async () => {
    const shop = await seller(({ proof }) => (proof ? goods() : asks([evm()], advertises)));
    const { pay, payments, wallet } = flowBuyer();
    await pay(shop.url);
    const { id } = decode(shop.paid[0]?.proof).extensions["payment-identifier"].info;
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(payments[0]?.id).toBe(id);
    expect(wallet.requests[0]?.retryKey).toBe(id);
    expect(shop.paid[0]?.headers["idempotency-key"]).toBeUndefined();
  });

  it("travels in a header of its own else, in version 1 too", async () => {
    const first = { status: 402, body: JSON.stringify(challengeV1([inV1(evm())])) };
    const shop = await seller(({ proof }) => (proof ? goods() : first));
    const { pay, payments } = flowBuyer();
    await pay(shop.url);
    expect(shop.paid[0]?.headers).toMatchObject({
      "x-payment": expect.any(String),
      "idempotency-key": payments[0]?.id,
    });
  });

  it("is the caller's own where that can be one", async () => {
    const shop = await seller();
    const { pay, payments } = flowBuyer();
    await pay(shop.url, { headers: { "idempotency-key": "order-2026-01-01" } });
    expect(payments[0]?.id).toBe("order-2026-01-01");
    expect(shop.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(Array(2).fill("order-2026-01-01"));
  });

  it("never takes the place of a header that the caller wrote", async () => {
    const shop = await seller();
    const { pay, payments } = flowBuyer();
    await pay(shop.url, { headers: { "idempotency-key": "short" } });
    expect(shop.paid[0]?.headers["idempotency-key"]).toBe("short");
    expect(payments[0]?.id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("counts each of two purchases to which the caller gives the same key", async () => {
    const shop = await seller();
    const { pay, counted } = flowBuyer();
    const init = { headers: { "idempotency-key": "order-2026-01-01" } };
    await pay(shop.url, init);
    await pay(`${shop.url}/2`, init);
    expect(await counted()).toBe(20_000);
  });
});

describe("a wallet that fails", () => {
  const outcomes = [
    ["signing_failed", "the device is locked"],
    ["insufficient_funds", "it holds 0 USDC"],
  ] as const;

  it.each(outcomes)("ends the call with %s, and what was counted is free again", async (code, message) => {
    const shop = await seller();
    const { pay, counted } = flowBuyer({ wallet: { sign: async () => ({ ok: false, code, message }) } });
    await expect(pay(shop.url)).rejects.toMatchObject({ code, money: "none", facts: { reason: message } });
    expect(await counted()).toBe(0);
    expect(shop.requests).toHaveLength(1);
  });

  it("ends the call with signing_failed where it throws", async () => {
    const shop = await seller();
    const broken = () => {
      throw new Error("no such device");
    };
    const { pay, counted } = flowBuyer({ wallet: { sign: broken } });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "signing_failed", money: "none" });
    expect(await counted()).toBe(0);
  });

  it("stays counted where the wallet may have sent the payment by itself", async () => {
    const shop = await seller();
    const sign = async () => ({ ok: false, code: "signing_failed", message: "no answer" }) as const;
    const { pay, counted } = flowBuyer({ wallet: { sends: true, sign } });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "signing_failed", money: "unknown" });
    expect(await counted()).toBe(10_000);
    expect(await pay.receipts()).toMatchObject([{ status: "reserved", amount: 10_000n }]);
  });

  it("is not sent where it signed something else, and is told that the call has ended", async () => {
    const shop = await seller();
    const dearer = flowBuyer({
      wallet: {
        alter: (signed) => {
          const { payload } = signed as never as { payload: { authorization: object } };
          return {
            ...signed,
            payload: { ...payload, authorization: { ...payload.authorization, value: "99999" } },
          } as never;
        },
      },
    });
    await expect(dearer.pay(shop.url)).rejects.toMatchObject({ code: "signed_wrong", money: "none" });
    expect(shop.requests).toHaveLength(1);
    expect(dearer.wallet.closed).toBe(1);
    expect(await dearer.counted()).toBe(0);
    const wrong = { alter: (signed: { ok: true }) => ({ ...signed, payer: PAYEE }) as never, sends: true };
    const hosted = flowBuyer({ wallet: wrong });
    await expect(hosted.pay(shop.url)).rejects.toMatchObject({ code: "signed_wrong", money: "unknown" });
    expect(await hosted.counted()).toBe(10_000);
  });

  it("is asked for a proof that lives no longer than the options allow", async () => {
    const shop = await seller(({ proof }) => (proof ? goods() : asks([evm({ maxTimeoutSeconds: 315_360_000 })])));
    const { pay, wallet } = flowBuyer({ maxValiditySeconds: 120 });
    await pay(shop.url);
    expect(wallet.requests[0]?.validUntil).toBe(START + 120_000);
    expect(decode(shop.paid[0]?.proof).payload.authorization.validBefore).toBe(String(START / 1000 + 120));
  });
});

describe("a store that fails", () => {
  const failing = (...names: (keyof BuyerStore)[]): BuyerStore => {
    const broken = Object.fromEntries(names.map((name) => [name, () => Promise.reject(new Error("disk full"))]));
    return { ...memoryBuyerStore(), ...broken };
  };

  it.each(["pending", "reserve", "keep", "record"] as const)("in %s lets nothing be paid", async (name) => {
    const shop = await seller();
    const { pay, counted, store } = flowBuyer({ store: failing(name) });
    const error = await pay(shop.url).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BuyerError);
    expect(error).toMatchObject({ code: "store_failed", money: "none", cause: { message: "disk full" } });
    expect(shop.paid).toHaveLength(0);
    if (name === "reserve") return;
    expect(await counted()).toBe(0);
    if (name !== "pending") expect(await store.pending(shop.url, START)).toBeUndefined();
  });

  it("keeps the money counted when a kept proof cannot be taken out again", async () => {
    const shop = await seller();
    const { pay, counted } = flowBuyer({ store: failing("record", "forget") });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "store_failed" });
    expect(shop.paid).toHaveLength(0);
    expect(await counted()).toBe(10_000);
  });

  it("does not stand in the way of an answer that is free, nor of goods that are paid for", async () => {
    const free = await seller(() => ({ status: 200, body: "free" }));
    const { pay } = flowBuyer({ store: failing("purchases", "pending", "reserve") });
    expect(await (await pay(free.url)).text()).toBe("free");
    const shop = await seller(sells());
    const late = flowBuyer({ store: failing("forget") });
    expect(await (await late.pay(shop.url)).text()).toBe("the goods");
  });
});
