import { describe, expect, it } from "vitest";
import { MAX_UINT256 } from "../src/money.js";
import { findNetwork, type Network } from "../src/networks.js";
import { type PriceResult, resolvePrice } from "../src/price.js";

const named = (name: string): Network => {
  const network = findNetwork(name);
  if (!network) throw new Error(`no network ${name}`);
  return network;
};
const [base, sepolia] = [named("base"), named("base-sepolia")];
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const CUSTOM = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const costs = (result: PriceResult) => {
  if (!result.ok || result.free) throw new Error(`no costs: ${JSON.stringify(result)}`);
  return result.costs;
};

describe("a price object for a token on EVM", () => {
  const domain = { name: "My Token", version: "1" };

  it("takes domain and decimals of a known token from the table, and spells its address", () => {
    expect(costs(resolvePrice({ amount: "10000", asset: USDC.toLowerCase() }, [sepolia]))).toEqual([
      {
        network: sepolia,
        asset: USDC,
        amount: 10_000n,
        transfer: { method: "eip3009", domain: { name: "USDC", version: "2" } },
        symbol: "USDC",
        decimals: 6,
      },
    ]);
  });

  it("prefers the seller's own domain to the table's", () => {
    const [cost] = costs(
      resolvePrice({ amount: "1", asset: USDC, domain: { name: "USD Coin", version: "3" } }, [sepolia]),
    );
    expect(cost?.transfer).toEqual({ method: "eip3009", domain: { name: "USD Coin", version: "3" } });
  });

  it("needs a domain for any other token, and shows its atomic units as such", () => {
    const result = resolvePrice({ amount: "1", asset: CUSTOM }, [sepolia]);
    expect(result).toMatchObject({ ok: false, code: "required" });
    for (const remedy of ["{ name, version }", 'transferMethod: "transaction"'])
      expect(result).toHaveProperty("problem", expect.stringContaining(remedy));
    expect(costs(resolvePrice({ amount: "5", asset: CUSTOM, domain }, [sepolia]))).toEqual([
      {
        network: sepolia,
        asset: CUSTOM,
        amount: 5n,
        transfer: { method: "eip3009", domain },
        symbol: "atomic units of My Token",
        decimals: 0,
      },
    ]);
    const [cost] = costs(resolvePrice({ amount: "5", asset: CUSTOM, domain, decimals: 18 }, [sepolia]));
    expect(cost).toMatchObject({ symbol: "My Token", decimals: 18 });
  });

  it("needs a network where there are several, by any of its names", () => {
    const price = { amount: "1", asset: USDC };
    const result = resolvePrice(price, [sepolia, base]);
    expect(result).toMatchObject({
      ok: false,
      code: "required",
      problem: expect.stringContaining("base-sepolia, base"),
    });
    for (const network of ["base-sepolia", "eip155:84532"]) {
      expect(costs(resolvePrice({ ...price, network }, [base, sepolia]))[0]?.network).toBe(sepolia);
    }
    expect(resolvePrice({ ...price, network: "celo" }, [base, sepolia])).toMatchObject({ code: "contradiction" });
    expect(resolvePrice({ ...price, network: "nowhere" }, [base])).toMatchObject({ code: "unknown_network" });
    expect(resolvePrice({ ...price, network: "celo" }, [base])).toMatchObject({ code: "contradiction" });
  });

  it.each([
    [{ asset: USDC }, "required"],
    [{ amount: 10_000, asset: USDC }, "invalid"],
    [{ amount: "0", asset: USDC }, "invalid"],
    [{ amount: "0.01", asset: USDC }, "invalid"],
    [{ amount: "010000", asset: USDC }, "invalid"],
    [{ amount: "1e4", asset: USDC }, "invalid"],
    [{ amount: (MAX_UINT256 + 1n).toString(), asset: USDC }, "invalid"],
    [{ amount: "1" }, "required"],
    [{ amount: "1", asset: "USDC" }, "invalid"],
    [{ amount: "1", asset: USDC.replace("C", "c") }, "invalid"],
    [{ amount: "1", asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" }, "invalid"],
    [{ amount: "1", asset: USDC, decimals: 18 }, "contradiction"],
    [{ amount: "1", asset: CUSTOM, domain, decimals: 1.5 }, "invalid"],
    [{ amount: "1", asset: CUSTOM, domain, decimals: -1 }, "invalid"],
    [{ amount: "1", asset: CUSTOM, domain: { name: "My Token" } }, "invalid"],
    [{ amount: "1", asset: CUSTOM, domain: "My Token" }, "invalid"],
    [{ amount: "1", asset: CUSTOM, domain: { name: "", version: "1" } }, "invalid"],
    [{ amount: "1", asset: USDC, decimal: 6 }, "unknown_option"],
    [{ amount: "1", asset: `0x${"0".repeat(40)}`, domain }, "invalid"],
    [{ amount: "1", asset: USDC, confirmations: 3 }, "contradiction"],
    [{ amount: "1", asset: USDC, tokenProgram: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" }, "contradiction"],
    [{ amount: "1", asset: USDC, transferMethod: "eip3009" }, "invalid"],
    [{}, "required"],
  ])("%j is refused as %s", (price, code) => {
    expect(resolvePrice(price, [sepolia])).toMatchObject({ ok: false, code });
  });

  it("takes no bigint, because JSON has none", () => {
    expect(resolvePrice({ amount: 10_000n, asset: USDC }, [sepolia])).toMatchObject({ ok: false, code: "invalid" });
  });

  it("is not available yet for a token that only Permit2 can move", () => {
    const asset = named("megaeth").tokens[0]?.address;
    expect(resolvePrice({ amount: "1", asset, domain }, [named("megaeth")])).toMatchObject({
      code: "not_available_yet",
    });
  });
});

describe("a price object for an ERC-20 without EIP-3009", () => {
  const price = { amount: "5", asset: CUSTOM, transferMethod: "transaction" } as const;

  it("is paid by a transaction, with as many confirmations as it says", () => {
    const symbol = "atomic units of token 0x7099…79C8";
    expect(costs(resolvePrice(price, [sepolia]))).toEqual([
      { network: sepolia, asset: CUSTOM, amount: 5n, transfer: { method: "transaction" }, symbol, decimals: 0 },
    ]);
    expect(costs(resolvePrice({ ...price, confirmations: 12, decimals: 18 }, [sepolia]))).toMatchObject([
      { transfer: { method: "transaction", confirmations: 12 }, symbol: "token 0x7099…79C8", decimals: 18 },
    ]);
  });

  it("may be any token that the table knows otherwise, also one that only Permit2 can move", () => {
    expect(costs(resolvePrice({ ...price, asset: USDC }, [sepolia]))).toMatchObject([
      { symbol: "USDC", decimals: 6, transfer: { method: "transaction" } },
    ]);
    const mega = named("megaeth");
    expect(costs(resolvePrice({ ...price, asset: mega.tokens[0]?.address }, [mega]))).toMatchObject([
      { symbol: "MegaUSD", transfer: { method: "transaction" } },
    ]);
  });

  it.each([
    [{ ...price, domain: { name: "My Token", version: "1" } }, "contradiction"],
    [{ ...price, tokenProgram: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" }, "contradiction"],
    [{ ...price, transferMethod: "permit2" }, "invalid"],
    [{ ...price, confirmations: 0 }, "invalid"],
    [{ ...price, confirmations: 10_001 }, "invalid"],
    [{ ...price, confirmations: 1.5 }, "invalid"],
    [{ ...price, confirmations: "3" }, "invalid"],
    [{ ...price, confirmations: 10_000 }, undefined],
  ])("%j is refused as %s", (wrong, code) => {
    expect(resolvePrice(wrong, [sepolia])).toMatchObject(code ? { ok: false, code } : { ok: true });
  });
});
