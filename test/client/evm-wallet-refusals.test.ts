// What `evmWallet()` does not sign of own transactions, each refusal in words: too poor, gas above the bound, a payee that burns
// gas, a node that lies about its chain, an account that signs something else. And that a free choice stays one.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { evmWallet } from "../../src/client/evm-wallet.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { made, newAccount, offerOf, PLAIN_TOKEN, refusal, request, setPlainBalance } from "./wallet-world.js";

let sandbox: Sandbox;
let rpc: ScriptedRpc;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
});
afterEach(() => rpc.clear());
afterAll(async () => {
  await rpc.close();
  await sandbox.close();
});

const eth = (parts = {}) => offerOf("base-sepolia", "native", { payTo: sandbox.seller, ...parts });
const plain = () => offerOf("base-sepolia", PLAIN_TOKEN, { method: "transaction", payTo: sandbox.seller });
const walletOf = async (own = {}) => {
  const account = await newAccount(sandbox);
  return { account, wallet: evmWallet(account, { rpcUrl: rpc.url, ...own }) };
};

describe("a wallet that holds too little", () => {
  it("of ETH says what is needed and what is there", async () => {
    const { wallet } = await walletOf();
    expect(await refusal(wallet.sign(eth({ amount: 2n * 10n ** 18n }), request()))).toEqual([
      "insufficient_funds",
      "needs 2 ETH, holds 1 ETH",
    ]);
  });

  it("for the gas beside the price says so", async () => {
    const { wallet } = await walletOf();
    const [code, message] = await refusal(wallet.sign(eth({ amount: 10n ** 18n }), request()));
    expect(code).toBe("insufficient_funds");
    expect(message).toMatch(/^needs 1\.0000\d+ ETH for the payment and the most that its gas can cost, holds 1 ETH$/);
  });

  it("of a token says so in the token's units, by its name where we know it", async () => {
    const { account, wallet } = await walletOf();
    await setPlainBalance(sandbox, account.address, 9_999n);
    expect(await refusal(wallet.sign(plain(), request()))).toEqual([
      "insufficient_funds",
      `needs 10000 units of ${PLAIN_TOKEN}, holds 9999 units of ${PLAIN_TOKEN}`,
    ]);
    await sandbox.token.setBalances([account.address], 1n);
    const usdc = offerOf("base-sepolia", sandbox.token.address, { method: "transaction", payTo: sandbox.seller });
    expect(await refusal(wallet.sign(usdc, request()))).toEqual([
      "insufficient_funds",
      "needs 0.01 USDC, holds 0.000001 USDC",
    ]);
  });
});

describe("the bound of the gas", () => {
  /** Takes money and burns some 2.6 million units of gas for it. */
  const BURNER = "0x00000000000000000000000000000000000b0b0b";
  const burner = async () => {
    await sandbox.chain.rpc("anvil_setCode", [BURNER, "0x620186a05b600190038060045700"]);
    return eth({ payTo: BURNER });
  };

  it("stops a payee whose contract burns it", async () => {
    const { wallet } = await walletOf();
    const [code, message] = await refusal(wallet.sign(await burner(), request()));
    expect(code).toBe("signing_failed");
    expect(message).toMatch(/^the gas can cost up to 0\.0\d+ ETH, which is above 0\.0005 ETH: raise maxFee/);
  });

  it("is the caller's own where he names one, above and below ours", async () => {
    const wider = await walletOf({ maxFee: ["1 POL", "0.1 ETH"] });
    made(await wider.wallet.sign(await burner(), request())).close?.();
    const { wallet } = await walletOf({ maxFee: "0.000001 ETH" });
    expect((await refusal(wallet.sign(eth(), request())))[1]).toMatch(/which is above 0\.000001 ETH/);
  });

  it("also stops gas that is dear by the unit", async () => {
    const { wallet } = await walletOf({ maxFeePerGas: 1n });
    expect(await refusal(wallet.sign(eth(), request()))).toEqual([
      "signing_failed",
      "gas costs more than 1 wei a unit now",
    ]);
  });

  it("must be named where the chain has another currency than those we bound", async () => {
    const { account } = await walletOf();
    const offer = offerOf("celo", "native");
    const unbound = evmWallet(account, { rpcUrl: rpc.url });
    const words = 'name what the gas of one payment may cost on celo: evmWallet(…, { maxFee: "0.01 CELO" })';
    expect(unbound.takes(offer)).toBe(words);
    expect(await refusal(unbound.sign(offer, request()))).toEqual(["signing_failed", words]);
    expect(evmWallet(account, { rpcUrl: rpc.url, maxFee: "0.01 CELO" }).takes(offer)).toBe(true);
    const unlisted = offerOf("eip155:31337", "native");
    expect(evmWallet(account, { rpcUrl: rpc.url }).takes(unlisted)).toMatch('maxFee: "0.01 native"');
    expect(evmWallet(account, { rpcUrl: rpc.url, maxFee: "0.01 native" }).takes(unlisted)).toBe(true);
  });
});

describe("a node", () => {
  it("of another chain signs nothing, and the wallet takes no such offer any more", async () => {
    const { wallet } = await walletOf();
    const offer = offerOf("base", "native");
    expect(wallet.takes(offer)).toBe(true);
    expect((await refusal(wallet.sign(offer, request())))[1]).toMatch(/expected chain id 8453, got 84532$/);
    expect(wallet.takes(offer)).toMatch(
      /expected chain id 8453, got 84532; add a node of base: evmWallet\(…, \{ rpcUrls: \{ "base": "https:\/\/…" \} \}\)$/,
    );
    expect(wallet.takes(eth())).toBe(true);
    expect(await refusal(wallet.sign(offer, request()))).toEqual(["signing_failed", wallet.takes(offer)]);
  });

  it("that was named for the chain is asked again, because it can be mended", async () => {
    const account = await newAccount(sandbox);
    const wallet = evmWallet(account, { rpcUrls: { base: rpc.url, "base-sepolia": rpc.url } });
    const offer = offerOf("base", "native");
    expect(await wallet.balance?.(offer, undefined)).toBeUndefined();
    expect(wallet.takes(offer)).toBe(true);
  });

  it("that fails while the transfer is drafted is a refusal in words, without its URL", async () => {
    const { wallet } = await walletOf();
    rpc.script("eth_estimateGas", fault.html(502));
    const [code, message] = await refusal(wallet.sign(eth(), request()));
    expect([code, message]).toEqual(["signing_failed", expect.stringMatching(/^127\.0\.0\.1:\d+: HTTP status 502$/)]);
  });

  it("that says the payee refuses the payment makes no payment", async () => {
    const { wallet } = await walletOf();
    await sandbox.chain.rpc("anvil_setCode", [BOUNCER, "0x60006000fd"]);
    expect((await refusal(wallet.sign(eth({ payTo: BOUNCER }), request())))[1]).toMatch(/a contract that refuses/);
  });
});
const BOUNCER = "0x000000000000000000000000000000000000b0bb";

describe("an account", () => {
  it.each<[string, (own: Record<string, unknown>) => Record<string, unknown>]>([
    ["for another chain", (own) => ({ ...own, chainId: 8453 })],
    ["to another payee", (own) => ({ ...own, to: BOUNCER })],
    ["of another amount", (own) => ({ ...own, value: 5n })],
    ["with other fees", (own) => ({ ...own, maxFeePerGas: 10n ** 12n })],
    [
      "of another type",
      ({ maxFeePerGas, maxPriorityFeePerGas: _, ...own }) => ({ ...own, type: "legacy", gasPrice: maxFeePerGas }),
    ],
  ])("that signs a transaction %s pays nothing", async (_, change) => {
    const account = await newAccount(sandbox);
    const signTransaction = (asked: object) => account.signTransaction(change({ ...asked }) as never);
    const wallet = evmWallet({ ...account, signTransaction } as never, { rpcUrl: rpc.url });
    expect(await refusal(wallet.sign(eth(), request()))).toEqual([
      "signing_failed",
      "the account signed something else than this transfer on base-sepolia: is it on that chain?",
    ]);
  });

  it("of which another key signs, or that gives no bytes, pays nothing", async () => {
    const [account, other] = [await newAccount(sandbox), await newAccount(sandbox)];
    for (const signTransaction of [
      other.signTransaction,
      async () => "0x",
      async () => undefined,
      async () => "0x02c0",
    ]) {
      const wallet = evmWallet({ ...account, signTransaction } as never, { rpcUrl: rpc.url });
      expect((await refusal(wallet.sign(eth(), request())))[1]).toMatch(/signed something else/);
    }
  });
});
