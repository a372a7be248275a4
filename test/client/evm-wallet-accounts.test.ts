// The forms in which `evmWallet()` takes its account: viem's own, on a real chain. A wallet client whose account is elsewhere
// (JSON-RPC) pays as one that signs by itself; one on another chain, or whose owner declines, pays nothing.
import { type Address, createWalletClient, custom, type EIP1193Provider, http } from "viem";
import { type LocalAccount, mnemonicToAccount } from "viem/accounts";
import { base, baseSepolia } from "viem/chains";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { PaywallConfigError } from "../../src/errors.js";
import type { Price } from "../../src/price.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { buy, newAccount, offerOf, refusal, request, sell } from "./wallet-world.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox.close());

const eth = () => offerOf("base-sepolia", "native", { payTo: sandbox.seller });
const usdc = () => offerOf("base-sepolia", sandbox.token.address);
const options = () => ({ rpcUrls: { "base-sepolia": sandbox.rpcUrl } });

async function pays(price: Price, wallet: Parameters<typeof buy>[1]) {
  const { payTo, network } = sandbox;
  const seller = await sell(price, { payTo, network, receive: sandbox.receive() });
  const { status } = await buy(seller, wallet, 2);
  await seller.close();
  return status;
}

describe("a wallet client", () => {
  it("with a local account pays by authorization and by transaction", async () => {
    const account = await newAccount(sandbox);
    const client = createWalletClient({ account, chain: baseSepolia, transport: http(sandbox.rpcUrl) });
    const wallet = evmWallet(client, options());
    expect(wallet.address).toBe(account.address);
    expect([await pays("$0.01", wallet), await pays("0.0002 ETH", wallet)]).toEqual([200, 200]);
  });

  it("with an account that the node keeps pays the same", async () => {
    const [account] = (await sandbox.chain.rpc("eth_accounts", [])) as Address[];
    await sandbox.token.setBalances([account!], 10n ** 9n);
    const client = createWalletClient({ account: account!, transport: http(sandbox.rpcUrl) });
    const wallet = evmWallet(client, options());
    expect([await pays("$0.01", wallet), await pays("0.0002 ETH", wallet)]).toEqual([200, 200]);
  });

  it("on another chain signs for that one, which is noticed", async () => {
    const account = await newAccount(sandbox);
    const elsewhere = provider(({ method }) => (method === "eth_chainId" ? "0x2105" : undefined));
    const client = createWalletClient({ account, chain: base, transport: custom(elsewhere) });
    expect(await refusal(evmWallet(client, options()).sign(eth(), request()))).toEqual([
      "signing_failed",
      "the account signed something else than this transfer on base-sepolia: is it on that chain?",
    ]);
  });

  it("whose owner declines in his wallet has declined, for both ways to pay", async () => {
    const account = await newAccount(sandbox);
    const declining = provider(({ method }) => {
      if (method === "eth_chainId") return "0x14a34";
      throw Object.assign(new Error("User rejected the request."), { code: 4001 });
    });
    const wallet = evmWallet(createWalletClient({ account: account.address, transport: custom(declining) }), options());
    expect(await refusal(wallet.sign(usdc(), request()))).toEqual(["signing_failed", "declined"]);
    expect(await refusal(wallet.sign(eth(), request()))).toEqual(["signing_failed", "declined"]);
  });

  it("of a browser wallet that signs no transactions says so when it is asked for one", async () => {
    const account = await newAccount(sandbox);
    const browser = provider(({ method }) => {
      if (method === "eth_chainId") return "0x14a34";
      throw Object.assign(new Error(`The method ${method} does not exist / is not available.`), { code: -32601 });
    });
    const wallet = evmWallet(createWalletClient({ account: account.address, transport: custom(browser) }), options());
    const [code, message] = await refusal(wallet.sign(eth(), request()));
    expect([code, message]).toEqual(["signing_failed", expect.stringMatching(/^the account did not sign: .*method/)]);
  });

  it("without an account is refused at construction", () => {
    const client = createWalletClient({ chain: baseSepolia, transport: http(sandbox.rpcUrl) });
    // @ts-expect-error it has none
    expect(() => evmWallet(client)).toThrow(/the wallet client has no account: createWalletClient\(\{ account, … \}\)/);
  });
});

describe("an account", () => {
  it("of a mnemonic pays", async () => {
    const account: LocalAccount = mnemonicToAccount("test test test test test test test test test test test junk", {
      addressIndex: 7,
    });
    await sandbox.token.setBalances([account.address], 10n ** 9n);
    expect(await pays("$0.01", evmWallet(account))).toBe(200);
  });

  it("that signs typed data only pays by authorization, and says what it lacks for the rest", async () => {
    const { address, signTypedData } = await newAccount(sandbox);
    const wallet = evmWallet({ address, signTypedData }, options());
    expect(wallet.takes(usdc())).toBe(true);
    expect(wallet.takes(eth())).toBe(
      "the account signs no transactions: give evmWallet() an account with signTransaction",
    );
    expect(await pays("$0.01", wallet)).toBe(200);
  });

  it.each([
    ["a key", "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"],
    ["nothing", undefined],
    ["an address", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
    ["an object that cannot sign", { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }],
    ["one without an address that can be read", { address: "0x12", signTypedData: async () => "0x" }],
  ])("that is %s is refused at construction, with what to write, and is not shown", (_, given) => {
    let error: unknown;
    try {
      evmWallet(given as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PaywallConfigError);
    expect(String(error)).toMatch(/evmWallet\.account: .*write evmWallet\(privateKeyToAccount\(key\)\)/);
    expect(String(error)).not.toContain("ac0974bec3");
  });
});

function provider(answer: (request: { readonly method: string }) => unknown): Pick<EIP1193Provider, "request"> {
  return { request: async (asked: { readonly method: string }) => answer(asked) as never };
}
