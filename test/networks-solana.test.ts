// The clusters of Solana in the table of networks, and their tokens.
import { PublicKey } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { environmentName, findNetwork, NETWORKS, networkFromWire, tokenByAddress } from "../src/networks.js";
import { isSolanaProgram } from "../src/solana-programs.js";

const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
const clusters = NETWORKS.filter(({ family }) => family === "solana");

// Copied by hand from the protocol document, not from the table under test. `true`: a mint of Token-2022.
const DOCUMENTED = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": [
    ["USDC", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", false],
    ["USDT", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", false],
    ["USDG", "2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH", true],
    ["PYUSD", "2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo", true],
    ["CASH", "CASHx9KJUStyftLFWGvEVf59SGeG9sh5FfcnZMVPCASH", true],
  ],
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": [
    ["USDC", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", false],
    ["USDG", "4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7", true],
    ["PYUSD", "CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM", true],
  ],
  "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z": [["USDC", "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", false]],
} as const;

describe("the clusters of Solana", () => {
  it("have their documented tokens, USDC first, and no other", () => {
    const tokens = clusters.map(({ id, tokens: own }) => [
      id,
      own.map(({ symbol, address, tokenProgram }) => [symbol, address, tokenProgram === TOKEN_2022]),
    ]);
    expect(Object.fromEntries(tokens)).toEqual(DOCUMENTED);
  });

  it("have tokens that are moved by a transfer, with 6 decimals, no domain, and an address of 32 bytes", () => {
    for (const token of clusters.flatMap(({ tokens }) => tokens)) {
      expect(token).toMatchObject({ decimals: 6, transferMethod: "spl" });
      expect(token.domain).toBeUndefined();
      expect(new PublicKey(token.address).toBase58()).toBe(token.address);
    }
  });

  it("count in SOL with 9 decimals, and only the main one is none for tests", () => {
    expect(clusters.map(({ name, testnet }) => [name, testnet])).toEqual([
      ["solana", false],
      ["solana-devnet", true],
      ["solana-testnet", true],
    ]);
    for (const { native } of clusters) expect(native).toEqual({ symbol: "SOL", decimals: 9 });
  });

  it("are found by name, alias and id, in the environment too, and no other cluster is", () => {
    for (const name of ["solana", "solana-mainnet-beta", "solana:mainnet", clusters[0]!.id])
      expect(findNetwork(name)).toBe(clusters[0]);
    expect(findNetwork("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa2")).toBeUndefined();
    expect(networkFromWire(2, "solana:mainnet")).toBeUndefined();
    expect(environmentName(clusters[1]!)[0]).toBe("SOLANA_DEVNET");
  });

  it("find their tokens by the exact address", () => {
    const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    expect(tokenByAddress(clusters[0]!, usdc)?.symbol).toBe("USDC");
    expect(tokenByAddress(clusters[0]!, usdc.toLowerCase())).toBeUndefined();
  });
});

describe("an account that nobody owns", () => {
  it.each([
    "11111111111111111111111111111111",
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "SysvarC1ock11111111111111111111111111111111",
    "SysvarRent111111111111111111111111111111111",
    "So11111111111111111111111111111111111111112",
  ])("such as %s is known", (address) => {
    expect(new PublicKey(address).toBase58()).toBe(address);
    expect(isSolanaProgram(address)).toBe(true);
  });

  it("is none where it is an ordinary address", () => {
    for (const address of ["9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin", "SysvarNobody", "1".repeat(44)])
      expect(isSolanaProgram(address)).toBe(false);
  });
});
