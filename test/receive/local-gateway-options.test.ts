// The options of `local()` with a gateway: what they may say, what is told where they are wrong, and what the receiver knows
// before it is asked.
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { local } from "../../src/receive/local.js";
import {
  codes,
  FEE_PAYER,
  KEY,
  problemsOf,
  RPC_URL,
  SOLANA,
  SOLANA_KEY,
  SOLANA_SEED,
} from "../support/configurations.js";

const BASE_SEPOLIA = "eip155:84532";
const DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const apiKey = `tg_test_${"a".repeat(43)}`;
const gateway = { baseUrl: "https://pay.example", apiKey };
const good = { gateway, wallet: KEY, rpcUrl: RPC_URL };

/** The problems of these options, as a JavaScript caller could write them. */
const problemsWith = (more: object) => problemsOf(() => local({ ...good, ...more } as never));

describe("local() with a gateway", () => {
  it("takes one wallet in every form, and one of each family", () => {
    const account = { address: SOLANA, signMessage: async () => new Uint8Array(64) };
    for (const wallet of [KEY, privateKeyToAccount(KEY), { evm: KEY }]) {
      expect(local({ ...good, wallet }).feePayer?.(DEVNET)).toBeUndefined();
    }
    for (const wallet of [SOLANA_KEY, { solana: SOLANA_SEED }, { evm: KEY, solana: SOLANA_KEY }]) {
      expect(local({ ...good, wallet }).feePayer?.(DEVNET)).toBe(FEE_PAYER);
    }
    expect(local({ ...good, wallet: account }).feePayer?.(DEVNET)).toBe(SOLANA);
  });

  it("names its networks where each has a URL, and serves any one where there is one URL", () => {
    const rpcUrl = { "base-sepolia": RPC_URL, "solana-devnet": [RPC_URL, RPC_URL] };
    const both = local({ ...good, wallet: { evm: KEY, solana: SOLANA_KEY }, rpcUrl });
    expect([both.name, both.networks]).toEqual(["local", [BASE_SEPOLIA, DEVNET]]);
    expect(both.methods).toEqual(["eip3009", "spl", "transaction"]);
    expect(local(good).networks).toBeUndefined();
  });

  it("has the time of the network and of one call to the gateway to settle in", () => {
    expect(local(good).settleMs(BASE_SEPOLIA)).toBe(15_000);
    expect(local({ ...good, wallet: SOLANA_KEY }).settleMs(DEVNET)).toBe(25_000);
    const slow = { ...good, settleMs: 30_000, gateway: { ...gateway, timeoutMs: 2_000 } };
    expect(local(slow).settleMs(BASE_SEPOLIA)).toBe(32_000);
  });

  it("has no way to a network without a URL or without a wallet", async () => {
    const receiver = local({ ...good, rpcUrl: { "base-sepolia": RPC_URL } });
    const payload = { transaction: btoa("no transaction") };
    for (const network of ["eip155:8453", DEVNET]) {
      const identified = await receiver.identify?.(payload, network, AbortSignal.timeout(1_000));
      expect(identified).toEqual({ ok: false, code: "misconfigured" });
    }
  });
});

describe("wrong options", () => {
  it.each([
    ["both forms at once", { networks: { base: { rpcUrl: RPC_URL, settler: KEY } } }, "local.networks contradiction"],
    ["no gateway", { gateway: undefined }, "local.gateway required"],
    ["a URL in place of the gateway", { gateway: "https://pay.example" }, "local.gateway invalid"],
    ["no base URL", { gateway: { apiKey } }, "local.gateway.baseUrl required"],
    [
      "credentials in the base URL",
      { gateway: { ...gateway, baseUrl: "https://a:b@c.example" } },
      "local.gateway.baseUrl invalid",
    ],
    ["no API key", { gateway: { baseUrl: gateway.baseUrl } }, "local.gateway.apiKey required"],
    ["an API key of somebody else", { gateway: { ...gateway, apiKey: "sk_live_1" } }, "local.gateway.apiKey invalid"],
    ["an unknown member of the gateway", { gateway: { ...gateway, url: "x" } }, "local.gateway.url unknown_option"],
    ["no wallet", { wallet: undefined }, "local.wallet required"],
    ["a wallet that is an address", { wallet: SOLANA }, "local.wallet invalid"],
    ["a seed, which could be of either family", { wallet: SOLANA_SEED }, "local.wallet invalid"],
    ["a list of wallets", { wallet: [KEY] }, "local.wallet invalid"],
    ["no wallet in the pair", { wallet: {} }, "local.wallet invalid"],
    ["an unknown member of the pair", { wallet: { evm: KEY, sui: KEY } }, "local.wallet invalid"],
    ["a wrong key in the pair", { wallet: { evm: "0x12" } }, "local.wallet.evm invalid"],
    ["a wrong Solana key in the pair", { wallet: { solana: KEY.slice(4) } }, "local.wallet.solana invalid"],
    ["no node", { rpcUrl: undefined }, "local.rpcUrl required"],
    ["a node that is no URL", { rpcUrl: "rpc.example" }, "local.rpcUrl invalid"],
    ["an empty map of nodes", { rpcUrl: {} }, "local.rpcUrl required"],
    ["a node of an unknown network", { rpcUrl: { bse: RPC_URL } }, "local.rpcUrl.bse unknown_network"],
    ["a node that is none", { rpcUrl: { base: "ws://x.example" } }, "local.rpcUrl.base invalid"],
    [
      "one network twice",
      { rpcUrl: { base: RPC_URL, "eip155:8453": RPC_URL } },
      'local.rpcUrl["eip155:8453"] contradiction',
    ],
    ["a network without a wallet", { rpcUrl: { base: RPC_URL, solana: RPC_URL } }, "local.wallet.solana required"],
    ["a number of wei that is none", { maxFeePerGas: 5 }, "local.maxFeePerGas invalid"],
    [
      "a token without its decimals",
      { tokens: [{ network: "base", address: SOLANA }] },
      "local.tokens[0].decimals required",
    ],
    ["an option of the other form", { settler: KEY }, "local.settler unknown_option"],
  ])("with %s are refused with one problem in its place", (_name, more, expected) => {
    const problems = problemsWith(more);
    expect(codes([...problems])).toEqual([expected]);
    expect(problems[0]?.message).toMatch(/^expected|^no such option|^it is local|^there is no|has a URL already/);
  });

  it("come all at once, and no message holds a key or a URL", () => {
    const rpcUrl = { base: "http://user:password-of-mine@rpc.example x" };
    const wallet = { evm: `0x${"ab".repeat(31)}`, solana: SOLANA_KEY.slice(1) };
    const problems = problemsWith({
      rpcUrl,
      wallet,
      gateway: { baseUrl: "https://k:secret@g.example", apiKey: "tg_live_my" },
    });
    expect(codes([...problems]).sort()).toEqual([
      "local.gateway.apiKey invalid",
      "local.gateway.baseUrl invalid",
      "local.rpcUrl.base invalid",
      "local.wallet.evm invalid",
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/password-of-mine|abab|secret@|tg_live_my/);
  });
});
