// Every page and state of the dashboard, in every size and light: no wider than its window and without a finding of axe. With
// SCREENSHOTS=folder a picture of each is written there.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createPayments } from "../gateway/dashboard/payments.js";
import { newPayment } from "../gateway/database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { findings, widthBeyond } from "./audit.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { signInBy, siteOf } from "./sign-in.js";
import { type Visit, visit } from "./visit.js";
import { injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const folder = process.env.SCREENSHOTS;
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const NETWORK = "eip155:84532";

let world: GatewayWorld;
let browser: Browser;
let turn = 0;
beforeAll(async () => {
  if (skipped) return;
  if (folder) mkdirSync(folder, { recursive: true });
  [world, browser] = await Promise.all([createGatewayWorld({ chains: { evm: true }, watch: false }), startChromium()]);
}, 90_000);
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

/** Looks at the page as it stands. Without pictures each is looked at in two of the four ways, by turns. */
async function look({ page }: Visit, name: string): Promise<void> {
  turn += 1;
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    const lights = folder
      ? (["light", "dark"] as const)
      : ([(turn % 2 === 0) === (size === "phone") ? "dark" : "light"] as const);
    for (const colorScheme of lights) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const where = `${name}, ${size}, ${colorScheme}`;
      expect([where, await widthBeyond(page), await findings(page)]).toEqual([where, 0, []]);
      if (folder)
        await page.screenshot({ path: join(folder, `dashboard-${name}-${size}-${colorScheme}.png`), fullPage: true });
    }
  }
}

const open = (at: Visit, path: string) => at.page.goto(siteOf(world) + path);

/** A person with a wallet in the browser, signed in to an account that has everything. */
async function shopkeeper() {
  const at = await visit(browser);
  await injectEvmWallet(at.page, privateKeyToAccount(generatePrivateKey()), world.evm?.rpcUrl ?? "");
  const account = await world.newAccount("Corner shop");
  const [payment] = await createPayments(world, account);
  const limit = { network: NETWORK, perPayment: 5_000_000n, perDay: 20_000_000n };
  const limits = [
    { ...limit, asset: USDC },
    { ...limit, asset: "native", perPayment: 10n ** 15n, perDay: 10n ** 16n },
  ];
  const { id } = await world.newWallet({ family: "evm", account, limits });
  await world.newKey({ account, name: "server", scopes: ["read", "receive"], plan: "standard" });
  const spend = { wallet: id, network: NETWORK, asset: USDC, amount: 4_250_000n };
  await world.gateway.database.payments.insert(newPayment(account, { asset: USDC, amount: 4_250_000n, wallet: id }), {
    spend,
  });
  const keys = await world.gateway.database.keys.list(account);
  const keyOf = (name: string) => keys.find((key) => key.name === name)?.id ?? "";
  await signInBy(browser, world, account, at);
  return { at, account, payment, keys: { reads: keyOf("server"), sends: keyOf("test") } };
}

async function addWallet(at: Visit): Promise<void> {
  await open(at, "/account");
  await at.button("Add Test Wallet").click();
  await at.page.getByText("signs", { exact: true }).waitFor();
}

describe.skipIf(skipped)("every page of the dashboard", { timeout: 180_000 }, () => {
  it("fits and can be read and used, with everything in it", async () => {
    const { at, payment, keys } = await shopkeeper();
    await addWallet(at);
    const pages = {
      ...{ overview: "", payments: "/payments", payment: `/payments/${payment?.id}`, search: "/payments?q=nothing" },
      ...{ keys: "/keys", rotate: `/keys/${keys.reads}/rotate`, delete: `/keys/${keys.reads}/delete` },
      ...{
        "rotate-sending": `/keys/${keys.sends}/rotate`,
        wallets: "/wallets",
        account: "/account",
        "not-found": "/nothing",
      },
    };
    for (const [name, path] of Object.entries(pages)) {
      await open(at, path);
      await look(at, name);
    }
    await open(at, "");
    for (const summary of await at.page.locator("summary").all()) await summary.click();
    await look(at, "overview-table");
  });

  it("fits and can be read and used, empty and before anybody has signed in", async () => {
    const at = await visit(browser);
    await open(at, "/login");
    await at.page.getByText("No wallet was found in this browser.").waitFor();
    await look(at, "login");
    await at.page.getByLabel("Or paste the link here").fill("no link");
    await at.button("Sign in").click();
    await at.page.getByRole("alert").waitFor();
    await look(at, "login-refused");
    await signInBy(browser, world, await world.newAccount("empty"), at);
    for (const page of ["overview", "payments", "keys", "wallets", "account"]) {
      await open(at, page === "overview" ? "" : `/${page}`);
      await look(at, `${page}-empty`);
    }
  });

  it("fits and can be read and used, in the middle of what is done there", async () => {
    const { at, keys } = await shopkeeper();
    await open(at, "/keys");
    await at.page.getByLabel("Name", { exact: true }).fill("till");
    await at.button("Make the key").click();
    await at.page.locator("#secret").waitFor();
    await look(at, "key-made");
    await open(at, `/keys/${keys.reads}/rotate`);
    await at.button("Make the new key").click();
    await at.page.locator("#secret").waitFor();
    await look(at, "key-rotated");
    const raise = async (at_once: string) => {
      await open(at, "/wallets");
      await at.page.getByText("Change a limit of").click();
      await at.page.getByLabel("At once, at most").fill(at_once);
      await at.page.getByLabel("In 24 hours, at most").fill("0.5");
    };
    await raise("0.25");
    await look(at, "limit-form");
    await at.button("Set the limit").click();
    await at.page.getByText("No wallet signs for this account yet").waitFor();
    await look(at, "limit-without-signer");
    await addWallet(at);
    await raise("1");
    await at.button("Set the limit").click();
    await at.page.getByRole("alert").waitFor();
    await look(at, "limit-refused");
    await raise("0.25");
    await at.button("Set the limit").click();
    await at.button("Sign with Test Wallet").waitFor();
    await look(at, "limit-to-sign");
  });

  it("fits and can be read and used, once a session is older, and over", async () => {
    const { at, account } = await shopkeeper();
    await addWallet(at);
    const { sessions } = world.gateway.database;
    const use = sessions.use.bind(sessions);
    // By the database's clock, which stands for nobody: test/gateway/database shows when a session is new no more.
    const aged = vi.spyOn(sessions, "use").mockImplementation(async (hash) => {
      const found = await use(hash);
      return found && { ...found, isNew: false };
    });
    onTestFinished(() => void aged.mockRestore());
    await open(at, "/account");
    await at.page.getByText("within ten minutes of signing in only").waitFor();
    await look(at, "account-later");
    await open(at, "/payments");
    await sessions.endAll(account);
    await at.page.getByText("You are signed out").waitFor();
    await look(at, "payments-signed-out");
  });
});
