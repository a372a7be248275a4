// Amounts and tokens: exact means equal, money is read by one strict grammar, and what was quoted is what is checked.
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { formatDecimal, parseDecimal } from "../../src/money.js";
import { matchesOffer, toOfferV2 } from "../../src/wire/v2.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { REQUIREMENT } from "../support/bound-proof.js";
import { BASE_USDC, codes, good, receive, refused } from "../support/configurations.js";
import { answer } from "../support/scripted-facilitator.js";
import { ask, signFor } from "./buyer.js";
import { openMarket } from "./market.js";
import { openShop, type Shop } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});

describe.each(FRAMEWORKS)("amounts on %s", (framework) => {
  it("F70: a payment of another amount is refused as such, and one that is no canonical integer cannot be read", async () => {
    // A facilitator that calls everything valid: only the paywall itself stands between.
    shop = await openShop(framework, { verify: "remote" });
    const url = `${shop.url}/report`;
    for (const value of [9_999n, 10_001n, 10_000_000n]) {
      const got = await ask(url, await signFor(url, { overrides: { value } }));
      expect([got.status, got.json.code, got.json.got]).toEqual([402, "amount_mismatch", `${value}`]);
    }
    const payment = await signFor(url);
    for (const value of ["010000", 10_000, "1e4", 1e4, "10000.0", "0x2710"]) {
      const json = JSON.parse(Buffer.from(payment.value, "base64").toString("utf8"));
      json.payload.authorization.value = value;
      const headers = { [payment.name]: Buffer.from(JSON.stringify(json)).toString("base64") };
      const got = await ask(url, { headers });
      expect([got.status, got.json.code]).toEqual([400, "payment_malformed"]);
    }
    expect([shop.runs.length, shop.remote.settled.size]).toEqual([0, 0]);
  });
});

it("F71: a price below the token's smallest unit or between two is refused, and never rounded to less", () => {
  for (const price of ["$0.0000015", "$0.0000001", "0.0000015 USDC", "$1.2345678"]) {
    expect(codes(refused({ ...good, receive }, {}, { from: "argument", price }))).toEqual(["price invalid"]);
  }
  expect(refused({ ...good, receive }, {}, { from: "argument", price: "$0.000001" })).toEqual([]);
});

it("F72: 10,000 prices of 0 to 18 decimals are the same amount when quoted and when checked", () => {
  // A linear congruential generator: the same prices in every run.
  let seed = 20_260_101n;
  const next = (below: bigint) => {
    seed = (seed * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & ((1n << 64n) - 1n);
    return (seed >> 16n) % below;
  };
  for (let round = 0; round < 10_000; round += 1) {
    const decimals = Number(next(19n));
    const amount = 1n + next(10n ** BigInt(1 + Number(next(26n))));
    const parsed = parseDecimal(formatDecimal(amount, decimals), decimals);
    expect(parsed).toEqual({ ok: true, amount });
    const requirement = { ...REQUIREMENT, amount };
    const echoed = JSON.parse(JSON.stringify(toOfferV2(requirement)));
    const match = matchesOffer(echoed, requirement);
    if (!match.ok || BigInt(echoed.amount) !== amount) throw new Error(`${amount} of ${decimals} decimals`);
    expect(matchesOffer({ ...echoed, amount: `${amount + 1n}` }, requirement).ok).toBe(false);
  }
});

it("F74: a token on a chain beyond the table needs its own domain in the configuration, and none is guessed", () => {
  const asset = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
  for (const network of ["eip155:99991", "base-sepolia"]) {
    const config = { payTo: good.payTo, network, receive };
    const [problem, ...others] = refused(config, {}, { from: "argument", price: { amount: "1", asset } });
    expect([problem?.path, others.length]).toEqual([expect.stringMatching(/^price/), 0]);
    expect(problem?.message).toContain("domain");
    const domain = { name: "My Token", version: "1" };
    expect(refused(config, {}, { from: "argument", price: { amount: "1", asset, domain } })).toEqual([]);
  }
  expect(refused({ ...good, receive }, {}, { from: "argument", price: { amount: "1", asset: BASE_USDC } })).toEqual([]);
});

it.each(["$$1", "1 USD", "1.2.3", "١", "1_000", "", "$1,5", "1e3 USDC"])(
  "F76: the price %j is refused at construction",
  (price) => {
    expect(refused({ ...good, receive }, {}, { from: "argument", price }).map(({ path }) => path)).toEqual(["price"]);
  },
);

it("F77: a chain that the facilitator does not serve closes the routes at the start, and names what it serves", async () => {
  const opening = openMarket("Express 5", { remote: await servingPolygon() });
  const error = z.object({ message: z.string() }).parse(await opening.catch((thrown: unknown) => thrown));
  expect(error.message).toContain("exact on eip155:84532");
  expect(error.message).toContain("eip155:137");
});

async function servingPolygon() {
  const { startScriptedFacilitator } = await import("../support/scripted-facilitator.js");
  const remote = await startScriptedFacilitator();
  remote.always("supported", answer.json({ kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:137" }] }));
  return remote;
}
