import fc from "fast-check";
import { bytesToHex, keccak256 as reference } from "viem";
import { expect, it } from "vitest";
import { keccak256 } from "../src/keccak.js";

it("hashes nothing to the known digest", () => {
  expect(bytesToHex(keccak256(new Uint8Array()))).toBe(
    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  );
});

it("agrees with viem on every length around a block boundary", () => {
  for (let length = 0; length <= 300; length++) {
    const data = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 255);
    expect(bytesToHex(keccak256(data))).toBe(reference(data));
  }
});

it("agrees with viem on random input and leaves the input as it was", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_000 }), (data) => {
      const before = data.slice();
      expect(bytesToHex(keccak256(data))).toBe(reference(data));
      expect(data).toEqual(before);
    }),
    { seed: 402, numRuns: 500 },
  );
});
