// The options of both wallets: nodes by any name of their network, one map for both, and every mistake named at construction,
// without a URL or a key in it.
import { Keypair } from "@solana/web3.js";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { type EvmWalletOptions, evmWallet } from "../../src/client/evm-wallet.js";
import { solanaWallet } from "../../src/client/solana-wallet.js";
import { PaywallConfigError } from "../../src/errors.js";
import { offerOf } from "./wallet-world.js";

const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const keypair = Keypair.generate();
const NODE = "https://rpc.example/v2/secret-key";
const FEE_PAYER = Keypair.generate().publicKey.toBase58();
const PAYEE = Keypair.generate().publicKey.toBase58();

const eth = (network = "base") => offerOf(network, "native");
const sol = (network = "solana") => offerOf(network, "native", { payTo: PAYEE });
const token = (extra = {}) =>
  offerOf("solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", { payTo: PAYEE, extra });

function problemsOf(options: unknown): readonly string[] {
  try {
    evmWallet(account, options as EvmWalletOptions);
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    expect(error.message).toMatch(/^The wallet's configuration has problems:/);
    expect(error.message).not.toContain("secret-key");
    return error.problems.map(({ path, code, message }) => `${path} [${code}] ${message}`);
  }
  return [];
}

describe("the nodes of a wallet", () => {
  it.each(["base", "eip155:8453"])("may be named %s", (name) => {
    const wallet = evmWallet(account, { rpcUrls: { [name]: NODE } });
    expect(wallet.takes(eth())).toBe(true);
    expect(wallet.takes(eth("optimism"))).toBe(
      'add a node of optimism: evmWallet(…, { rpcUrls: { "optimism": "https://…" } })',
    );
  });

  it("may stand in one map for both families, and in a list for each network", () => {
    const rpcUrls = { base: [NODE, "https://other.example"], solana: NODE };
    const [evm, solana] = [evmWallet(account, { rpcUrls }), solanaWallet(keypair, { rpcUrls })];
    expect([evm.takes(eth()), solana.takes(sol())]).toEqual([true, true]);
    expect([evm.takes(sol()), solana.takes(eth())]).toEqual([
      "an EVM account cannot pay on solana",
      "a Solana key cannot pay on base",
    ]);
  });

  it("may be one for whatever network it is of, and none at all is a sentence where one is needed", () => {
    expect(evmWallet(account, { rpcUrl: NODE }).takes(eth())).toBe(true);
    expect(evmWallet(account).takes(eth())).toMatch(/^add a node of base/);
    expect(solanaWallet(keypair).takes(sol())).toMatch(/^add a node of solana: solanaWallet\(…/);
  });
});

describe("a Solana key", () => {
  const wallet = solanaWallet(keypair, { rpcUrl: NODE });
  const own = keypair.publicKey.toBase58();

  it("takes tokens whose offer names somebody else as fee payer, and SOL, and nothing else", () => {
    expect(wallet.takes(token({ feePayer: FEE_PAYER }))).toBe(true);
    expect(wallet.takes(token())).toBe("the offer names no fee payer of the seller");
    expect(wallet.takes(token({ feePayer: "me" }))).toBe("the offer names no fee payer of the seller");
    expect(wallet.takes(token({ feePayer: own }))).toBe("the offer names this wallet as the seller's fee payer");
    expect(wallet.takes({ ...sol(), payTo: own })).toBe("the seller is paid at this very wallet");
    expect(wallet.takes({ ...token({ feePayer: FEE_PAYER }), method: "transaction" })).toBe(
      "own transactions on Solana pay SOL only",
    );
    expect(wallet.takes({ ...sol(), method: "eip3009" })).toBe("a Solana key cannot pay by eip3009");
  });
});

describe("what is wrong with the options", () => {
  it.each<[string, unknown, readonly RegExp[]]>([
    ["a URL that is none", { rpcUrl: "rpc.example/secret-key" }, [/^evmWallet\.rpcUrl \[invalid\] .*without http/]],
    ["an empty list", { rpcUrls: { base: [] } }, [/^evmWallet\.rpcUrls\.base \[invalid\] .*at least one RPC URL/]],
    [
      "a network that nobody knows",
      { rpcUrls: { bsae: NODE } },
      [/^evmWallet\.rpcUrls\.bsae \[unknown_network\] "bsae" is no known network: did you mean "base"\?$/],
    ],
    [
      "a network that stands there twice",
      { rpcUrls: { base: NODE, "eip155:8453": NODE } },
      [/^evmWallet\.rpcUrls\["eip155:8453"\] \[contradiction\] "base" is the same network: keep one of the two$/],
    ],
    [
      "an option that there is not",
      { rpcURL: NODE },
      [/^evmWallet\.rpcURL \[unknown_option\] .*did you mean "rpcUrl"\?/],
    ],
    ["a fee that is a number", { maxFee: 0.1 }, [/^evmWallet\.maxFee \[invalid\] expected/]],
    [
      "a fee without its currency",
      { maxFee: "0.1" },
      [/^evmWallet\.maxFee \[invalid\] expected an amount in a chain's/],
    ],
    ["a fee in a currency of no EVM chain", { maxFee: "0.1 SOL" }, [/no known EVM chain has that currency/]],
    ["a fee in dollars", { maxFee: "$1" }, [/^evmWallet\.maxFee \[invalid\] .*the number is not a decimal number/]],
    ["two fees in one currency", { maxFee: ["1 ETH", "2 ETH"] }, [/ETH stands there twice: keep one$/]],
    ["a fee with too many words", { maxFee: "1 ETH please" }, [/^evmWallet\.maxFee \[invalid\]/]],
    ["a price of gas that is no bigint", { maxFeePerGas: 5 }, [/^evmWallet\.maxFeePerGas \[invalid\] .*bigint of wei/]],
    ["no object", "fast", [/^evmWallet \[/]],
    [
      "several things at once",
      { rpcUrl: "x", rpcUrls: { "": NODE }, maxFee: "1 ETH", more: 1 },
      [/evmWallet\.rpcUrl /, /evmWallet\.more/, /unknown_network/],
    ],
  ])("%s is said with its place, and all of it at once", (_, options, expected) => {
    const problems = problemsOf(options);
    expect(problems).toHaveLength(expected.length);
    for (const one of expected)
      expect(
        problems.some((problem) => one.test(problem)),
        problems.join("\n"),
      ).toBe(true);
  });

  it("and with the account is said in one error", () => {
    expect(() => evmWallet(undefined as never, { rpcUrl: "x" })).toThrow(/evmWallet\.account[\s\S]*evmWallet\.rpcUrl/);
  });
});
