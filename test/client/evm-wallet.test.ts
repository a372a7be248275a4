// `evmWallet()` on a real chain: what it signs is taken by a real seller, in both versions, for each kind of money; what it
// holds; and that nothing moves before a seller takes it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { evmWallet } from "../../src/client/evm-wallet.js";
import type { PaywallOptions } from "../../src/options.js";
import type { Price } from "../../src/price.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import type { Seller } from "../e2e/seller.js";
import { buy, ETHER, made, newAccount, offerOf, PLAIN_TOKEN, plainBalance, request, sell } from "./wallet-world.js";

let sandbox: Sandbox;
const sellers: Seller[] = [];
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterEach(async () => {
  for (const seller of sellers.splice(0)) await seller.close();
});
afterAll(() => sandbox.close());

const ETH = "0.0002 ETH";
const PLAIN: Price = { asset: PLAIN_TOKEN, amount: "10000", network: "base-sepolia", transferMethod: "transaction" };

async function open(price: Price, own: Partial<PaywallOptions> = {}): Promise<Seller> {
  const { payTo, network } = sandbox;
  const receive = sandbox.receive({ tokens: [{ address: PLAIN_TOKEN, decimals: 6 }] });
  const seller = await sell(price, { payTo, network, receive, ...own } as PaywallOptions);
  sellers.push(seller);
  return seller;
}
const walletOf = async () => {
  const account = await newAccount(sandbox);
  return { account, wallet: evmWallet(account, { rpcUrls: { "base-sepolia": sandbox.rpcUrl } }) };
};

describe.each([1, 2] as const)("in version %i, a real seller takes what is signed", (version) => {
  it("for USDC, by an authorization of exactly the price", async () => {
    const seller = await open("$0.01");
    const { account, wallet } = await walletOf();
    expect(await buy(seller, wallet, version)).toMatchObject({ status: 200 });
    expect(await sandbox.token.balanceOf(account.address)).toBe(10n ** 9n - 10_000n);
  });

  it("for ETH, by the account's own transaction", async () => {
    const seller = await open(ETH);
    const { account, wallet } = await walletOf();
    expect(await buy(seller, wallet, version)).toMatchObject({ status: 200 });
    const debits = await sandbox.native.transfers({ from: account.address });
    expect(debits.map(({ to, value }) => [to, value])).toEqual([[sandbox.seller, 2n * 10n ** 14n]]);
  });

  it("for a token without EIP-3009, by the account's own transaction", async () => {
    const seller = await open(PLAIN);
    const { account, wallet } = await walletOf();
    expect(await buy(seller, wallet, version)).toMatchObject({ status: 200 });
    expect(await plainBalance(sandbox, account.address)).toBe(990_000n);
  });
});

describe("what is signed", () => {
  it("for ETH is not sent: nothing moves until a seller is shown it", async () => {
    const { account, wallet } = await walletOf();
    const signed = made(await wallet.sign(offerOf("base-sepolia", "native"), request()));
    signed.close?.();
    expect(await sandbox.native.balanceOf(account.address)).toBe(ETHER);
    expect(await sandbox.chain.rpc("eth_getTransactionCount", [account.address, "pending"])).toBe("0x0");
    // The whole payload: no secret, so there is nothing to keep.
    expect(Object.keys(signed.payload)).toEqual(["transaction"]);
  });

  it("for USDC needs no node and no gas", async () => {
    const account = await sandbox.newBuyer();
    const wallet = evmWallet(account);
    const seller = await open("$0.01");
    expect(await buy(seller, wallet, 2)).toMatchObject({ status: 200 });
    expect(await sandbox.native.balanceOf(account.address)).toBe(0n);
  });
});

describe("what the wallet holds", () => {
  it("is asked of its node, for each asset", async () => {
    const { wallet } = await walletOf();
    const held = (asset: string) => wallet.balance?.(offerOf("base-sepolia", asset), undefined);
    expect(await held("native")).toBe(ETHER);
    expect(await held(sandbox.token.address)).toBe(10n ** 9n);
    expect(await held(PLAIN_TOKEN)).toBe(1_000_000n);
  });

  it("is not known without a node, of another family, or where the node fails", async () => {
    const { account, wallet } = await walletOf();
    const none = evmWallet(account);
    expect(await none.balance?.(offerOf("base-sepolia", "native"), undefined)).toBeUndefined();
    expect(await wallet.balance?.(offerOf("solana-devnet", "native"), undefined)).toBeUndefined();
    const deaf = evmWallet(account, { rpcUrl: "http://127.0.0.1:9" });
    expect(await deaf.balance?.(offerOf("base-sepolia", "native"), undefined)).toBeUndefined();
    expect(await wallet.balance?.(offerOf("base-sepolia", "native"), AbortSignal.abort())).toBeUndefined();
  });
});
