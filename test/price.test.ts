import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PaywallError } from "../src/errors.js";
import { formatDecimal, MAX_UINT256 } from "../src/money.js";
import { findNetwork, type Network } from "../src/networks.js";
import { type PriceResult, resolvePrice, times } from "../src/price.js";

const named = (name: string): Network => {
  const network = findNetwork(name);
  if (!network) throw new Error(`no network ${name}`);
  return network;
};
const [base, sepolia, celo, stable, abstract] = ["base", "base-sepolia", "celo", "stable", "abstract"].map(named) as [
  Network,
  Network,
  Network,
  Network,
  Network,
];
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

const costs = (result: PriceResult) => {
  if (!result.ok || result.free) throw new Error(`no costs: ${JSON.stringify(result)}`);
  return result.costs;
};
const amounts = (result: PriceResult) =>
  costs(result).map(({ network, symbol, amount }) => [network.name, symbol, amount]);

describe("free", () => {
  it("is the exact text and nothing else", () => {
    expect(resolvePrice("free", [base])).toEqual({ ok: true, free: true });
    for (const price of [
      "Free",
      "FREE",
      " free",
      "free ",
      "frei",
      ["free"],
      ["free", "$1"],
      new String("free"),
      { amount: "free" },
    ]) {
      expect(resolvePrice(price, [base]).ok, String(price)).toBe(false);
    }
  });
});

describe("a price in dollars", () => {
  it("is each network's own stablecoin, exactly", () => {
    expect(amounts(resolvePrice("$0.01", [base, stable, abstract]))).toEqual([
      ["base", "USDC", 10_000n],
      ["stable", "USDT0", 10_000n],
      ["abstract", "USDC.e", 10_000n],
    ]);
    expect(costs(resolvePrice("$0.001", [sepolia]))).toEqual([
      {
        network: sepolia,
        asset: USDC,
        amount: 1_000n,
        transfer: { method: "eip3009", domain: { name: "USDC", version: "2" } },
        symbol: "USDC",
        decimals: 6,
      },
    ]);
  });

  it("is refused where a network has no stablecoin that can be charged", () => {
    expect(resolvePrice("$1", [base, named("sepolia")])).toMatchObject({ ok: false, code: "unknown_token" });
    expect(resolvePrice("$1", [base, named("eip155:31337")])).toMatchObject({ ok: false, code: "unknown_token" });
    expect(resolvePrice("$1", [base, named("megaeth")])).toMatchObject({ ok: false, code: "not_available_yet" });
    expect(resolvePrice("$1", [])).toMatchObject({ ok: false, code: "required" });
  });

  it("may be the smallest unit and the largest amount, and nothing outside", () => {
    expect(costs(resolvePrice("$0.000001", [base]))[0]?.amount).toBe(1n);
    expect(resolvePrice("$0.0000001", [base])).toEqual({
      ok: false,
      code: "invalid",
      problem: 'the price is "$0.0000001", which has 7 decimals where the asset has 6 (USDC on base)',
    });
    expect(costs(resolvePrice(`$${formatDecimal(MAX_UINT256, 6)}`, [base]))[0]?.amount).toBe(MAX_UINT256);
    expect(resolvePrice(`$${formatDecimal(MAX_UINT256 + 1n, 6)}`, [base]).ok).toBe(false);
  });
});

describe("a price with a symbol", () => {
  it("is that token on each network that has it", () => {
    expect(amounts(resolvePrice("0.01 USDC", [base, stable, sepolia]))).toEqual([
      ["base", "USDC", 10_000n],
      ["base-sepolia", "USDC", 10_000n],
    ]);
    expect(amounts(resolvePrice("2.5 USDT", [celo]))).toEqual([["celo", "USDT", 2_500_000n]]);
  });

  it("is refused with the known symbols where no network has it", () => {
    const result = resolvePrice("1 USD", [base, celo]);
    expect(result).toMatchObject({ ok: false, code: "unknown_token" });
    expect(result).toHaveProperty("problem", expect.stringContaining("USDC, USDT, USAT"));
    expect(resolvePrice("1 usdc", [base])).toMatchObject({ ok: false, code: "unknown_token" });
    expect(resolvePrice("1 USDT0", [base])).toMatchObject({ ok: false, code: "unknown_token" });
  });

  it("is not available yet through Permit2, and says how the token can be paid", () => {
    const result = resolvePrice("1 MegaUSD", [named("megaeth")]);
    expect(result).toMatchObject({ ok: false, code: "not_available_yet" });
    expect(result).toHaveProperty("problem", expect.stringContaining('transferMethod: "transaction"'));
  });
});

describe("a price that is none", () => {
  it.each([
    "",
    "$",
    "$0",
    "$0.0",
    "0 USDC",
    "$$1",
    "$-1",
    "-$1",
    "$+1",
    "$1e3",
    "1e3 USDC",
    "$1.2.3",
    "1.2.3",
    "$\u0661",
    "\u0661",
    "$1_000",
    "$1,000",
    "$01",
    "$ 1",
    "$1 ",
    " $1",
    "$1\n",
    "1",
    "0.01",
    "1USDC",
    "1  USDC",
    "USDC 1",
    "$.5",
    "$5.",
    "0x10 USDC",
    "undefined",
    "$NaN",
    "€1",
  ])("refuses the text %j and says what to write", (price) => {
    const result = resolvePrice(price, [base]);
    expect(result).toMatchObject({ ok: false, code: "invalid" });
    expect(result).toHaveProperty("problem", expect.stringContaining(JSON.stringify(price)));
  });

  it.each([
    0,
    1,
    0.01,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    10n,
    true,
    false,
    null,
    () => "$1",
    Symbol("$1"),
    [],
    [[]],
    [undefined],
  ])("refuses the value %s", (price) => {
    expect(resolvePrice(price, [base]).ok).toBe(false);
  });

  it("is required where it is undefined", () => {
    expect(resolvePrice(undefined, [base])).toMatchObject({ ok: false, code: "required" });
  });

  it("never opens a route and never throws, whatever it is", () => {
    fc.assert(
      fc.property(fc.anything(), (price) => {
        const result = resolvePrice(price, [base, named("solana")]);
        if (result.ok && result.free) expect(price).toBe("free");
        if (result.ok && !result.free) expect(result.costs.every(({ amount }) => amount > 0n)).toBe(true);
      }),
      { seed: 402, numRuns: 5_000 },
    );
  });

  it("is quoted in the message only in part", () => {
    const result = resolvePrice("x".repeat(100_000), [base]);
    expect(result).toHaveProperty("problem", expect.stringMatching(/^.{0,250}$/));
  });
});

describe("a choice of prices", () => {
  it("is the costs of all of them, in order", () => {
    expect(amounts(resolvePrice(["$0.01", "0.02 USDT"], [celo]))).toEqual([
      ["celo", "USDC", 10_000n],
      ["celo", "USDT", 20_000n],
    ]);
  });

  it("may be of several kinds on several networks", () => {
    expect(amounts(resolvePrice(["$0.01", "0.00005 SOL", "0.000003 ETH"], [base, named("solana")]))).toEqual([
      ["base", "USDC", 10_000n],
      ["solana", "USDC", 10_000n],
      ["solana", "SOL", 50_000n],
      ["base", "ETH", 3_000_000_000_000n],
    ]);
  });

  it("is refused where one token has two prices, also in two spellings", () => {
    for (const other of ["0.02 USDC", { amount: "1", asset: USDC.toLowerCase() }]) {
      expect(resolvePrice(["$0.01", other], [sepolia])).toMatchObject({ ok: false, code: "contradiction" });
    }
  });

  it("is refused as a whole where one of it is wrong, and says which", () => {
    const result = resolvePrice(["$0.01", "0.02 NOPE"], [celo]);
    expect(result).toMatchObject({ ok: false, code: "unknown_token", problem: expect.stringMatching(/^choice 2: /) });
    expect(resolvePrice(["$0.01", "free"], [celo])).toMatchObject({ ok: false, code: "contradiction" });
    expect(resolvePrice([["$0.01"]], [celo])).toMatchObject({ ok: false, code: "invalid" });
  });
});

describe("times", () => {
  it.each([
    ["$0.002", 3, "$0.006"],
    ["$0.50", 2, "$1"],
    ["0.01 USDC", 7n, "0.07 USDC"],
    ["0.001 SOL", 3, "0.003 SOL"],
    ["0.000000000000000001 ETH", 7, "0.000000000000000007 ETH"],
    ["$0.1", 0, "$0"],
    ["$3", 10n ** 20n, "$300000000000000000000"],
  ])("multiplies %s by %s to %s", (price, factor, product) => {
    expect(times(price, factor)).toBe(product);
  });

  it("is exact for every price and factor, where floats are not", () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 12n });
    const factor = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(price, factor, (amount, n) => {
        const product = times(`$${formatDecimal(amount, 6)}`, n);
        expect(costs(resolvePrice(product, [base]))[0]?.amount).toBe(amount * BigInt(n));
      }),
      { seed: 402, numRuns: 2_000 },
    );
  });

  it.each([
    ["$0.01", -1],
    ["$0.01", -1n],
    ["$0.01", 1.5],
    ["$0.01", Number.NaN],
    ["$0.01", 2 ** 53],
    ["free", 2],
    ["0.01", 2],
    ["", 2],
    ["$$1", 2],
    ["$1e3", 2],
    ["$01", 2],
  ])("refuses %s times %s", (price, factor) => {
    const error = expect.objectContaining({ code: "price_invalid" });
    expect(() => times(price, factor)).toThrow(PaywallError);
    expect(() => times(price, factor)).toThrow(error);
  });

  it("gives a product of 0 that no route accepts", () => {
    expect(resolvePrice(times("$0.01", 0), [base])).toMatchObject({ ok: false, code: "invalid" });
  });
});
