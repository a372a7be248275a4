// A person with a Solana wallet buys from the page, in a real Chromium, on the real SVM: the server makes the transaction, the
// wallet signs it, and one payment is debited.
import type { Keypair } from "@solana/web3.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { PaywallOptions } from "../../src/options.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { openShop, type Shop, type Table } from "./shop.js";
import { type Visit, visit } from "./visit.js";
import { type InjectedSolana, injectEvmWallet, injectSolanaWallet } from "./wallets.js";

const skipped = reasonToSkip();

let sandbox: SolanaSandbox;
let base: Sandbox;
let browser: Browser;
beforeAll(async () => {
  if (skipped) return;
  [sandbox, base, browser] = await Promise.all([createSolanaSandbox(), createSandbox(), startChromium()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([browser?.close(), sandbox?.close(), base?.close()]);
});

describe.skipIf(skipped)("a person with a Solana wallet", { timeout: 60_000 }, () => {
  let shop: Shop;
  let buyer: Keypair;
  let wallet: InjectedSolana;
  let at: Visit;

  const openWith = async (table: Table, receive: Receiver = sandbox.receive()) => {
    const { payTo, network } = sandbox;
    const options: PaywallOptions = { payTo, network, receive, handlerTimeoutMs: 10_000 };
    shop = await openShop("Hono", options, table);
    onTestFinished(() => shop.close());
  };
  beforeEach(async () => {
    buyer = await sandbox.newBuyer();
    at = await visit(browser);
    wallet = await injectSolanaWallet(at.page, buyer);
  });

  const from = () => buyer.publicKey.toBase58();
  const debits = async () => (await sandbox.token.transfers({ from: from() })).map(({ value }) => value);
  const pay = () => at.button("Pay with Sun Wallet").click();
  const bought = () => at.page.getByText("own script ran").waitFor();
  const signatures = () => wallet.asked.filter((method) => method === "signTransaction").length;

  it("pays in USDC by one signature, and reloads for nothing", async () => {
    await openWith({ "/*": "$0.01" });
    await at.page.goto(`${shop.origin}/html?day=2`);
    expect(await at.page.textContent("#tg-price")).toContain("0.01 USDC on Solana Devnet");
    await pay();
    await bought();
    await at.page.reload();
    await bought();
    expect(shop.runs).toEqual([{ target: "/html?day=2", cookie: undefined, payer: from() }]);
    expect([signatures(), await debits()]).toEqual([1, [10_000n]]);
    expect(at.faults).toEqual([]);
  });

  it("pays in SOL by one signature", async () => {
    await openWith({ "/*": "0.001 SOL" });
    await at.page.goto(`${shop.origin}/html`);
    await pay();
    await bought();
    const sent = await sandbox.native.transfers({ from: from() });
    expect([signatures(), sent.map(({ value }) => value)]).toEqual([1, [1_000_000n]]);
  });

  it("declines, and loses nothing", async () => {
    await openWith({ "/*": "$0.01" });
    await at.page.goto(`${shop.origin}/html`);
    wallet.declines = true;
    await pay();
    await expect.poll(at.status).toBe("You declined to connect.");
    expect([signatures(), shop.runs, await debits()]).toEqual([0, [], []]);
    expect(await at.button("Pay with Sun Wallet").count()).toBe(1);
  });

  it("without enough money is told so before anything is signed", async () => {
    await openWith({ "/*": "$5000" });
    await at.page.goto(`${shop.origin}/html`);
    await pay();
    await expect.poll(at.status).toBe("Not enough money: it costs 5000 USDC, and your account holds less.");
    expect([signatures(), await debits()]).toEqual([0, []]);
  });

  it("is told where the seller has no node to make a transaction with", async () => {
    const { draft: _, ...receive } = sandbox.receive();
    await openWith({ "/*": "$0.01" }, receive);
    await at.page.goto(`${shop.origin}/html`);
    await pay();
    await expect.poll(at.status).toBe("This seller cannot be paid on Solana from a browser.");
    expect(signatures()).toBe(0);
  });

  it("chooses between two chains, each with the wallets that can pay on it", async () => {
    const [onBase, onSolana] = [base.receive(), sandbox.receive()];
    const isSolana = (network: string) => network.startsWith("solana:");
    const receive: Receiver = {
      ...onSolana,
      networks: [...(onBase.networks ?? []), ...(onSolana.networks ?? [])],
      ready: async () => ({ state: "ready" }),
      settleMs: (network) => (isSolana(network) ? onSolana : onBase).settleMs(network),
      verify: (proof, context) => (isSolana(proof.requirement.network) ? onSolana : onBase).verify(proof, context),
      settle: (proof, context) => (isSolana(proof.requirement.network) ? onSolana : onBase).settle(proof, context),
    };
    const payTo = { evm: base.payTo, solana: sandbox.payTo };
    const networks = [base.network, sandbox.network] as const;
    const table = { "/*": "$0.01" };
    shop = await openShop("Express", { payTo, networks: [...networks], receive, handlerTimeoutMs: 10_000 }, table);
    onTestFinished(() => shop.close());
    const evm = await injectEvmWallet(at.page, await base.newBuyer(), base.rpcUrl);
    await at.page.goto(`${shop.origin}/html`);
    await at.button("Pay with Test Wallet").waitFor();
    await at.page.getByLabel("0.01 USDC on Solana Devnet").check();
    expect(await at.button("Pay with Test Wallet").count()).toBe(0);
    await pay();
    await bought();
    expect([signatures(), await debits(), evm.asked]).toEqual([1, [10_000n], []]);
  });
});
