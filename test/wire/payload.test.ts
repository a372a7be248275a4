import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_UINT256 } from "../../src/money.js";
import { parsePaymentPayload } from "../../src/wire/payload.js";
import { inner, offerV2, paymentV1, paymentV2 } from "./fixtures.js";

const authorized = (changes: object) => ({ ...inner, authorization: { ...inner.authorization, ...changes } });
const v1 = (payload: unknown) => parsePaymentPayload(1, { ...paymentV1, payload });
const v2 = (payload: unknown) => parsePaymentPayload(2, { ...paymentV2, payload });

describe("a payment payload", () => {
  it("is read in both versions as it came", () => {
    expect(parsePaymentPayload(1, paymentV1)).toEqual({ ok: true, payload: paymentV1 });
    expect(parsePaymentPayload(2, paymentV2)).toEqual({ ok: true, payload: paymentV2 });
  });

  it("keeps members that nobody here knows, at every level", () => {
    const payment = {
      ...paymentV2,
      later: 1,
      accepted: { ...offerV2, later: 2, extra: { ...offerV2.extra, later: 3 } },
      payload: { ...authorized({ later: 4 }), later: 5 },
      extensions: { bazaar: { info: {}, schema: {} } },
    };
    expect(parsePaymentPayload(2, payment)).toEqual({ ok: true, payload: payment });
  });

  it("may have null for every optional member of version 2", () => {
    const payment = { ...paymentV2, resource: null, extensions: null, accepted: { ...offerV2, extra: null } };
    expect(parsePaymentPayload(2, payment).ok).toBe(true);
    const resource = { url: "https://shop.example/", description: null, mimeType: null };
    expect(parsePaymentPayload(2, { ...paymentV2, resource }).ok).toBe(true);
  });

  it("may have the additional asset and the network name of faremeter", () => {
    const payment = { ...paymentV1, asset: offerV2.asset, network: "solana-mainnet-beta" };
    expect(parsePaymentPayload(1, payment)).toEqual({ ok: true, payload: payment });
  });

  it("may have a smart wallet's signature up to 8 KiB of hex digits", () => {
    expect(v2({ ...inner, signature: `0x${"ab".repeat(4_096)}` }).ok).toBe(true);
    expect(v2({ ...inner, signature: `0x${"ab".repeat(4_097)}` })).toMatchObject({ code: "payment_malformed" });
  });

  it("may have the largest uint256 and nothing larger", () => {
    expect(v1(authorized({ value: MAX_UINT256.toString() })).ok).toBe(true);
    expect(v1(authorized({ value: (MAX_UINT256 + 1n).toString() })).ok).toBe(false);
  });
});

describe("the version", () => {
  it.each([
    [1, 2],
    [2, 1],
    [2, 3],
    [2, "2"],
    [1, "1"],
    [1, true],
    [1, 1.5],
    [1, null],
    [1, undefined],
  ] as const)("%s is required by the header where %j came", (version, came) => {
    const payment = version === 1 ? paymentV1 : paymentV2;
    expect(parsePaymentPayload(version, { ...payment, x402Version: came })).toMatchObject({
      ok: false,
      code: "payment_version_invalid",
      problem: expect.stringContaining(`expected ${version}`),
    });
  });
});

describe("a malformed payload", () => {
  it.each([
    ["value", 10_000],
    ["value", "010000"],
    ["value", "1e4"],
    ["value", "+1"],
    ["value", "-1"],
    ["value", "0x2710"],
    ["value", "1.0"],
    ["value", " 1"],
    ["value", "1\n"],
    ["value", ""],
    ["value", "\u0661"],
    ["value", null],
    ["validAfter", 0],
    ["validBefore", 1_893_456_000],
    ["validBefore", "01"],
    ["nonce", "0x11"],
    ["nonce", 1],
    ["nonce", "1"],
    ["nonce", ` 0x${"11".repeat(32)}`],
    ["from", "0xf39F"],
    ["from", `${inner.authorization.from}00`],
    ["to", undefined],
    ["to", ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"]],
  ])("is refused for %s = %j, and the place is named", (field, value) => {
    for (const result of [v1(authorized({ [field]: value })), v2(authorized({ [field]: value }))]) {
      expect(result).toMatchObject({ ok: false, code: "payment_malformed" });
      expect(result).toHaveProperty("problem", expect.stringContaining(`payload.authorization.${field}: expected`));
    }
  });

  it.each(["", "0x", "0x1", "0xzz", "bc72", 1, null, undefined])("is refused for the signature %j", (signature) => {
    const result = v2({ ...inner, signature });
    expect(result).toMatchObject({ ok: false, code: "payment_malformed" });
    expect(result).toHaveProperty("problem", expect.stringMatching(/^payload\.signature: /));
  });

  it("never quotes a signature in its problem", () => {
    const result = v2({ ...inner, signature: `${inner.signature}f` });
    expect(JSON.stringify(result)).not.toContain(inner.signature.slice(2, 20));
  });

  it.each([null, undefined, 1, "x", [], {}, { x402Version: 2 }, { x402Version: 2, note: "garbage" }])(
    "is refused where the whole payment is %j",
    (value) => {
      expect(parsePaymentPayload(2, value).ok).toBe(false);
    },
  );

  it.each([
    ["amount", 10_000],
    ["amount", "010000"],
    ["amount", null],
    ["maxTimeoutSeconds", "300"],
    ["maxTimeoutSeconds", 0],
    ["network", 84_532],
    ["payTo", ""],
    ["extra", "USDC"],
  ])("is refused for accepted.%s = %j", (field, value) => {
    const result = parsePaymentPayload(2, { ...paymentV2, accepted: { ...offerV2, [field]: value } });
    expect(result).toMatchObject({ ok: false, code: "payment_malformed" });
    expect(result).toHaveProperty("problem", expect.stringContaining(`accepted.${field}: expected`));
  });

  it("never throws, whatever a payment is built from", () => {
    const leaf = fc.oneof(fc.anything({ maxDepth: 1 }), fc.constantFrom("exact", "10000", "0x", 1, 2, null));
    const keys = ["x402Version", "scheme", "network", "accepted", "payload", "resource", "extensions", "__proto__"];
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: "small" }, leaf, fc.dictionary(fc.constantFrom(...keys), tie("any"))),
    })).any;
    fc.assert(
      fc.property(value, fc.constantFrom<1 | 2>(1, 2), (payment, version) => {
        const whole = version === 1 ? { ...paymentV1, payload: payment } : { ...paymentV2, accepted: payment };
        for (const candidate of [payment, whole])
          expect(typeof parsePaymentPayload(version, candidate).ok).toBe("boolean");
      }),
      { seed: 402, numRuns: 500 },
    );
  });
});

describe("a payload of another kind", () => {
  it.each([
    ["Permit2", { signature: "0x12", permit2Authorization: {} }],
    ["a delegation", { delegationManager: "0x12", permissionContext: "0x", delegator: "0x12" }],
  ])("(%s) is unsupported, not malformed", (_kind, payload) => {
    expect(v1(payload)).toMatchObject({ ok: false, code: "unsupported_scheme" });
    expect(v2(payload)).toMatchObject({ ok: false, code: "unsupported_scheme" });
  });

  it("is unsupported by its scheme, also around an authorization", () => {
    expect(parsePaymentPayload(1, { ...paymentV1, scheme: "upto" })).toMatchObject({ code: "unsupported_scheme" });
    const accepted = { ...offerV2, scheme: "upto" };
    expect(parsePaymentPayload(2, { ...paymentV2, accepted })).toMatchObject({ code: "unsupported_scheme" });
  });

  it("is not meant where an authorization stands beside it", () => {
    expect(v2({ ...inner, transaction: "AgAA" }).ok).toBe(true);
  });

  it("is malformed where it is of no kind at all", () => {
    expect(v2({ hello: 1 })).toMatchObject({ ok: false, code: "payment_malformed" });
    expect(parsePaymentPayload(1, { ...paymentV1, scheme: 7 })).toMatchObject({ code: "payment_malformed" });
  });
});

describe("a transaction as payload", () => {
  const secret = `0x${"ab".repeat(32)}`;

  it.each([
    ["bytes in base64", { transaction: "AgAA" }],
    ["bytes with the secret of their reference", { transaction: "AgAA", secret }],
    ["the hash of one on the chain", { transaction: `0x${"12".repeat(32)}`, secret }],
    ["the signature of one on the chain", { transaction: "5".repeat(88), secret }],
    ["an absent secret spelled null", { transaction: "AgAA", secret: null }],
  ])("is read: %s", (_what, payload) => {
    expect(v1(payload)).toMatchObject({ ok: true, payload: { payload } });
    expect(v2(payload)).toMatchObject({ ok: true, payload: { payload } });
  });

  it.each([
    ["no text", { transaction: 1 }],
    ["an empty text", { transaction: "" }],
    ["base64url", { transaction: "A_-A" }],
    ["more than a transaction can be", { transaction: "A".repeat(4100) }],
    ["a secret of another length", { transaction: "AgAA", secret: "0x12" }],
    ["a secret without 0x", { transaction: "AgAA", secret: secret.slice(2) }],
  ])("is malformed with %s, and its place is named", (_what, payload) => {
    for (const parsed of [v1(payload), v2(payload)]) {
      expect(parsed).toMatchObject({ ok: false, code: "payment_malformed" });
      expect(parsed).toMatchObject({ problem: expect.stringMatching(/payload\.(transaction|secret): /) });
    }
  });
});
