import fc from "fast-check";
import { expect, it } from "vitest";
import { formatAmount, formatPrice } from "../../src/client/price-text.js";
import { quote, toSellerWords } from "../../src/client/seller-words.js";
import { ether, evm, FOREIGN, offerOf, plain, sol, spl } from "./challenges.js";

it("keeps words of every script, and takes out what is not seen or turns the line", () => {
  for (const words of ["One report", "Zpráva č. 7", "報告 — 1 件", "تقرير", "रिपोर्ट", "🧾 ok"]) {
    expect(toSellerWords(words)).toBe(words);
  }
  const unseen = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u00ad",
    "\u034f",
    "\u3164",
    "\ufe0f",
    "\u{e0041}",
    "\u0007",
    "\ud800",
  ];
  for (const one of unseen) expect(toSellerWords(`a${one}b`)).toMatch(/^a ?b$/);
  expect(toSellerWords("a\r\n\t b\u2028c\u00a0d")).toBe("a b c d");
  expect(toSellerWords(`e${"\u0301".repeat(50)}`)).toBe("e\u0301\u0301");
});

it("is undefined where nothing is left, or where there is no text", () => {
  for (const words of ["", "   ", "\u200b\u202e", null, undefined, 7, {}, ["x"]])
    expect(toSellerWords(words)).toBeUndefined();
});

it("never has more than 200 characters, whatever comes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
      const words = toSellerWords(text);
      expect([...(words ?? "")].length).toBeLessThanOrEqual(200);
      expect(words ?? "-").toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}]+$/u);
    }),
    { seed: 402, numRuns: 2_000 },
  );
  expect(toSellerWords("🧾".repeat(10_000))).toBe(`${"🧾".repeat(199)}…`);
});

it("quotes a value by its kind, and text by its beginning", () => {
  expect(["x\u202ey", 7, true, null, undefined, [1], { a: 1 }, ""].map(quote)).toEqual([
    '"xy"',
    "7",
    "true",
    "nothing",
    "nothing",
    "a list",
    "an object",
    '""',
  ]);
  expect(quote("z".repeat(1_000))).toBe(`"${"z".repeat(60)}"`);
});

it("says a price in the words of our own table, never in the seller's", async () => {
  const words = async (given: Parameters<typeof offerOf>[0]) => formatPrice(await offerOf(given));
  expect(await words(evm({ extra: { name: "USDC", version: "2", symbol: "EUR" } }))).toBe("0.01 USDC");
  expect(await words(spl({ amount: "1" }))).toBe("0.000001 USDC");
  expect(await words(ether({ amount: "200000000000000" }))).toBe("0.0002 ETH");
  expect(await words(sol({ amount: "1000000" }))).toBe("0.001 SOL");
  expect(await words(plain({ extra: { assetTransferMethod: "transaction", decimals: 2, symbol: "USDC" } }))).toBe(
    `10000 atomic units of ${FOREIGN}`,
  );
  expect(await words(ether({ network: "eip155:999999", amount: "10" }))).toBe(
    "0.00000000000000001 native currency of eip155:999999",
  );
  expect(formatAmount(await offerOf(evm()), 0n)).toBe("0 USDC");
});
