// The dashboard in a real Chromium: signing in by a link, keys, and payments that come in while they are looked at.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPayments } from "../gateway/dashboard/payments.js";
import { linkFor, tokenOf } from "../gateway/dashboard/visitor.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { signInBy, siteOf } from "./sign-in.js";
import { visit } from "./visit.js";

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

const signIn = (account: string) => signInBy(browser, world, account);

describe.skipIf(skipped)("the dashboard in a browser", { timeout: 90_000 }, () => {
  it("signs in by the link alone, and the token stays in no address", async () => {
    const at = await signIn(world.account);
    expect(at.page.url()).toBe(siteOf(world));
    await at.page.goBack();
    expect(at.page.url()).not.toContain("#");
    expect(at.faults).toEqual([]);
  });

  it("waits for a click where a page of another site has opened the link, and names the account", async () => {
    const at = await visit(browser);
    await at.page.goto(`${world.url}/docs`);
    const link = `${siteOf(world)}/login#${tokenOf(await linkFor(world, world.account))}`;
    await at.page.evaluate(`location.href = ${JSON.stringify(link)}`);
    await at.page.getByText(`to sign in to the account ${world.account}.`).waitFor();
    expect(new URL(at.page.url()).hash).toBe("");
    await at.page.getByRole("button", { name: "Sign in", exact: true }).click();
    await at.page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("signs in without a script, by a link that is pasted", async () => {
    const at = await visit(browser, { javaScriptEnabled: false });
    await at.page.goto(`${siteOf(world)}/login`);
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

  it("shows a payment as soon as it comes in, by a socket, and says so", async () => {
    const account = await world.newAccount("live");
    const at = await signIn(account);
    const opened = at.page.waitForEvent("websocket");
    await at.page.getByRole("link", { name: "Payments" }).first().click();
    expect((await opened).url()).toMatch(/^ws:\/\/localhost:\d+\/events\?dashboard=(?:live|test)$/);
    await at.page.getByText("There is no payment yet").waitFor();
    await createPayments(world, account);
    await at.page.getByText("9007199254.740993 USDC").waitFor();
    await at.page.getByText(/(?:One|\d) new payments?/).waitFor();
    await at.page.locator("#payments tbody tr").nth(4).waitFor();
    expect(at.faults).toEqual([]);
  });

  it("asks again and again where no socket opens", async () => {
    const account = await world.newAccount("polled");
    const at = await signIn(account);
    await at.page.routeWebSocket(/events/, (socket) => void socket.close({ code: 1013 }));
    await at.page.goto(`${siteOf(world)}/payments`);
    await createPayments(world, account);
    await at.page.getByText(/(?:One|\d) new payments?/).waitFor();
    await at.page.locator("#payments tbody tr").nth(4).waitFor();
    expect(at.faults).toEqual([]);
  });

  it("stands still, and says so, once it is signed out elsewhere", async () => {
    const account = await world.newAccount("gone");
    const at = await signIn(account);
    await at.page.goto(`${siteOf(world)}/payments`);
    await at.page.getByText("There is no payment yet").waitFor();
    await world.gateway.database.sessions.endAll(account);
    await at.page.getByText("You are signed out: this list stands still.").waitFor();
    await createPayments(world, account);
    expect(await at.page.getByText("There is no payment yet").isVisible()).toBe(true);
  });
});
