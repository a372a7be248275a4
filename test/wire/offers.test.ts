import { describe, expect, it } from "vitest";
import { findNetwork, NETWORKS } from "../../src/networks.js";
import type { Requirement } from "../../src/requirement.js";
import { paymentRequiredV1, paymentRequirementsV1, toOfferV1 } from "../../src/wire/v1.js";
import { matchesOffer, paymentRequiredV2, paymentRequirementsV2, toOfferV2 } from "../../src/wire/v2.js";
import { network, offerV1, offerV2, requirement, resource } from "./fixtures.js";

describe("an offer", () => {
  it("has the documented shape in both versions and quotes the same terms", () => {
    expect(toOfferV2(requirement)).toEqual(offerV2);
    expect(toOfferV1(requirement, resource, network)).toEqual(offerV1);
    expect(JSON.stringify(toOfferV2(requirement))).toBe(JSON.stringify(offerV2));
    expect(JSON.stringify(toOfferV1(requirement, resource, network))).toBe(JSON.stringify(offerV1));
  });

  it("fits its own schema, alone and in a challenge", () => {
    expect(paymentRequirementsV2.safeParse(offerV2).data).toEqual(offerV2);
    expect(paymentRequirementsV1.safeParse(offerV1).data).toEqual(offerV1);
    const v2 = { x402Version: 2, error: "Payment required", resource, accepts: [offerV2] };
    expect(paymentRequiredV2.safeParse(v2).data).toEqual(v2);
    const v1 = { x402Version: 1, error: "Payment required", accepts: [offerV1] };
    expect(paymentRequiredV1.safeParse(v1).data).toEqual(v1);
  });

  it("shows a payment flow that is not the default", () => {
    const upfront: Requirement = { ...requirement, extra: { ...requirement.extra, paymentFlow: "upfront" } };
    expect(toOfferV2(upfront).extra).toEqual({ name: "USDC", version: "2", paymentFlow: "upfront" });
    expect(toOfferV1(upfront, resource, network)?.extra).toEqual({
      name: "USDC",
      version: "2",
      paymentFlow: "upfront",
    });
  });

  it("is left out of v1 where x402 1.x has no name for the network", () => {
    for (const id of ["ethereum", "arbitrum", "celo", "eip155:31337"]) {
      const unnamed = findNetwork(id);
      expect(unnamed && toOfferV1({ ...requirement, network: unnamed.id }, resource, unnamed)).toBeUndefined();
    }
  });

  it("spells the asset in v1 as x402 1.x does, and the checksum in v2", () => {
    for (const known of NETWORKS) {
      const [token] = known.tokens;
      if (!token) continue;
      const here = { ...requirement, network: known.id, asset: token.address };
      expect(toOfferV2(here).asset).toBe(token.address);
      expect(toOfferV1(here, resource, known)?.asset).toBe(known.v1Name && (token.v1Address ?? token.address));
    }
    const polygon = findNetwork("polygon");
    const asset = "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359";
    expect(polygon && toOfferV1({ ...requirement, asset }, resource, polygon)?.asset).toBe(asset.toLowerCase());
  });

  it("is a copy: changing it changes no requirement", () => {
    const offer = toOfferV2(requirement);
    if (offer.extra) offer.extra.name = "Worthless";
    expect(requirement.extra.name).toBe("USDC");
  });
});

describe("matchesOffer", () => {
  it("accepts our own offer, in any order of keys and any case of addresses, with keys added", () => {
    expect(matchesOffer(offerV2, requirement)).toEqual({ ok: true });
    const reversed = Object.fromEntries(Object.entries(offerV2).reverse());
    expect(matchesOffer(paymentRequirementsV2.parse(reversed), requirement)).toEqual({ ok: true });
    const shouting = { asset: offerV2.asset.toUpperCase(), payTo: offerV2.payTo.toLowerCase() };
    expect(matchesOffer({ ...offerV2, ...shouting }, requirement)).toEqual({ ok: true });
    const extra = { ...offerV2.extra, assetTransferMethod: "eip3009", memo: null };
    expect(matchesOffer({ ...offerV2, extra, later: 1 }, requirement)).toEqual({ ok: true });
  });

  it.each([
    ["scheme", "upto", "exact"],
    ["network", "eip155:8453", "eip155:84532"],
    ["network", "base-sepolia", "eip155:84532"],
    ["network", "eip155:084532", "eip155:84532"],
    ["network", "EIP155:84532", "eip155:84532"],
    ["amount", "9999", "10000"],
    ["amount", "10001", "10000"],
    ["amount", "1", "10000"],
    ["maxTimeoutSeconds", 301, "300"],
    ["maxTimeoutSeconds", 300.5, "300"],
    ["payTo", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", requirement.payTo.toLowerCase()],
    ["asset", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", requirement.asset.toLowerCase()],
  ])("names %s where %j came back", (field, value, expected) => {
    const got = field === "payTo" || field === "asset" ? String(value).toLowerCase() : String(value);
    expect(matchesOffer({ ...offerV2, [field]: value }, requirement)).toEqual({ ok: false, field, expected, got });
  });

  it.each([
    [{ name: "USD Coin", version: "2" }, "extra.name", "USDC", "USD Coin"],
    [{ name: "usdc", version: "2" }, "extra.name", "USDC", "usdc"],
    [{ name: "USDC" }, "extra.version", "2", "nothing"],
    [{ name: "USDC", version: null }, "extra.version", "2", "nothing"],
    [{ name: "USDC", version: 2 }, "extra.version", "2", "2"],
    [null, "extra.name", "USDC", "nothing"],
    [undefined, "extra.name", "USDC", "nothing"],
  ])("names the key of extra where %j came back", (extra, field, expected, got) => {
    expect(matchesOffer({ ...offerV2, extra }, requirement)).toEqual({ ok: false, field, expected, got });
  });

  it("demands the payment flow back, so that nobody pays upfront unknowingly", () => {
    const upfront: Requirement = { ...requirement, extra: { ...requirement.extra, paymentFlow: "upfront" } };
    expect(matchesOffer(offerV2, upfront)).toMatchObject({ ok: false, field: "extra.paymentFlow" });
    expect(matchesOffer(toOfferV2(upfront), upfront)).toEqual({ ok: true });
  });

  it("compares addresses of Solana letter by letter", () => {
    const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const there = { ...requirement, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", asset: mint };
    expect(matchesOffer(toOfferV2(there), there)).toEqual({ ok: true });
    expect(matchesOffer({ ...toOfferV2(there), asset: mint.toLowerCase() }, there)).toMatchObject({ field: "asset" });
  });

  it("cuts short what the buyer sent", () => {
    const match = matchesOffer({ ...offerV2, network: "x".repeat(10_000) }, requirement);
    expect(match).toMatchObject({ ok: false, got: `${"x".repeat(100)}…` });
  });
});
