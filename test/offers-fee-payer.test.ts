// Offers on Solana and the key that pays the network fee: none without it, the same one for as long as it serves, and a payment
// with another one is left for the receiver to judge.
import { describe, expect, it } from "vitest";
import { findNetwork } from "../src/networks.js";
import type { Price, PriceFunction } from "../src/price.js";
import { createPricing, type Priced, priceRequest } from "../src/pricing.js";
import { matchesOffer, toOfferV2 } from "../src/wire/v2.js";
import { addressOf, DEVNET, SPL_REQUIREMENT } from "./support/spl-proof.js";
import { createWorld, makeRequest } from "./support/world.js";

const [A, B] = ["a", "b"].map(addressOf) as [string, string];

/** Prices on devnet by a receiver whose fee payer a test can change. */
function openPricing(price: Price | PriceFunction) {
  const receiver = {
    name: "scripted",
    methods: ["spl"] as const,
    current: undefined as string | undefined,
    feePayer: () => receiver.current,
  };
  const terms = {
    ...createWorld().terms,
    networks: [findNetwork(DEVNET)!],
    payTo: { [DEVNET]: SPL_REQUIREMENT.payTo },
  };
  const pricing = createPricing(price, terms, receiver);
  return { receiver, pricing, ask: async () => priceRequest(pricing, makeRequest({})) };
}

const feePayersOf = (priced: Priced): unknown =>
  priced.kind === "offers"
    ? priced.offers.requirements.map(({ extra }) => "feePayer" in extra && extra.feePayer)
    : priced;

describe.each([
  ["fixed", "$0.01" as const],
  ["named by a function", () => "$0.01"],
])("a price on Solana that is %s", (_name, price) => {
  it("is not offered before its fee payer is known", async () => {
    const { ask, receiver } = openPricing(price);
    expect(await ask()).toMatchObject({ kind: "refused", code: "not_ready" });
    receiver.current = A;
    expect(feePayersOf(await ask())).toEqual([A]);
  });

  it("is offered with one fee payer, the very same offers each time, until that one serves no more", async () => {
    const { ask, receiver } = openPricing(price);
    receiver.current = A;
    const first = await ask();
    expect(await ask()).toBe(first);
    receiver.current = B;
    const second = await ask();
    expect(feePayersOf(second)).toEqual([B]);
    expect(await ask()).toBe(second);
    receiver.current = undefined;
    expect(await ask()).toMatchObject({ kind: "refused", code: "not_ready" });
  });
});

describe("what a buyer accepted on Solana", () => {
  const accepted = toOfferV2(SPL_REQUIREMENT);

  it("may name another fee payer than today's offer: the transaction names it too", () => {
    const other = { ...accepted, extra: { ...accepted.extra, feePayer: A } };
    expect(matchesOffer(other, SPL_REQUIREMENT)).toEqual({ ok: true });
  });

  it.each([
    [{ ...accepted, extra: { ...accepted.extra, decimals: 9 } }, "extra.decimals"],
    [{ ...accepted, payTo: A }, "payTo"],
    [{ ...accepted, asset: accepted.asset.toLowerCase() }, "asset"],
  ])("may not differ in anything else: %#", (changed, field) => {
    expect(matchesOffer(changed, SPL_REQUIREMENT)).toMatchObject({ ok: false, field });
  });
});
