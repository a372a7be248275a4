import fc from "fast-check";
import { bytesToHex, domainSeparator, getAddress } from "viem";
import * as chains from "viem/chains";
import { describe, expect, it } from "vitest";
import type { KnownNetwork } from "../src/network-names.js";
import {
  checksumAddress,
  environmentName,
  findNetwork,
  isAddressOf,
  NETWORKS,
  networkFromWire,
  tokenByAddress,
} from "../src/networks.js";

/** A name that is missing or too many here does not compile. */
const TYPED: Record<KnownNetwork, true> = {
  abstract: true,
  "abstract-testnet": true,
  adi: true,
  arbitrum: true,
  "arbitrum-sepolia": true,
  avalanche: true,
  "avalanche-fuji": true,
  base: true,
  "base-sepolia": true,
  celo: true,
  "celo-sepolia": true,
  "edu-chain": true,
  flare: true,
  hpp: true,
  "hpp-sepolia": true,
  igra: true,
  iotex: true,
  mainnet: true,
  megaeth: true,
  mezo: true,
  "mezo-testnet": true,
  monad: true,
  "monad-testnet": true,
  optimism: true,
  "optimism-sepolia": true,
  peaq: true,
  polygon: true,
  "polygon-amoy": true,
  radius: true,
  "radius-testnet": true,
  sei: true,
  "sei-testnet": true,
  sepolia: true,
  "skale-base": true,
  "skale-base-sepolia-testnet": true,
  solana: true,
  "solana-devnet": true,
  "solana-testnet": true,
  stable: true,
  "stable-testnet": true,
  story: true,
  xdc: true,
  "xdc-testnet": true,
  xrplevm: true,
};

const named = (name: string) => {
  const network = findNetwork(name);
  if (!network) throw new Error(`no network ${name}`);
  return network;
};

// Copied by hand from the protocol document, not from the table under test.
const DOCUMENTED = [
  ["eip155:8453", "base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin"],
  ["eip155:84532", "base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC"],
  ["eip155:1", "ethereum", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USD Coin"],
  ["eip155:137", "polygon", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin"],
  ["eip155:80002", "polygon-amoy", "0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582", "USDC"],
  ["eip155:42161", "arbitrum", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USD Coin"],
  ["eip155:421614", "arbitrum-sepolia", "0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d", "USD Coin"],
  ["eip155:43114", "avalanche", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USD Coin"],
  ["eip155:43113", "avalanche-fuji", "0x5425890298aed601595a70AB815c96711a31Bc65", "USD Coin"],
  ["eip155:1329", "sei", "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392", "USDC"],
  ["eip155:1328", "sei-testnet", "0x4fCF1784B31630811181f670Aea7A7bEF803eaED", "USDC"],
  ["eip155:4689", "iotex", "0xcdf79194c6c285077a58da47641d4dbe51f63542", "Bridged USDC"],
  ["eip155:3338", "peaq", "0xbbA60da06c2c5424f03f7434542280FCAd453d10", "USDC"],
  ["eip155:2741", "abstract", "0x84a71ccd554cc1b02749b35d22f684cc8ec987e1", "Bridged USDC"],
  ["eip155:11124", "abstract-testnet", "0xe4C7fBB0a626ed208021ccabA6Be1566905E2dFc", "Bridged USDC"],
  ["eip155:1514", "story", "0xF1815bd50389c46847f0Bda824eC8da914045D14", "Bridged USDC"],
  ["eip155:41923", "educhain", "0x12a272A581feE5577A5dFa371afEB4b2F3a8C2F8", "Bridged USDC (Stargate)"],
  [
    "eip155:324705682",
    "skale-base-sepolia",
    "0x2e08028E3C4c2356572E096d8EF835cD5C6030bD",
    "Bridged USDC (SKALE Bridge)",
  ],
  ["eip155:143", "monad", "0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC"],
  ["eip155:10143", "monad-testnet", "0x534b2f3A21130d7a60830c2Df862319e593943A3", "USDC"],
  ["eip155:42220", "celo", "0xcebA9300f2b948710d2653dD7B07f33A8B32118C", "USDC"],
  ["eip155:11142220", "celo-sepolia", "0x01C5C0122039549AD1493B8220cABEdD739BC44E", "USDC"],
  ["eip155:50", "xdc", "0xfA2958CB79b0491CC627c1557F441eF849Ca8eb1", "USDC"],
  ["eip155:51", "xdc-testnet", "0xb5AB69F7bBada22B28e79C8FFAECe55eF1c771D4", "USDC"],
] as const;

// Computed elsewhere from the documented rows (protocol §7.1).
const SEPARATORS = {
  base: "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f",
  "base-sepolia": "0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818",
  ethereum: "0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335",
  polygon: "0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca",
  "polygon-amoy": "0x5cddc98319864e897e4469bd1d13c2288c677047b54b8cca12bd342adb6be9eb",
  arbitrum: "0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78",
  avalanche: "0xbbea200329a938bc3438984a49cb0732e66d66d7bd59c127abacc1710e77f7b3",
  "avalanche-fuji": "0xfe9fa105a0e9629446730e544caa6b8d05d8d4fc93451750dc50e2ddd6d374b3",
} as const;

const V1_NAMES = [
  "abstract",
  "abstract-testnet",
  "avalanche",
  "avalanche-fuji",
  "base",
  "base-sepolia",
  "educhain",
  "iotex",
  "peaq",
  "polygon",
  "polygon-amoy",
  "sei",
  "sei-testnet",
  "skale-base-sepolia",
  "solana",
  "solana-devnet",
  "story",
];

describe("the table", () => {
  it("has the names that an editor completes, and no other", () => {
    const names = NETWORKS.map(({ name }) => name);
    expect(names.sort()).toEqual(Object.keys(TYPED).sort());
  });

  it.each(DOCUMENTED)("has %s (%s) with its documented stablecoin", (id, name, address, domainName) => {
    const network = named(name);
    expect(network.id).toBe(id);
    expect(network.tokens[0]).toMatchObject({
      address: getAddress(address.toLowerCase()),
      decimals: 6,
      domain: { name: domainName, version: "2" },
      transferMethod: "eip3009",
    });
  });

  it.each(Object.entries(SEPARATORS))("gives %s the domain separator of the protocol document", (name, separator) => {
    const { chainId, tokens } = named(name);
    const token = tokens[0];
    if (!token || chainId === undefined) throw new Error(`no token on ${name}`);
    const domain = { ...token.domain, chainId, verifyingContract: getAddress(token.address) };
    expect(domainSeparator({ domain })).toBe(separator);
  });

  it("writes exactly the 17 names that x402 1.x clients know into v1 bodies", () => {
    expect(NETWORKS.flatMap(({ v1Name }) => v1Name ?? []).sort()).toEqual(V1_NAMES);
  });

  it("spells the assets of v1 bodies in lower case where x402 1.x does", () => {
    const lowered = NETWORKS.filter(({ tokens }) => tokens.some(({ v1Address }) => v1Address !== undefined));
    expect(lowered.map(({ name }) => name).sort()).toEqual(["abstract", "iotex", "polygon", "sei", "sei-testnet"]);
    for (const { tokens } of lowered) expect(tokens[0]?.v1Address).toBe(tokens[0]?.address.toLowerCase());
  });

  it("names its EVM chains as viem does and agrees with it on their currency", () => {
    const byId = new Map<number, { keys: string[]; symbols: string[]; decimals: number }>();
    for (const [key, chain] of Object.entries(chains)) {
      if (typeof chain !== "object" || !("nativeCurrency" in chain)) continue;
      const known = byId.get(chain.id) ?? { keys: [], symbols: [], decimals: chain.nativeCurrency.decimals };
      known.keys.push(key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
      known.symbols.push(chain.nativeCurrency.symbol);
      byId.set(chain.id, known);
    }
    for (const network of NETWORKS.filter(({ family }) => family === "evm")) {
      const viem = byId.get(network.chainId ?? 0);
      expect(viem?.keys, network.id).toContain(network.name);
      expect(viem?.symbols, network.id).toContain(network.native.symbol);
      expect(network.native.decimals).toBe(viem?.decimals);
    }
  });

  it("has one network for each id and each name", () => {
    const names = NETWORKS.flatMap(({ id, name, v1Name, aliases }) => [
      ...new Set([id, name, v1Name ?? name, ...aliases]),
    ]);
    expect(new Set(names).size).toBe(names.length);
    for (const network of NETWORKS) {
      for (const name of [network.id, network.name, ...network.aliases]) expect(findNetwork(name)).toBe(network);
    }
  });

  it("holds checksummed addresses and cannot be changed", () => {
    for (const network of NETWORKS) {
      expect(Object.isFrozen(network) && Object.isFrozen(network.tokens) && Object.isFrozen(network.aliases)).toBe(
        true,
      );
      for (const token of network.tokens) {
        if (network.family === "evm") expect(token.address).toBe(getAddress(token.address));
        expect(Object.isFrozen(token) && Object.isFrozen(token.domain)).toBe(true);
      }
    }
    expect(Object.isFrozen(NETWORKS)).toBe(true);
  });

  it("allows twice the time for a settlement on Solana", () => {
    expect(named("base").settleMs).toBe(10_000);
    expect(named("solana").settleMs).toBe(20_000);
  });

  it("keeps the non-ASCII domain name of Flare's token letter by letter", () => {
    expect(named("flare").tokens[0]?.domain).toEqual({ name: "USD₮0", version: "1" });
  });
});

describe("findNetwork", () => {
  it.each([
    ["mainnet", "eip155:1"],
    ["ethereum", "eip155:1"],
    ["edu-chain", "eip155:41923"],
    ["educhain", "eip155:41923"],
    ["xrpl-evm", "eip155:1440000"],
    ["solana-mainnet-beta", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"],
    ["solana:devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"],
  ])("understands %s as %s", (name, id) => {
    expect(findNetwork(name)?.id).toBe(id);
  });

  it("knows an EVM chain that is not in the table by its id, without tokens and as a main network", () => {
    expect(findNetwork("eip155:31337")).toMatchObject({
      id: "eip155:31337",
      chainId: 31_337,
      tokens: [],
      testnet: false,
    });
  });

  it.each([
    "",
    "Base",
    "BASE",
    "eip155:08453",
    "EIP155:8453",
    "eip155:0",
    "eip155:",
    "eip155:-1",
    "eip155:1e3",
    "eip155:9007199254740993",
    "eip155:99999999999999999999",
    "8453",
    "bitcoin",
    "solana:nonsense",
    "__proto__",
    "constructor",
    " base",
  ])("does not know %j", (name) => {
    expect(findNetwork(name)).toBeUndefined();
  });
});

describe("networkFromWire", () => {
  it("takes names, aliases and canonical ids in v1", () => {
    for (const name of ["base", "eip155:8453"]) expect(networkFromWire(1, name)?.id).toBe("eip155:8453");
    expect(networkFromWire(1, "solana-mainnet-beta")?.name).toBe("solana");
  });

  it("takes canonical ids only in v2", () => {
    expect(networkFromWire(2, "eip155:8453")?.name).toBe("base");
    for (const name of ["base", "ethereum", "solana:devnet", "eip155:08453", "EIP155:8453", "eip155:8453 "]) {
      expect(networkFromWire(2, name)).toBeUndefined();
    }
  });
});

describe("environmentName", () => {
  it("gives the readable name first and always the id", () => {
    expect(environmentName(named("base-sepolia"))).toEqual(["BASE_SEPOLIA", "EIP155_84532"]);
    expect(environmentName(named("educhain"))).toEqual(["EDU_CHAIN", "EIP155_41923", "EDUCHAIN"]);
    expect(environmentName(named("eip155:31337"))).toEqual(["EIP155_31337"]);
  });

  it("gives no two networks the same name", () => {
    const names = NETWORKS.flatMap(environmentName);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe("addresses", () => {
  it("are spelled as viem spells them, from any case", () => {
    const bytes = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(bytes, (address) => {
        const hex = bytesToHex(address);
        expect(checksumAddress(hex)).toBe(getAddress(hex));
        expect(checksumAddress(`0x${hex.slice(2).toUpperCase()}`)).toBe(getAddress(hex));
      }),
      { seed: 402, numRuns: 500 },
    );
  });

  it("are refused by checksumAddress when they are none", () => {
    for (const text of ["", "0x", "0x12", `0x${"g".repeat(40)}`])
      expect(() => checksumAddress(text)).toThrow(RangeError);
  });

  it("of EVM are 40 hex digits, with a correct checksum where the case is mixed", () => {
    const address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    expect(isAddressOf("evm", address)).toBe(true);
    expect(isAddressOf("evm", address.toLowerCase())).toBe(true);
    expect(isAddressOf("evm", address.replace("C5", "c5"))).toBe(false);
    for (const text of [address.slice(2), `${address}0`, address.slice(0, -1), `${address}\n`, "", "0X"]) {
      expect(isAddressOf("evm", text)).toBe(false);
    }
  });

  it("of Solana are base58 of 32 bytes", () => {
    for (const text of ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "11111111111111111111111111111111"]) {
      expect(isAddressOf("solana", text)).toBe(true);
    }
    for (const text of [
      "",
      "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      "1".repeat(33),
      "z".repeat(44),
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyT",
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt0v",
    ]) {
      expect(isAddressOf("solana", text)).toBe(false);
    }
  });

  it("find their token in any case, and no other", () => {
    const base = named("base");
    expect(tokenByAddress(base, "0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913")?.symbol).toBe("USDC");
    expect(tokenByAddress(base, "0x036CbD53842c5426634e7929541eC2318f3dCF7e")).toBeUndefined();
  });
});
