// Words of the ABI as bytes: the same as their digits, and nothing that does not fit into one.
import { describe, expect, it } from "vitest";
import { fromBytes, toBytes, word, writeHexWord, writeNumberWord } from "../../../src/chains/evm/hex.js";

describe("a word", () => {
  it("of a number is the same in bytes as in digits, at every boundary", () => {
    const edges = Array.from({ length: 257 }, (_, bit) => 1n << BigInt(bit)).flatMap((n) => [n - 1n, n, n + 1n]);
    for (const value of [0n, ...edges].filter((n) => n < 1n << 256n)) {
      const bytes = new Uint8Array(96);
      writeNumberWord(bytes, 64, value);
      expect(fromBytes(bytes)).toBe(`0x${word(0)}${word(value)}${word(0)}`);
    }
  });

  it("of hex digits stands at its right end", () => {
    const bytes = new Uint8Array(64);
    writeHexWord(bytes, 64, "0xAbCd");
    expect(fromBytes(bytes)).toBe(`0x${word(0)}${word(0xabcd)}`);
  });

  it("does not hold what is longer than a word, negative or no hex", () => {
    const bytes = new Uint8Array(96);
    expect(() => writeHexWord(bytes, 96, `0x${"0".repeat(66)}`)).toThrow(RangeError);
    expect(() => writeHexWord(bytes, 96, "0xzz")).toThrow(RangeError);
    expect(() => writeNumberWord(bytes, 96, 1n << 256n)).toThrow(RangeError);
    expect(() => writeNumberWord(bytes, 96, -1n)).toThrow(RangeError);
    expect(() => toBytes("0x0g")).toThrow(RangeError);
  });
});
