// Wallets at the dashboard in a real Chromium: added, signing in, and signing for what widens what money can do.
import { Keypair } from "@solana/web3.js";
import type { Browser } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { signInBy, siteOf } from "./sign-in.js";
import { type Visit, visit } from "./visit.js";
import { injectEvmWallet, injectSolanaWallet } from "./wallets.js";

const skipped = reasonToSkip();

let world: GatewayWorld;
let browser: Browser;
beforeAll(async () => {
  if (skipped) return;
  [world, browser] = await Promise.all([createGatewayWorld({ chains: { evm: true }, watch: false }), startChromium()]);
}, 90_000);
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

const heading = (at: Visit, name: string) => at.page.getByRole("heading", { name, exact: true }).waitFor();

async function withEvm() {
  const at = await visit(browser);
  const account = privateKeyToAccount(generatePrivateKey());
  return { at, account, wallet: await injectEvmWallet(at.page, account, world.evm?.rpcUrl ?? "") };
}

async function addWallet(at: Visit, name: string): Promise<void> {
  await at.page.goto(`${siteOf(world)}/account`);
  await at.button(`Add ${name}`).click();
  await at.page.getByText("signs", { exact: true }).waitFor();
}

async function signInWith(at: Visit, name: string): Promise<void> {
  await at.button("Sign out here").click();
  await heading(at, "Sign in");
  await at.button(`Sign in with ${name}`).click();
  await heading(at, "Overview");
}

describe.skipIf(skipped)("a wallet at the dashboard", { timeout: 90_000 }, () => {
  it("signs in by EIP-4361 once it was added, and the account is its own", async () => {
    const { at, account, wallet } = await withEvm();
    const id = await world.newAccount("evm");
    await signInBy(browser, world, id, at);
    await addWallet(at, "Test Wallet");
    await at.page.getByText(account.address, { exact: true }).waitFor();
    await signInWith(at, "Test Wallet");
    await at.page.goto(`${siteOf(world)}/account`);
    await at.page.getByText(id).waitFor();
    expect(wallet.asked.filter((method) => method === "personal_sign")).toHaveLength(2);
    expect(at.faults).toEqual([]);
  });

  it("signs in by a Solana wallet once it was added", async () => {
    const at = await visit(browser);
    const { asked } = await injectSolanaWallet(at.page, Keypair.generate());
    await signInBy(browser, world, await world.newAccount("solana"), at);
    await addWallet(at, "Sun Wallet");
    await signInWith(at, "Sun Wallet");
    expect(asked).toEqual(["connect", "signMessage", "connect", "signMessage"]);
    expect(at.faults).toEqual([]);
  });

  it("is told in words why it is not let in: declined, or of no account", async () => {
    const { at, wallet } = await withEvm();
    await at.page.goto(`${siteOf(world)}/login`);
    const said = at.page.locator("[data-said]");
    wallet.declines.set("personal_sign", 4001);
    await at.button("Sign in with Test Wallet").click();
    await said.getByText("You declined to sign.").waitFor();
    wallet.declines.clear();
    await at.button("Sign in with Test Wallet").click();
    await at.page.getByRole("alert").getByText("This wallet signs for no account here").waitFor();
    expect(at.faults.filter((fault) => !fault.includes("status of 403"))).toEqual([]);
  });

  it("signs for a key that may send, which then pays, and for a higher limit", async () => {
    const { at } = await withEvm();
    const owner = await world.newAccount("payer");
    const limits = [{ network: "eip155:84532", asset: "native", perPayment: 10n ** 15n, perDay: 10n ** 16n }];
    const hosted = await world.newWallet({ family: "evm", account: owner, limits });
    await signInBy(browser, world, owner, at);
    await addWallet(at, "Test Wallet");
    await at.page.goto(`${siteOf(world)}/keys`);
    await at.page.getByLabel("Name", { exact: true }).fill("payer");
    await at.page.getByLabel(/^send:/).check();
    await at.page.getByLabel(hosted.address).check();
    await at.button("Make the key").click();
    await at.page.getByText(`it may send, receive, read, build, events from ${hosted.address}`).waitFor();
    await at.button("Sign with Test Wallet").click();
    const key = ((await at.page.locator("#secret").textContent()) ?? "").trim();
    const recipientAddress = privateKeyToAccount(generatePrivateKey()).address;
    const pay = (amount: string) =>
      world.call(
        "POST",
        "/payment/send",
        { amount, walletAddress: hosted.address, recipientAddress, resource: "https://shop.example/report" },
        { key },
      );
    expect((await pay("0.001")).status).toBe(200);
    expect((await pay("0.002")).status).toBe(403);

    await at.page.goto(`${siteOf(world)}/wallets`);
    await at.page.getByText("0.001 ETH").first().waitFor();
    await at.page.getByText("Change a limit of").click();
    await at.page.getByLabel("At once, at most").fill("0.002");
    await at.page.getByLabel("In 24 hours, at most").fill("0.02");
    await at.button("Set the limit").click();
    await at.page
      .getByText(`Let the hosted wallet ${hosted.address} send 0.002 ETH at once and 0.02 ETH in 24 hours`)
      .waitFor();
    await at.button("Sign with Test Wallet").click();
    await heading(at, "Wallets");
    expect((await pay("0.002")).status).toBe(200);
    expect(at.faults).toEqual([]);
  });
});
