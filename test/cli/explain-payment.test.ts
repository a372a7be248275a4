// `tollgate explain` of payments by a signature: what they pay, and each thing that would make a seller or the chain refuse them.
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { run } from "./cli.js";
import { asV1, BUYER, explain, explainHeader, OFFER, PAYEE, payment, USDC } from "./explaining.js";

const RETRY_KEY = "retry-key-0123456789";
const identifier = (info: object) => ({ extensions: { "payment-identifier": { info } } });
const now = () => BigInt(Math.floor(Date.now() / 1000));

describe("a payment", () => {
  it("of version 2 says what it pays, to whom, from whom, until when, under which retry key", async () => {
    const made = { ...(await payment()), ...identifier({ required: false, id: RETRY_KEY }) };
    const { code, found, flaws } = await explainHeader("PAYMENT-SIGNATURE", made);
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]).toMatchObject({ kind: "payment", version: 2, notes: [] });
    expect(found[0]?.says).toBe(`Pays 0.01 USDC on base-sepolia to ${PAYEE} (x402 version 2)`);
    expect(found[0]?.facts).toMatchObject({
      price: "0.01 USDC",
      network: "base-sepolia (eip155:84532, a test network)",
      payer: BUYER.address,
      payTo: PAYEE,
      asset: USDC,
      retryKey: RETRY_KEY,
      signature: "by the payer's own key, for USDC on base-sepolia",
      resource: "https://api.example/report",
    });
    expect(found[0]?.facts.validUntil).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \(in (?:\d+ seconds|1 minute)\)$/);
  });

  it("of version 1 names no token, which its signature tells", async () => {
    const { code, found, flaws } = await explainHeader("X-PAYMENT", asV1(await payment()));
    expect([code, flaws]).toEqual([0, []]);
    expect(found[0]?.facts).toMatchObject({ price: "0.01 USDC", payTo: PAYEE, payer: BUYER.address });
    expect(found[0]?.notes).toEqual(["Without a retry key an answer that gets lost cannot be collected again"]);
  });

  it("is understood bare, as an argument, with the quotes of a shell, and broken into lines by a terminal", async () => {
    const value = encodeHeader(await payment());
    const wrapped = value.replace(/(.{60})/g, "$1\n");
    for (const text of [value, `"${value}"`, wrapped, `> PAYMENT-SIGNATURE: ${value}`, `payment-signature:${value}`]) {
      const { code, stdout } = await run(["explain", text]);
      expect([code, JSON.parse(stdout).found[0].facts.price]).toEqual([0, "0.01 USDC"]);
    }
    const lines = `POST /report HTTP/1.1\r\nHost: api.example\r\nIdempotency-Key: ${RETRY_KEY}\r\nX-PAYMENT: ${encodeHeader(asV1(await payment()))}\r\n`;
    expect((await explain(lines)).found[0]?.facts.retryKey).toBe(RETRY_KEY);
  });

  it("shows a person a table, and neither shows its signature", async () => {
    const made = await payment();
    const { code, stdout } = await run(["explain", encodeHeader(made)], { terminal: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Pays 0\.01 USDC on base-sepolia/);
    expect(stdout).toMatch(/^ {2}Price {8}0\.01 USDC$/m);
    expect(stdout).toMatch(/^ {2}From {9}0x19E7/m);
    const json = (await run(["explain", "--json", encodeHeader(made)], { terminal: true })).stdout;
    for (const text of [stdout, json]) expect(text).not.toContain(made.payload.signature.slice(2, 20));
  });
});

describe("what is wrong with a payment", () => {
  const high = (signature: string) => {
    const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = n - BigInt(`0x${signature.slice(66, 130)}`);
    const v = signature.endsWith("1b") ? "1c" : "1b";
    return `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v}`;
  };

  // Times are told when the test runs: the file has been read long before that where other tests keep the machine busy.
  it.each([
    [
      "expired",
      () => ({ validBefore: now() - 90n }),
      /validBefore: expected a time that is still to come, got .*\(9\d seconds ago\): it has expired/,
    ],
    [
      "not yet valid",
      () => ({ validAfter: now() + 3_600n, validBefore: now() + 7_200n }),
      /validAfter: expected a time that has come/,
    ],
    [
      "a window that ends before it begins",
      () => ({ validAfter: now(), validBefore: now() - 1n }),
      /validBefore: expected a time after validAfter/,
    ],
    [
      "good for ten years",
      () => ({ validBefore: now() + 315_576_100n }),
      /validBefore: expected an end within a day, got 10 years: so long can/,
    ],
    [
      "good for ever",
      () => ({ validBefore: 2n ** 256n - 1n }),
      /validBefore: expected an end within a day, got \d+ years/,
    ],
    [
      "another amount",
      () => ({ value: 9_999n }),
      /authorization\.value: expected 10000, the accepted amount, got "9999"/,
    ],
    [
      "another payee",
      () => ({ to: BUYER.address }),
      /authorization\.to: expected 0x7099\w+, the accepted payTo, got "0x19E7/,
    ],
  ] as const)("%s", async (_name, overrides, flaw) => {
    const { code, flaws } = await explainHeader("PAYMENT-SIGNATURE", await payment({ overrides: overrides() }));
    expect(code).toBe(1);
    expect(flaws).toEqual([expect.stringMatching(flaw)]);
  });

  it("a signature by another key, with both addresses", async () => {
    const other = privateKeyToAccount(`0x${"22".repeat(32)}`);
    const made = await payment({ overrides: { from: other.address } });
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", made);
    expect(flaws).toEqual([
      `payload.signature: expected a signature by ${other.address} for USDC on base-sepolia (unless the payer is a contract that accepts it), got a signature by ${BUYER.address}`,
    ]);
  });

  it("a signature for another chain, which is named", async () => {
    const domain = {
      name: "USD Coin",
      chainId: 8453,
      verifyingContract: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    } as const;
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", await payment({ domain }));
    expect(flaws).toEqual([
      expect.stringMatching(/^payload\.signature: .*for USDC on base-sepolia, got its signature for USDC on base$/),
    ]);
  });

  it("a domain that the seller got wrong, where it stands and what was signed under it", async () => {
    const offer = { ...OFFER, extra: { name: "USD Coin", version: "2" } };
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", await payment({}, offer));
    expect(flaws[0]).toBe('accepted.extra.name: expected "USDC", as the contract of USDC says, got "USD Coin"');
    expect(flaws[1]).toMatch(/^payload\.signature: expected a signature under the token's own domain, "USDC"/);
    expect(flaws).toHaveLength(2);
  });

  it("a high s, and nothing else where the signature is good", async () => {
    const made = await payment();
    const signature = high(made.payload.signature);
    const { flaws, found } = await explainHeader("PAYMENT-SIGNATURE", {
      ...made,
      payload: { ...made.payload, signature },
    });
    expect(flaws).toEqual([
      "payload.signature: expected the lower of the two s that fit (EIP-2), got a high s, which tokens refuse",
    ]);
    expect(found[0]?.facts.signature).toContain("by the payer's own key");
  });

  it("each member of another form, all at once, without the signature", async () => {
    const made = await payment();
    const authorization = { ...made.payload.authorization, value: "1e4", nonce: "0x12", validBefore: 1_700_000_000 };
    const signature = `${made.payload.signature.slice(0, 40)}zz`;
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", { ...made, payload: { signature, authorization } });
    expect(flaws).toEqual([
      expect.stringMatching(/^payload\.signature: expected .*got a text of 42 characters \(not shown\)$/),
      expect.stringMatching(/^payload\.authorization\.value: expected .*decimal digits, as text, got "1e4"$/),
      "payload.authorization.validBefore: expected string, got 1700000000",
      'payload.authorization.nonce: expected 0x and 64 hex digits, got "0x12"',
    ]);
  });

  it("an address whose checksum is wrong", async () => {
    const made = await payment();
    const to = PAYEE.replace("C5", "c5");
    const authorization = { ...made.payload.authorization, to };
    const { flaws } = await explainHeader("PAYMENT-SIGNATURE", {
      ...made,
      payload: { ...made.payload, authorization },
    });
    expect(flaws[0]).toMatch(/^payload\.authorization\.to: expected an address whose mixed case is its checksum/);
  });

  it("the wrong version in the wrong header, a missing one, and an unknown network with what was meant", async () => {
    const made = await payment();
    expect((await explainHeader("PAYMENT-SIGNATURE", asV1(made))).flaws[0]).toBe(
      "x402Version: expected 2 in this header, got 1",
    );
    expect((await explainHeader("X-PAYMENT", { ...asV1(made), x402Version: undefined })).flaws).toEqual([
      "x402Version: expected 1, got nothing",
    ]);
    expect((await explainHeader("X-PAYMENT", asV1(made, "base-sepolai"))).flaws[0]).toBe(
      'network: expected a network that is known (did you mean "base-sepolia"?), got "base-sepolai"',
    );
    const named = { ...made, accepted: { ...OFFER, network: "base-sepolia" } };
    expect((await explainHeader("PAYMENT-SIGNATURE", named)).flaws).toEqual([
      'accepted.network: expected the CAIP-2 id of base-sepolia, eip155:84532, got "base-sepolia"',
    ]);
  });

  it("a retry key of another form, and an extension that came back changed", async () => {
    const made = await payment();
    const tell = async (info: object) =>
      (await explainHeader("PAYMENT-SIGNATURE", { ...made, ...identifier(info) })).flaws;
    expect(await tell({ required: false, id: "short" })).toEqual([
      expect.stringMatching(/^extensions\.payment-identifier\.info\.id: expected 16 to 128/),
    ]);
    expect(await tell({ required: true, id: RETRY_KEY })).toEqual([
      "extensions.payment-identifier.info.required: expected false, as it was offered, got true",
    ]);
    const v1 = `Idempotency-Key: x\nX-PAYMENT: ${encodeHeader(asV1(made))}`;
    expect((await explain(v1)).flaws).toEqual([expect.stringMatching(/^Idempotency-Key: expected 16 to 128/)]);
  });

  it("two headers that carry two proofs", async () => {
    const text = `X-PAYMENT: ${encodeHeader(asV1(await payment()))}\nPAYMENT-SIGNATURE: ${encodeHeader(await payment())}`;
    expect((await explain(text)).flaws).toEqual([
      "X-PAYMENT: expected the proof of PAYMENT-SIGNATURE, got another proof",
    ]);
  });
});

describe("what is no payment", () => {
  it.each([
    [
      "bad base64",
      "PAYMENT-SIGNATURE: eyJ4%3D",
      /expected base64 of a JSON object, got the header is not base64: it is URL-encoded/,
    ],
    ["two joined by a comma", "X-PAYMENT: eyJ9,eyJ9", /is not base64: it holds a comma, as two headers/],
    ["bad JSON", `X-PAYMENT: ${btoa('{"x402Version":1,')}`, /got the header is not base64 of JSON/],
    ["a list", `X-PAYMENT: ${btoa("[1]")}`, /got the header's JSON is not an object/],
    ["too deep", `X-PAYMENT: ${btoa(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`)}`, /nested deeper than 32 levels/],
    ["too long", `X-PAYMENT: ${"A".repeat(17_000)}`, /17000 characters where at most 16384 are allowed/],
    [
      "a receipt in its place",
      `X-PAYMENT: ${encodeHeader({ success: true })}`,
      /X-PAYMENT: expected a payment, got a receipt/,
    ],
    ["something else", btoa('{"hello":1}'), /expected accepts \(a challenge\), payload/],
  ])("%s", async (_name, text, flaw) => {
    const { code, flaws } = await explain(text);
    expect(code).toBe(1);
    expect(flaws).toEqual([expect.stringMatching(flaw)]);
  });

  it("nothing at all, and a key in the wrong place, which is not repeated", async () => {
    expect(await run(["explain"], { input: "  \n" })).toMatchObject({ code: 1, stdout: "" });
    expect((await run(["explain"], { terminal: true })).code).toBe(2);
    for (const key of [`0x${"a1".repeat(32)}`, "5".repeat(88)]) {
      const { code, stdout, stderr } = await run(["explain", key]);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain(key.slice(2, 20));
    }
  });
});
