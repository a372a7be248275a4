import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readReceipt } from "../../src/client/receipt.js";
import { encodeHeader } from "../../src/wire/header.js";

const HASH = `0x${"ab".repeat(32)}`;
const settled = { success: true, transaction: HASH, network: "eip155:84532", payer: "0x1" };
const v2 = (value: unknown) => readReceipt(new Headers({ "PAYMENT-RESPONSE": encodeHeader(value) }));

describe("a seller's receipt", () => {
  it("is read from the header of either version", () => {
    const expected = { success: true, transaction: HASH, reason: undefined };
    expect(v2(settled)).toEqual(expected);
    expect(readReceipt(new Headers({ "X-PAYMENT-RESPONSE": encodeHeader(settled) }))).toEqual(expected);
  });

  it("is read from base64url without padding too", () => {
    const text = Buffer.from(JSON.stringify({ ...settled, errorReason: "~~~???>>>" })).toString("base64url");
    expect(text).toMatch(/[-_]/);
    expect(readReceipt(new Headers({ "PAYMENT-RESPONSE": text }))).toMatchObject({
      success: true,
      reason: "~~~???>>>",
    });
  });

  it("has the reason under each name that sellers use, printable and short", () => {
    for (const name of ["errorReason", "error_reason", "error", "errorMessage"]) {
      expect(v2({ success: false, transaction: "", [name]: "no\u001b[2J funds\n" })?.reason).toBe("no[2J funds");
    }
    expect(v2({ success: false, errorReason: "x".repeat(9_000) })?.reason).toHaveLength(200);
    expect(v2({ success: false, errorReason: null, errorMessage: "late" })?.reason).toBe("late");
  });

  it("has no transaction where there is none, or something that is no id", () => {
    for (const transaction of ["", null, undefined, 7, "x".repeat(129), "0x12 34", "0x\u202e12"]) {
      expect(v2({ ...settled, transaction })).toEqual({ success: true, transaction: undefined, reason: undefined });
    }
    expect(v2({ success: true, txHash: HASH })).toMatchObject({ transaction: HASH });
  });

  it("counts the money as taken where two of them disagree", () => {
    const [yes, no] = [encodeHeader(settled), encodeHeader({ success: false, transaction: "", errorReason: "no" })];
    const both = (first: string, second: string) =>
      readReceipt(new Headers({ "PAYMENT-RESPONSE": first, "X-PAYMENT-RESPONSE": second }));
    expect(both(no, yes)).toMatchObject({ success: true, transaction: HASH });
    expect(both(yes, no)).toMatchObject({ success: true, transaction: HASH });
    expect(both("broken!", yes)).toMatchObject({ success: true });
    expect(both(no, "broken!")).toMatchObject({ success: false, reason: "no" });
  });

  it("is none where nothing says whether the money moved", () => {
    expect(readReceipt(new Headers())).toBeUndefined();
    for (const value of [{}, { success: "true" }, { success: 1, transaction: HASH }]) expect(v2(value)).toBeUndefined();
    for (const text of [
      "",
      "not base64!",
      "W10=",
      "bnVsbA==",
      "e30=",
      encodeHeader({ success: true, pad: "x".repeat(20_000) }),
    ]) {
      expect(readReceipt(new Headers({ "PAYMENT-RESPONSE": text }))).toBeUndefined();
    }
  });

  it("never throws, and what it holds is bounded and printable", () => {
    const members = fc.dictionary(
      fc.constantFrom("success", "transaction", "txHash", "errorReason", "error"),
      fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.boolean(), fc.jsonValue({ maxDepth: 1 })),
    );
    const text = fc.oneof(members.map(encodeHeader), fc.base64String({ maxLength: 100 }));
    fc.assert(
      fc.property(text, (header) => {
        const receipt = readReceipt(new Headers({ "PAYMENT-RESPONSE": header }));
        expect(receipt?.reason ?? "-").toMatch(/^[^\p{Cc}\p{Cf}]{1,200}$/u);
        expect(receipt?.transaction ?? "-").toMatch(/^[\x21-\x7e]{1,128}$/);
      }),
      { seed: 402, numRuns: 2_000 },
    );
  });
});
