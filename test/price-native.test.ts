// Prices in a chain's own currency, and prices on Solana.
import { describe, expect, it } from "vitest";
import { formatDecimal, MAX_UINT64, MAX_UINT256 } from "../src/money.js";
import { findNetwork, type Network, TOKEN_2022, TOKEN_PROGRAM } from "../src/networks.js";
import { type PriceResult, resolvePrice } from "../src/price.js";

const named = (name: string): Network => {
  const network = findNetwork(name);
  if (!network) throw new Error(`no network ${name}`);
  return network;
};
const [base, polygon, stable, flare] = [named("base"), named("polygon"), named("stable"), named("flare")];
const [solana, devnet] = [named("solana"), named("solana-devnet")];
const MINT = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
const PYUSD = "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo";

const costs = (result: PriceResult) => {
  if (!result.ok || result.free) throw new Error(`no costs: ${JSON.stringify(result)}`);
  return result.costs;
};
const amounts = (result: PriceResult) =>
  costs(result).map(({ network, symbol, amount }) => [network.name, symbol, amount]);

describe("a price in a chain's own currency", () => {
  it("is that currency on each network of the route that counts in it, paid by a transaction", () => {
    expect(costs(resolvePrice("0.001 SOL", [base, solana]))).toEqual([
      {
        network: solana,
        asset: "native",
        amount: 1_000_000n,
        transfer: { method: "transaction" },
        symbol: "SOL",
        decimals: 9,
      },
    ]);
    expect(amounts(resolvePrice("0.0002 ETH", [base, solana, named("optimism"), polygon]))).toEqual([
      ["base", "ETH", 200_000_000_000_000n],
      ["optimism", "ETH", 200_000_000_000_000n],
    ]);
    expect(amounts(resolvePrice("0.01 POL", [polygon]))).toEqual([["polygon", "POL", 10n ** 16n]]);
  });

  it("is a token first, where a chain calls both the same", () => {
    expect(costs(resolvePrice("0.01 USDT0", [stable, flare])).map(({ transfer }) => transfer.method)).toEqual([
      "eip3009",
      "eip3009",
    ]);
  });

  it("has 9 decimals on Solana and 18 on EVM, and more are refused, never rounded", () => {
    expect(amounts(resolvePrice("0.000000001 SOL", [solana]))).toEqual([["solana", "SOL", 1n]]);
    expect(amounts(resolvePrice("0.000000000000000001 ETH", [base]))).toEqual([["base", "ETH", 1n]]);
    expect(resolvePrice("0.0000000001 SOL", [solana])).toEqual({
      ok: false,
      code: "invalid",
      problem: 'the price is "0.0000000001 SOL", which has 10 decimals where the asset has 9 (SOL on solana)',
    });
    expect(resolvePrice("0.0000000000000000001 ETH", [base])).toMatchObject({ code: "invalid" });
    for (const zero of ["0 SOL", "0.0 ETH"]) expect(resolvePrice(zero, [solana, base]).ok).toBe(false);
  });

  it("is refused where no network of the route counts in it, with those that do", () => {
    const sol = resolvePrice("0.001 SOL", [base, polygon]);
    expect(sol).toMatchObject({ ok: false, code: "unknown_token" });
    for (const part of ["SOL is not known on base, polygon", "solana, solana-devnet", "USDC, ETH, POL"])
      expect(sol).toHaveProperty("problem", expect.stringContaining(part));
    expect(resolvePrice("1 ETH", [solana])).toMatchObject({ ok: false, code: "unknown_token" });
    expect(resolvePrice("1 sol", [solana])).toMatchObject({ ok: false, code: "unknown_token" });
  });

  it("may be written as an object in atomic units, with confirmations of its own", () => {
    expect(costs(resolvePrice({ amount: "5000", asset: "native", network: "solana" }, [base, solana]))).toEqual([
      {
        network: solana,
        asset: "native",
        amount: 5_000n,
        transfer: { method: "transaction" },
        symbol: "SOL",
        decimals: 9,
      },
    ]);
    const price = { amount: "1", asset: "native", transferMethod: "transaction", confirmations: 32 };
    expect(costs(resolvePrice(price, [named("eip155:31337")]))).toMatchObject([
      { symbol: "native", decimals: 18, transfer: { method: "transaction", confirmations: 32 } },
    ]);
  });

  it.each([
    [{ asset: "native", decimals: 18 }, "contradiction"],
    [{ asset: "native", domain: { name: "SOL", version: "1" } }, "contradiction"],
    [{ asset: "native", tokenProgram: TOKEN_2022 }, "contradiction"],
    [{ asset: "native", confirmations: 0 }, "invalid"],
    [{ asset: "native", transferMethod: "spl" }, "invalid"],
    [{ asset: "Native" }, "invalid"],
    [{ asset: "SOL" }, "invalid"],
    [{ asset: "1".repeat(32) }, "invalid"],
  ])("the object %j is refused as %s", (members, code) => {
    expect(resolvePrice({ amount: "1", ...members }, [solana])).toMatchObject({ ok: false, code });
  });

  it("is refused twice for one network", () => {
    const again = { amount: "1", asset: "native", network: "solana" };
    expect(resolvePrice(["0.001 SOL", again], [solana])).toMatchObject({ code: "contradiction" });
  });
});

describe("a price on Solana", () => {
  it("in dollars is each cluster's USDC, beside the stablecoins of the other networks", () => {
    expect(amounts(resolvePrice("$0.01", [base, solana, devnet]))).toEqual([
      ["base", "USDC", 10_000n],
      ["solana", "USDC", 10_000n],
      ["solana-devnet", "USDC", 10_000n],
    ]);
    expect(costs(resolvePrice("$0.01", [solana]))).toEqual([
      {
        network: solana,
        asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
        amount: 10_000n,
        transfer: { method: "spl" },
        symbol: "USDC",
        decimals: 6,
      },
    ]);
  });

  it("names the program of a mint of Token-2022", () => {
    expect(costs(resolvePrice("2 PYUSD", [solana]))).toMatchObject([
      { asset: PYUSD, amount: 2_000_000n, transfer: { method: "spl", tokenProgram: TOKEN_2022 } },
    ]);
    expect(costs(resolvePrice({ amount: "1", asset: PYUSD, tokenProgram: TOKEN_2022 }, [solana]))).toMatchObject([
      { symbol: "PYUSD", transfer: { method: "spl", tokenProgram: TOKEN_2022 } },
    ]);
  });

  it("is at most what 64 bits hold, where EVM has 256", () => {
    const dollars = (amount: bigint) => `$${formatDecimal(amount, 6)}`;
    const sol = (amount: bigint) => `${formatDecimal(amount, 9)} SOL`;
    expect(costs(resolvePrice(dollars(MAX_UINT64), [solana]))[0]?.amount).toBe(MAX_UINT64);
    expect(costs(resolvePrice(sol(MAX_UINT64), [solana]))[0]?.amount).toBe(MAX_UINT64);
    for (const price of [dollars(MAX_UINT64 + 1n), sol(MAX_UINT64 + 1n)])
      expect(resolvePrice(price, [solana])).toMatchObject({ ok: false, code: "invalid" });
    expect(costs(resolvePrice(dollars(MAX_UINT64 + 1n), [base]))[0]?.amount).toBe(MAX_UINT64 + 1n);
    const ether = (amount: bigint) => `${formatDecimal(amount, 18)} ETH`;
    expect(costs(resolvePrice(ether(MAX_UINT256), [base]))[0]?.amount).toBe(MAX_UINT256);
    expect(resolvePrice(ether(MAX_UINT256 + 1n), [base])).toMatchObject({ code: "invalid" });
  });

  it("in a mint that is not in the table needs its decimals, because the buyer signs them", () => {
    expect(resolvePrice({ amount: "5", asset: MINT }, [solana])).toMatchObject({ ok: false, code: "required" });
    const price = { amount: "5", asset: MINT, decimals: 2 };
    expect(costs(resolvePrice(price, [solana]))).toEqual([
      {
        network: solana,
        asset: MINT,
        amount: 5n,
        transfer: { method: "spl" },
        symbol: "token 9xQeWv…VFin",
        decimals: 2,
      },
    ]);
    for (const [tokenProgram, transfer] of [
      [TOKEN_PROGRAM, { method: "spl" }],
      [TOKEN_2022, { method: "spl", tokenProgram: TOKEN_2022 }],
    ])
      expect(costs(resolvePrice({ ...price, tokenProgram }, [solana]))[0]?.transfer).toEqual(transfer);
  });

  it.each([
    [{ asset: MINT, decimals: 2, domain: { name: "T", version: "1" } }, "contradiction"],
    [{ asset: MINT, decimals: 2, confirmations: 3 }, "contradiction"],
    [{ asset: MINT, decimals: 2, transferMethod: "transaction" }, "contradiction"],
    [{ asset: MINT, decimals: 2, tokenProgram: MINT }, "invalid"],
    [{ asset: MINT, decimals: 2, tokenProgram: "Token-2022" }, "invalid"],
    [{ asset: PYUSD, tokenProgram: TOKEN_PROGRAM }, "contradiction"],
    [{ asset: PYUSD, decimals: 9 }, "contradiction"],
    [{ asset: MINT, decimals: -1 }, "invalid"],
    [{ asset: MINT.slice(2), decimals: 2 }, "invalid"],
    [{ asset: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", decimals: 2 }, "invalid"],
    [{ asset: MINT, decimals: 2, amount: (MAX_UINT64 + 1n).toString() }, "invalid"],
  ])("the object %j is refused as %s", (members, code) => {
    expect(resolvePrice({ amount: "1", ...members }, [solana])).toMatchObject({ ok: false, code });
  });
});
