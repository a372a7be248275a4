// What a request would cost, without paying.
import { describe, expect, it } from "vitest";
import { BuyerError } from "../../src/client/errors.js";
import { evm, PAYEE, spl } from "./challenges.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, useSellers } from "./scripted-seller.js";

const seller = useSellers();

describe("quote", () => {
  it("tells each offer, which one would be paid, and why not the others; it asks once and signs nothing", async () => {
    const shop = await seller(() =>
      asks([evm({ scheme: "upto" }), evm({ amount: "900000" }), evm({ amount: "20000" }), evm(), spl()]),
    );
    const { pay, wallet, counted, events } = flowBuyer();
    const { offers, ...quote } = await pay.quote(`${shop.url}#part`, { method: "POST", body: "text" });
    expect(quote).toEqual({ url: shop.url, status: 402, free: false, chosen: 3, description: "One report" });
    expect(offers[0]).toEqual({ index: 0, payable: expect.stringContaining("upto") });
    expect(offers[1]?.payable).toMatch(/above the cap of \$0\.1/);
    const usdc = { network: "base-sepolia", asset: evm().asset, payTo: PAYEE, payable: true };
    expect(offers.slice(2, 4)).toEqual([
      { index: 2, price: "0.02 USDC", amount: 20_000n, ...usdc },
      { index: 3, price: "0.01 USDC", amount: 10_000n, ...usdc },
    ]);
    expect(offers[4]).toMatchObject({
      network: "solana-devnet",
      payable: expect.stringContaining("authorizations only"),
    });
    expect(shop.requests.map(({ method, body }) => [method, String(body)])).toEqual([["POST", "text"]]);
    expect([wallet.signed.length, await counted(), events.length]).toEqual([0, 0, 0]);
    expect(await pay.receipts()).toEqual([]);
  });

  it("says that an answer is free", async () => {
    const shop = await seller(() => ({ status: 404, body: "nothing here" }));
    expect(await flowBuyer().pay.quote(shop.url)).toEqual({ url: shop.url, status: 404, free: true, offers: [] });
  });

  it("says what a payment would end in", async () => {
    const shop = await seller(({ path }) =>
      path === "/led" ? { status: 302, headers: { location: shop.url.replace("127.0.0.1", "localhost") } } : asks(),
    );
    const codeOf = async (url: string, options = {}) => (await flowBuyer(options).pay.quote(url)).error?.code;
    expect(await codeOf(shop.url, { hosts: ["api.example"] })).toBe("host_not_allowed");
    expect(await codeOf(`${shop.origin}/led`)).toBe("redirected");
    expect(await codeOf(shop.url, { budget: { perRequest: "$0.001", perDay: "$1" } })).toBe("over_cap");
    expect(await codeOf(shop.url)).toBeUndefined();
    shop.script = () => ({ status: 402, body: "no challenge" });
    const { error, offers } = await flowBuyer().pay.quote(shop.url);
    expect(error).toBeInstanceOf(BuyerError);
    expect(error).toMatchObject({ code: "challenge_invalid" });
    expect(offers).toEqual([]);
  });

  it("leaves no trace by which a later call would pay less or more", async () => {
    const shop = await seller(({ proof }) => (proof ? goods() : asks()));
    const { pay, wallet } = flowBuyer();
    await pay.quote(shop.url);
    await pay(shop.url);
    expect(wallet.signed).toHaveLength(1);
  });
});
