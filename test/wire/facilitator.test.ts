import { describe, expect, it } from "vitest";
import { findNetwork } from "../../src/networks.js";
import {
  facilitatorRequest,
  facilitatorRequestBody,
  readSettleResponse,
  readSupportedResponse,
  readVerifyResponse,
} from "../../src/wire/facilitator.js";
import { parsePaymentPayload } from "../../src/wire/payload.js";
import { network, offerV1, offerV2, paymentV1, paymentV2, requirement, resource } from "./fixtures.js";

const parsed = (version: 1 | 2, value: unknown) => {
  const result = parsePaymentPayload(version, value);
  if (!result.ok) throw new Error(result.problem);
  return result.payload;
};
const request = (version: 1 | 2, value: unknown) =>
  facilitatorRequest(version, parsed(version, value), requirement, network, resource);

describe("a request to a facilitator", () => {
  it("has the shape of the payment's version", () => {
    const v1 = { x402Version: 1, paymentPayload: paymentV1, paymentRequirements: offerV1 };
    const v2 = { x402Version: 2, paymentPayload: paymentV2, paymentRequirements: offerV2 };
    expect(request(1, paymentV1)).toEqual(v1);
    expect(request(2, paymentV2)).toEqual(v2);
    for (const body of [v1, v2]) expect(facilitatorRequestBody.safeParse(body).data).toEqual(body);
  });

  it("carries our own terms, never those that the buyer echoes", () => {
    const accepted = {
      ...offerV2,
      amount: "1",
      payTo: paymentV2.payload.authorization.from,
      extra: { name: "Worthless" },
    };
    const body = request(2, { ...paymentV2, accepted });
    expect(body.paymentRequirements).toEqual(offerV2);
    expect(body.paymentPayload).toMatchObject({ accepted: offerV2 });
  });

  it("keeps what else the buyer sent", () => {
    const payment = { ...paymentV2, extensions: { bazaar: { info: { a: 1 } } }, later: 1 };
    expect(request(2, payment).paymentPayload).toEqual(payment);
  });

  it("names the network in a v1 payload as in its requirements", () => {
    const body = request(1, { ...paymentV1, network: "eip155:84532" });
    expect(body.paymentPayload).toMatchObject({ network: "base-sepolia" });
    expect(body.paymentRequirements).toMatchObject({ network: "base-sepolia" });
  });

  it("uses the buyer's name for a network that x402 1.x does not know", () => {
    const mainnet = findNetwork("ethereum");
    if (!mainnet) throw new Error("no Ethereum");
    const payload = parsed(1, { ...paymentV1, network: "ethereum" });
    const body = facilitatorRequest(1, payload, { ...requirement, network: mainnet.id }, mainnet, resource);
    expect([body.paymentPayload, body.paymentRequirements]).toMatchObject([
      { network: "ethereum" },
      { network: "ethereum" },
    ]);
  });

  it("cannot be made of a payload of the other version", () => {
    expect(() => facilitatorRequest(1, parsed(2, paymentV2), requirement, network, resource)).toThrow(TypeError);
    expect(() => facilitatorRequest(2, parsed(1, paymentV1), requirement, network, resource)).toThrow(TypeError);
  });
});

describe("an answer of /verify", () => {
  it("is read with and without a payer, and without its unknown members", () => {
    expect(readVerifyResponse({ isValid: true, payer: "0x1", later: 1 })).toEqual({ isValid: true, payer: "0x1" });
    expect(readVerifyResponse({ isValid: true, payer: null, invalidReason: null })).toEqual({ isValid: true });
  });

  it("is read with its reason, in snake case too", () => {
    const reason = "insufficient_funds";
    expect(readVerifyResponse({ isValid: false, invalidReason: reason })?.invalidReason).toBe(reason);
    expect(readVerifyResponse({ isValid: false, invalid_reason: reason })?.invalidReason).toBe(reason);
  });

  it.each([
    undefined,
    null,
    1,
    "true",
    [],
    {},
    { isValid: "true" },
    { isValid: 1 },
    { isValid: null },
    { success: true },
  ])("is none where %j came", (value) => {
    expect(readVerifyResponse(value)).toBeUndefined();
  });
});

describe("an answer of /settle", () => {
  const settled = { success: true, transaction: "0x12", network: "base-sepolia", payer: "0x1" };

  it("is read in the network's spelling of either version", () => {
    expect(readSettleResponse(settled)).toEqual(settled);
    expect(readSettleResponse({ ...settled, network: "eip155:84532" })?.network).toBe("eip155:84532");
  });

  it("drops what a receipt must not carry", () => {
    expect(readSettleResponse({ ...settled, status: "x", internal: { key: 1 } })).toEqual(settled);
  });

  it("is read with x402-rs's spelling of the reason, which the protocol's own outweighs", () => {
    const refused = { success: false, transaction: "", network: "base" };
    expect(readSettleResponse({ ...refused, error_reason: "a" })?.errorReason).toBe("a");
    expect(readSettleResponse({ ...refused, errorReason: "b", error_reason: "a" })?.errorReason).toBe("b");
    expect(readSettleResponse({ ...refused, errorReason: null, error_reason: "a" })?.errorReason).toBe("a");
  });

  it.each([
    { ...settled, success: "true" },
    { ...settled, transaction: undefined },
    { ...settled, transaction: null },
    { ...settled, network: undefined },
    { success: true },
    {},
    null,
    "ok",
  ])("is none where %j came, so that nothing is concluded from it", (value) => {
    expect(readSettleResponse(value)).toBeUndefined();
  });
});

describe("an answer of /supported", () => {
  it("may be the kinds alone", () => {
    const kinds = [{ x402Version: 1, scheme: "exact", network: "base-sepolia", extra: null }];
    expect(readSupportedResponse({ kinds })).toEqual({
      kinds: [{ x402Version: 1, scheme: "exact", network: "base-sepolia" }],
      extensions: [],
      signers: {},
    });
  });

  it("is read with extensions and signers", () => {
    const answer = {
      kinds: [{ x402Version: 2, scheme: "exact", network: "solana:x", extra: { feePayer: "9hSR" } }],
      extensions: ["payment-identifier"],
      signers: { "eip155:*": ["0x1"] },
    };
    expect(readSupportedResponse(answer)).toEqual(answer);
  });

  it("is none without kinds", () => {
    for (const value of [{}, { kinds: {} }, { kinds: [{}] }, [], null])
      expect(readSupportedResponse(value)).toBeUndefined();
  });
});

describe("an answer that is nested on and on", () => {
  const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
  it.each<[string, (value: unknown) => unknown]>([
    ["/supported", readSupportedResponse],
    ["/verify", readVerifyResponse],
    ["/settle", readSettleResponse],
  ])("is none of %s, and throws nothing", (_path, read) => {
    expect(read(deep)).toBeUndefined();
    expect(read({ kinds: deep })).toBeUndefined();
    expect(read({ kinds: [{ kinds: [{ kinds: deep }] }] })).toBeUndefined();
  });
});
