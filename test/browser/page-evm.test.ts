// A person with an EVM wallet buys from the page, in a real Chromium, on a local chain: what is signed, what is debited, how
// often the handler runs, and what is shown.
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { FRAMEWORKS, openShop, type Shop } from "./shop.js";
import { type Visit, visit } from "./visit.js";
import { type InjectedEvm, injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const PRICE = 10_000n;
const SIGN = "eth_signTypedData_v4";

let sandbox: Sandbox;
let browser: Browser;
beforeAll(async () => {
  if (skipped) return;
  [sandbox, browser] = await Promise.all([createSandbox(), startChromium()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([browser?.close(), sandbox?.close()]);
});

describe.skipIf(skipped).each(FRAMEWORKS)("a person at a shop on %s", { timeout: 60_000 }, (framework) => {
  let shop: Shop;
  let buyer: PrivateKeyAccount;
  let wallet: InjectedEvm;
  let at: Visit;

  beforeEach(async () => {
    const { payTo, network } = sandbox;
    shop = await openShop(framework, { payTo, network, receive: sandbox.receive() }, { "/*": "$0.01" });
    onTestFinished(() => shop.close());
    buyer = await sandbox.newBuyer();
    at = await visit(browser);
    wallet = await injectEvmWallet(at.page, buyer, sandbox.rpcUrl);
  });

  const debits = async () => (await sandbox.token.transfers({ from: buyer.address })).map(({ value }) => value);
  const signatures = () => wallet.asked.filter((method) => method === SIGN).length;
  const pay = () => at.button(/^Pay with/).click();
  const open = (path: string) => at.page.goto(shop.origin + path);

  it("sees the price, pays, and is shown the page that was bought, whose own script runs", async () => {
    const answer = await open("/html?day=1");
    expect(answer?.status()).toBe(402);
    expect(answer?.headers()["payment-required"]).toMatch(/^[A-Za-z0-9+/=]+$/);
    expect(await at.page.textContent(".tg")).toContain("0.01 USDC on Base Sepolia");
    await pay();
    await at.page.getByText("own script ran").waitFor();
    expect(at.page.url()).toBe(`${shop.origin}/html?day=1`);
    expect(shop.runs).toEqual([{ target: "/html?day=1", cookie: undefined, payer: buyer.address }]);
    expect([signatures(), await debits()]).toEqual([1, [PRICE]]);
    expect(at.faults).toEqual([]);
  });

  it("is shown JSON, and an image, as the browser shows them", async () => {
    await open("/json");
    await pay();
    await at.page.getByText("Sales went up").waitFor();
    await open("/image");
    await pay();
    await at.page.locator("img[src*='/image']").waitFor();
    expect([signatures(), await debits()]).toEqual([2, [PRICE, PRICE]]);
  });

  it.each(framework === "Express" ? ["/download", "/strange"] : ["/download"])(
    "F13: gets %s as a download; the page says paid, and offers no second payment",
    async (path) => {
      await open(path);
      const coming = at.page.waitForEvent("download");
      await pay();
      const download = await coming;
      expect(readFileSync(await download.path()).length).toBeGreaterThan(0);
      await at.page.getByText("Paid: 0.01 USDC.").waitFor();
      const [debit] = await sandbox.token.transfers({ from: buyer.address });
      expect(await at.status()).toContain(debit?.transaction);
      expect(await at.button(/^Pay with/).count()).toBe(0);
      const again = at.page.waitForEvent("download");
      await at.button("Fetch it again").click();
      await again;
      expect([signatures(), await debits()]).toEqual([1, [PRICE]]);
      expect(shop.runs).toHaveLength(1);
    },
  );

  it("reloads what was bought, and pays nothing for that", async () => {
    await open("/html");
    await pay();
    await at.page.getByText("own script ran").waitFor();
    await at.page.reload();
    await at.page.getByText("own script ran").waitFor();
    expect([signatures(), await debits(), shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("comes by a link of another site, pays, and reloads", async () => {
    shop.door = ({ headers, url }, response) => {
      if (!headers.host?.startsWith("127.0.0.1") || url !== "/elsewhere") return false;
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><a href="${shop.origin}/html">to the shop</a>`);
      return true;
    };
    await at.page.goto(`${shop.origin.replace("localhost", "127.0.0.1")}/elsewhere`);
    await at.page.getByText("to the shop").click();
    await pay();
    await at.page.getByText("own script ran").waitFor();
    await at.page.reload();
    await at.page.getByText("own script ran").waitFor();
    expect([signatures(), await debits(), shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("has two tabs, pays in both at once, and signs once", async () => {
    const tab = await at.page.context().newPage();
    await injectEvmWallet(tab, buyer, sandbox.rpcUrl);
    let asked = 0;
    wallet.before = async (method) => {
      if (method === SIGN) await expect.poll(() => asked).toBe(1);
    };
    await Promise.all([open("/html"), tab.goto(`${shop.origin}/html`)]);
    await pay();
    await expect.poll(signatures).toBe(1);
    await tab.getByRole("button", { name: /^Pay with/ }).click();
    await tab.getByText("Another tab of this page is paying.").waitFor();
    asked = 1;
    await at.page.getByText("own script ran").waitFor();
    // The other tab finds the payment when it is pressed again.
    await tab.getByRole("button", { name: /^Pay with/ }).click();
    await tab.getByText("own script ran").waitFor();
    expect([signatures(), await debits(), shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("declines, loses nothing, and pays after all", async () => {
    await open("/html");
    wallet.declines.set(SIGN, 4001);
    await pay();
    await expect.poll(at.status).toContain("You declined to sign. Nothing was taken.");
    expect(await debits()).toEqual([]);
    wallet.declines.clear();
    await pay();
    await at.page.getByText("own script ran").waitFor();
    expect(await debits()).toEqual([PRICE]);
  });

  it.runIf(framework === "Express")("presses twice, and signs and pays once", async () => {
    await open("/html");
    await at.button(/^Pay with/).dblclick({ noWaitAfter: true });
    await at.page.getByText("own script ran").waitFor();
    expect([signatures(), await debits(), shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it("loses the answer, and collects it by the same payment", async () => {
    let cut = 1;
    shop.door = (request, response) => {
      // The answer is lost when everything is done: the connection ends in place of its first byte.
      if (!request.headers.cookie?.includes("tollgate-payment-") || cut-- <= 0) return false;
      response.write = response.end = () => {
        request.socket.destroy();
        return response as never;
      };
      return false;
    };
    await open("/html");
    await pay();
    await expect.poll(() => shop.runs.length).toBe(1);
    await expect
      .poll(
        async () => {
          if (await at.page.getByText("own script ran").count()) return true;
          await at.page.goto(`${shop.origin}/html`).catch(() => {});
          return false;
        },
        { timeout: 20_000, interval: 1_000 },
      )
      .toBe(true);
    expect([signatures(), await debits()]).toEqual([1, [PRICE]]);
  });
});
