// `solanaWallet()` on the real SVM: what it signs is taken by a real seller, in both versions, for USDC and for SOL; what it holds;
// which keys it takes; and that nothing moves before a seller takes it.
import { Keypair } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { verifySignature } from "../../src/chains/solana/ed25519.js";
import { decodeTransaction } from "../../src/chains/solana/transaction.js";
import { createSolanaSigner } from "../../src/chains/solana/transfer-signer.js";
import type { SolanaKey } from "../../src/client/solana-key.js";
import { solanaWallet } from "../../src/client/solana-wallet.js";
import { PaywallConfigError } from "../../src/errors.js";
import type { PaywallOptions } from "../../src/options.js";
import type { Price } from "../../src/price.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { toBase58 } from "../../src/testing/solana/encoding.js";
import type { Seller } from "../e2e/seller.js";
import { buy, made, offerOf, request, sell } from "./wallet-world.js";

let sandbox: SolanaSandbox;
const sellers: Seller[] = [];
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
});
afterEach(async () => {
  for (const seller of sellers.splice(0)) await seller.close();
});
afterAll(() => sandbox.close());

async function open(price: Price, own: Partial<PaywallOptions> = {}): Promise<Seller> {
  const { payTo, network } = sandbox;
  const seller = await sell(price, { payTo, network, receive: sandbox.receive(), ...own } as PaywallOptions);
  sellers.push(seller);
  return seller;
}
const nodes = () => ({ rpcUrls: { "solana-devnet": sandbox.rpcUrl } });
const newWallet = async () => {
  const keypair = await sandbox.newBuyer();
  return { address: keypair.publicKey.toBase58(), wallet: solanaWallet(keypair, nodes()) };
};
const sol = (parts = {}) => offerOf("solana-devnet", "native", { payTo: sandbox.payTo, amount: 1_000_000n, ...parts });
const usdc = (extra = {}) => {
  const feePayer = sandbox.feePayer.publicKey.toBase58();
  return offerOf("solana-devnet", sandbox.usdc, { payTo: sandbox.payTo, extra: { feePayer, ...extra } });
};

describe.each([1, 2] as const)("in version %i, a real seller takes what is signed", (version) => {
  it("for USDC, with its own fee payer", async () => {
    const seller = await open("$0.01");
    const { address, wallet } = await newWallet();
    expect(await buy(seller, wallet, version)).toMatchObject({ status: 200 });
    expect(await sandbox.balances(address)).toEqual({ lamports: 10n ** 10n, usdc: 10n ** 9n - 10_000n });
  });

  it("for SOL, at the payer's own network fee", async () => {
    const seller = await open("0.001 SOL");
    const { address, wallet } = await newWallet();
    expect(await buy(seller, wallet, version)).toMatchObject({ status: 200 });
    expect((await sandbox.native.transfers({ from: address })).map(({ value }) => value)).toEqual([1_000_000n]);
    const { lamports } = await sandbox.balances(address);
    const fee = 10n ** 10n - 1_000_000n - lamports;
    expect(fee).toBeGreaterThanOrEqual(5_000n);
    expect(fee).toBeLessThanOrEqual(65_000n);
  });
});

it("many payments at once by one wallet are as many transactions: no two are the same", async () => {
  const { wallet } = await newWallet();
  const offers = Array.from({ length: 12 }, (_, at) => (at % 2 ? usdc() : sol()));
  const signed = await Promise.all(offers.map((offer) => wallet.sign(offer, request())));
  expect(new Set(signed.map((one) => JSON.stringify(made(one).payload))).size).toBe(12);
});

it("payments at once by one wallet are as many debits", async () => {
  const [tokens, coins] = [await open("$0.01"), await open("0.001 SOL")];
  const { address, wallet } = await newWallet();
  const bought = await Promise.all([tokens, coins, tokens, coins].map((seller) => buy(seller, wallet, 2)));
  expect(bought.map(({ status }) => status)).toEqual(Array(4).fill(200));
  expect(await sandbox.token.transfers({ from: address })).toHaveLength(2);
  expect(await sandbox.native.transfers({ from: address })).toHaveLength(2);
});

describe("what is signed", () => {
  it("is not sent: nothing moves until a seller is shown it, and it says when it surely cannot any more", async () => {
    const { address, wallet } = await newWallet();
    const before = Date.now();
    for (const offer of [sol(), usdc()]) {
      const signed = made(await wallet.sign(offer, request()));
      expect(Object.keys(signed.payload)).toEqual(["transaction"]);
      expect(signed.payer).toBe(address);
      expect(signed.expiresAt).toBeGreaterThanOrEqual(before + 150_000);
      expect(signed.expiresAt).toBeLessThanOrEqual(Date.now() + 150_000);
    }
    expect(await sandbox.balances(address)).toEqual({ lamports: 10n ** 10n, usdc: 10n ** 9n });
  });

  it("for SOL is complete, for USDC lacks the seller's signature and nothing else", async () => {
    const { wallet } = await newWallet();
    const signaturesOf = async (offer: typeof sol extends () => infer Offer ? Offer : never) => {
      const signed = made(await wallet.sign(offer, request()));
      const decoded = decodeTransaction(String(Reflect.get(signed.payload, "transaction")));
      if (!decoded.ok) throw new Error(decoded.problem);
      const { keys, message, signatures } = decoded.transaction;
      return Promise.all(signatures.map((one, at) => verifySignature(keys[at]!, message, one)));
    };
    expect(await signaturesOf(sol())).toEqual([true]);
    expect(await signaturesOf(usdc())).toEqual([false, true]);
  });

  it("carries the seller's memo where he names one", async () => {
    const { wallet } = await newWallet();
    const signed = made(await wallet.sign(usdc({ memo: "order 7" }), request()));
    expect(Buffer.from(String(Reflect.get(signed.payload, "transaction")), "base64").toString()).toContain("order 7");
  });

  it("for a token that is not in our table goes by the mint itself, not by the seller's words", async () => {
    const mint = sandbox.chain.createMint({ decimals: 9, token2022: true });
    const keypair = await sandbox.newBuyer();
    sandbox.chain.mintTo(mint, keypair.publicKey.toBase58(), 5_000n);
    sandbox.chain.mintTo(mint, sandbox.payTo, 0n);
    const wallet = solanaWallet(keypair, nodes());
    const offer = { ...usdc({ decimals: 2 }), asset: mint, token: undefined, amount: 5_000n };
    expect(await wallet.balance?.(offer, undefined)).toBe(5_000n);
    made(await wallet.sign(offer, request()));
  });
});

describe("what the wallet holds", () => {
  it("is asked of its node: SOL, tokens, and nothing where it has no account", async () => {
    const { wallet } = await newWallet();
    expect(await wallet.balance?.(sol(), undefined)).toBe(10n ** 10n);
    expect(await wallet.balance?.(usdc(), undefined)).toBe(10n ** 9n);
    const empty = solanaWallet(Keypair.generate(), nodes());
    expect([await empty.balance?.(sol(), undefined), await empty.balance?.(usdc(), undefined)]).toEqual([0n, 0n]);
  });

  it("is not known without a node, of another family, of a mint that is none, or where the node fails", async () => {
    const keypair = await sandbox.newBuyer();
    const { wallet } = await newWallet();
    expect(await solanaWallet(keypair).balance?.(sol(), undefined)).toBeUndefined();
    expect(await wallet.balance?.(offerOf("base", "native"), undefined)).toBeUndefined();
    const nothing = { ...usdc(), asset: Keypair.generate().publicKey.toBase58(), token: undefined };
    expect(await wallet.balance?.(nothing, undefined)).toBeUndefined();
    const deaf = solanaWallet(keypair, { rpcUrl: "http://127.0.0.1:9" });
    expect([await deaf.balance?.(sol(), undefined), await deaf.balance?.(usdc(), undefined)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("a key", () => {
  const pair = Keypair.generate();
  const secret = toBase58(pair.secretKey);
  const seed = Buffer.from(pair.secretKey.subarray(0, 32)).toString("hex");

  it.each<[string, SolanaKey]>([
    ["a Keypair", pair],
    ["base58 of 64 bytes", secret],
    ["a seed in hex", seed],
    ["a seed in hex with 0x", `0x${seed}`],
    ["an object that signs", createSolanaSigner(secret)],
  ])("may be %s", (_, key) => {
    expect(solanaWallet(key).address).toBe(pair.publicKey.toBase58());
  });

  it.each<[string, unknown, RegExp]>([
    ["nothing", undefined, /solanaWallet\.key: expected a Keypair/],
    ["an address", pair.publicKey.toBase58(), /what may be a public key/],
    ["a list of bytes", [...pair.secretKey], /expected a Keypair/],
    ["the text of a key file", JSON.stringify([...pair.secretKey]), /solanaWallet\.key: .*key files hold/],
    ["half a pair", { publicKey: pair.publicKey, secretKey: pair.secretKey.subarray(0, 32) }, /expected a Keypair/],
    [
      "two halves of two pairs",
      { publicKey: Keypair.generate().publicKey, secretKey: pair.secretKey },
      /not the one of/,
    ],
    ["an object that cannot sign", { address: pair.publicKey.toBase58() }, /expected a Keypair/],
    ["a signer for no address", { address: "me", sign: async () => new Uint8Array(64) }, /expected a Keypair/],
  ])("that is %s is refused at construction, and not shown", (_, key, expected) => {
    let error: unknown;
    try {
      solanaWallet(key as SolanaKey);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PaywallConfigError);
    expect(String(error)).toMatch(expected);
    for (const part of [seed.slice(0, 16), secret.slice(0, 16), pair.secretKey.slice(0, 6).join(",")]) {
      expect(String(error)).not.toContain(part);
    }
  });
});
