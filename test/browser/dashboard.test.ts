// The dashboard in a real Chromium: signing in by a link, keys, a payment that comes in while it is looked at, and every page in every
// size and light. With SCREENSHOTS=folder a picture of each is written there.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPayments } from "../gateway/dashboard/payments.js";
import { linkFor, tokenOf } from "../gateway/dashboard/visitor.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { findings, widthBeyond } from "./audit.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { type Visit, visit } from "./visit.js";

const skipped = reasonToSkip();
const folder = process.env.SCREENSHOTS;
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };

let world: GatewayWorld;
let browser: Browser;
let site: string;
beforeAll(async () => {
  if (skipped) return;
  if (folder) mkdirSync(folder, { recursive: true });
  [world, browser] = await Promise.all([createGatewayWorld({ chains: { evm: true }, watch: false }), startChromium()]);
  site = `${world.url.replace("127.0.0.1", "localhost")}/dashboard`;
}, 90_000);
afterAll(async () => {
  await Promise.all([browser?.close(), world?.close()]);
});

async function signIn(account: string, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> {
  const at = await visit(browser, options);
  await at.page.goto(`${site}/login#${tokenOf(await linkFor(world, account))}`);
  await at.page.getByRole("heading", { name: "Overview" }).waitFor();
  return at;
}

describe.skipIf(skipped)("the dashboard in a browser", { timeout: 90_000 }, () => {
  it("signs in by the link alone, and the token stays in no address", async () => {
    const at = await signIn(world.account);
    expect(at.page.url()).toBe(site);
    await at.page.goBack();
    expect(at.page.url()).not.toContain("#");
    expect(at.faults).toEqual([]);
  });

  it("signs in without a script, by a link that is pasted", async () => {
    const at = await visit(browser, { javaScriptEnabled: false });
    await at.page.goto(`${site}/login`);
    await at.page.getByLabel("Or paste the link here").fill(await linkFor(world, world.account));
    await at.button("Sign in").click();
    await at.page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("makes a key that works, rotates it, and deletes the old one", async () => {
    const at = await signIn(world.account);
    await at.page.getByRole("link", { name: "API keys" }).first().click();
    await at.page.getByLabel("Name").fill("till");
    await at.button("Make the key").click();
    const secretOf = async () => ((await at.page.locator("#secret").textContent()) ?? "").trim();
    const works = async (key: string) =>
      (await world.call("GET", "/payment/history/0x1111111111111111111111111111111111111111", undefined, { key }))
        .status;
    const first = await secretOf();
    expect(await works(first)).toBe(200);
    await at.page.getByRole("link", { name: "I have kept it" }).click();
    await at.page.getByRole("link", { name: "Rotate till" }).click();
    await at.button("Make the new key").click();
    const second = await secretOf();
    await at.page.getByRole("link", { name: "delete the old one" }).click();
    await at.button("Delete the key").click();
    await at.page.getByRole("heading", { name: "API keys" }).waitFor();
    expect([await works(first), await works(second)]).toEqual([401, 200]);
    expect(at.faults).toEqual([]);
  });

  it("shows a payment that comes in while the list is looked at, and says so", async () => {
    const account = await world.newAccount("live");
    const at = await signIn(account);
    await at.page.getByRole("link", { name: "Payments" }).first().click();
    await at.page.getByText("There is no payment yet").waitFor();
    await createPayments(world, account);
    await at.page.getByText("5 new payments").waitFor();
    await at.page.getByText("9007199254.740993 USDC").waitFor();
    expect(at.faults).toEqual([]);
  });

  it("fits, can be read and used, in every size and light, full and empty", async () => {
    const full = await world.newAccount("Corner shop");
    const [payment] = await createPayments(world, full);
    await world.newKey({ account: full, name: "server", scopes: ["read"] });
    await world.newWallet({ family: "evm", account: full });
    const [key] = await world.gateway.database.keys.list(full);
    const pages = [
      "",
      "/payments",
      `/payments/${payment?.id}`,
      "/payments?q=nothing",
      "/keys",
      `/keys/${key?.id}/rotate`,
    ];
    pages.push(`/keys/${key?.id}/delete`, "/wallets", "/account", "/nothing");
    const empty = await world.newAccount("empty");
    const rounds = [
      ["full", full, pages],
      ["empty", empty, ["", "/payments", "/keys", "/wallets"]],
      ["stranger", undefined, ["/login"]],
    ] as const;
    for (const [name, account, paths] of rounds) {
      const at = account ? await signIn(account) : await visit(browser);
      for (const [turn, path] of paths.entries()) {
        await at.page.goto(site + path);
        for (const [size, viewport] of Object.entries(SIZES)) {
          await at.page.setViewportSize(viewport);
          // Without pictures each page is looked at in two of the four ways, by turns.
          const lights = folder
            ? (["light", "dark"] as const)
            : ([(turn % 2 === 0) === (size === "phone") ? "dark" : "light"] as const);
          for (const colorScheme of lights) {
            await at.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
            expect([name, path, size, await widthBeyond(at.page)]).toEqual([name, path, size, 0]);
            expect([name, path, size, colorScheme, await findings(at.page)]).toEqual([
              name,
              path,
              size,
              colorScheme,
              [],
            ]);
            const file = `${name}${path.replaceAll(/(?:pay|key)_\w+/g, "one").replaceAll(/\W+/g, "-")}-${size}-${colorScheme}.png`;
            if (folder) await at.page.screenshot({ path: join(folder, file), fullPage: true });
          }
        }
      }
    }
  });
});
