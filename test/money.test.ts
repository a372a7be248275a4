import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandNumber, formatDecimal, MAX_UINT256, parseDecimal, parseInteger } from "../src/money.js";

const seeded = { seed: 402, numRuns: 2_000 };
const decimals = fc.integer({ min: 0, max: 18 });
const amounts = fc.bigInt({ min: 0n, max: MAX_UINT256 });

describe("parseDecimal", () => {
  it.each([
    ["0.01", 6, 10_000n],
    ["0.001", 6, 1_000n],
    ["1", 6, 1_000_000n],
    ["1", 0, 1n],
    ["0", 6, 0n],
    ["0.000001", 6, 1n],
    ["123456789.123456789123456789", 18, 123_456_789_123_456_789_123_456_789n],
    ["1.50", 6, 1_500_000n],
  ])("reads %s with %i decimals exactly", (text, places, amount) => {
    expect(parseDecimal(text, places)).toEqual({ ok: true, amount });
  });

  it.each([
    "",
    " 1",
    "1 ",
    "1\n",
    "+1",
    "-1",
    "1e3",
    "1E3",
    "0x10",
    "1_000",
    "1,000",
    ".5",
    "5.",
    "1.2.3",
    "01",
    "00",
    "00.1",
    "\u0661",
    "\uff11",
    "NaN",
    "Infinity",
  ])("refuses %j", (text) => {
    expect(parseDecimal(text, 6)).toMatchObject({ ok: false, problem: expect.stringMatching(/./) });
  });

  it("refuses more decimals than the asset has, also when they are zeros", () => {
    expect(parseDecimal("0.0000001", 6)).toEqual({ ok: false, problem: "has 7 decimals where the asset has 6" });
    expect(parseDecimal("1.0000000", 6).ok).toBe(false);
    expect(parseDecimal("1.0", 0).ok).toBe(false);
  });

  it("refuses text of unreasonable length before it calculates", () => {
    expect(parseDecimal("9".repeat(1_000_000), 6).ok).toBe(false);
  });

  it("reads back what formatDecimal wrote, for every amount and 0 to 18 decimals", () => {
    fc.assert(
      fc.property(amounts, decimals, (amount, places) => {
        expect(parseDecimal(formatDecimal(amount, places), places)).toEqual({ ok: true, amount });
      }),
      seeded,
    );
  });
});

describe("formatDecimal", () => {
  it.each([
    [10_000n, 6, "0.01"],
    [1_000_000n, 6, "1"],
    [0n, 6, "0"],
    [1n, 18, "0.000000000000000001"],
    [1_200n, 0, "1200"],
    [-1_500_000n, 6, "-1.5"],
  ])("writes %s with %i decimals as %s", (amount, places, text) => {
    expect(formatDecimal(amount, places)).toBe(text);
  });
});

describe("expandNumber", () => {
  it.each([
    [1e-7, "0.0000001"],
    [1.5e-7, "0.00000015"],
    [-1e-7, "-0.0000001"],
    [1e21, "1000000000000000000000"],
    [1.25e22, "12500000000000000000000"],
    [0.1, "0.1"],
    [0, "0"],
    [5e-324, `0.${"0".repeat(323)}5`],
  ])("expands %s to %s", (n, text) => {
    expect(expandNumber(n)).toBe(text);
  });

  it("leaves no exponent and loses no digit, for every finite number", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => {
        const text = expandNumber(n);
        expect(text).toMatch(/^-?[0-9]+(\.[0-9]+)?$/);
        expect(Number(text)).toBe(n === 0 ? 0 : n);
        const significant = (digits: string) =>
          digits
            .replace(/^-/, "")
            .replace(/e.*$/, "")
            .replace(".", "")
            .replace(/^0+|0+$/g, "");
        expect(significant(text)).toBe(significant(String(n)));
      }),
      seeded,
    );
  });

  it("leaves NaN and infinities as words that no amount is read from", () => {
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY]) expect(parseDecimal(expandNumber(n), 6).ok).toBe(false);
  });
});

describe("parseInteger", () => {
  it("reads every integer from 0 to 2^256 - 1", () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        expect(parseInteger(amount.toString())).toEqual({ ok: true, amount });
      }),
      seeded,
    );
    expect(parseInteger(MAX_UINT256.toString())).toEqual({ ok: true, amount: MAX_UINT256 });
  });

  it.each([
    "",
    "010000",
    "00",
    "+1",
    "-1",
    "1e4",
    "0x2710",
    "1.0",
    " 1",
    "1 ",
    "1\n",
    "\u0661",
    (MAX_UINT256 + 1n).toString(),
    "9".repeat(79),
  ])("refuses %j, so that one value has one spelling", (text) => {
    expect(parseInteger(text).ok).toBe(false);
  });

  it("refuses what is above the bound it was given", () => {
    expect(parseInteger("18446744073709551615", 2n ** 64n - 1n).ok).toBe(true);
    expect(parseInteger("18446744073709551616", 2n ** 64n - 1n).ok).toBe(false);
  });
});
