// What a wallet may do to a person who pays from the page: another chain, no money, nothing kept, a transfer of its own; and what a
// seller's words may do to the page.
import type { Browser } from "playwright-core";
import type { PrivateKeyAccount } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { PaywallOptions } from "../../src/options.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { openShop, type Shop, type Table } from "./shop.js";
import { type Visit, visit } from "./visit.js";
import { type InjectedEvm, injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const SIGN = "eth_signTypedData_v4";
const SEND = "eth_sendTransaction";

let sandbox: Sandbox;
let browser: Browser;
beforeAll(async () => {
  if (skipped) return;
  [sandbox, browser] = await Promise.all([createSandbox(), startChromium()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([browser?.close(), sandbox?.close()]);
});

describe.skipIf(skipped)("a person with a wallet", { timeout: 60_000 }, () => {
  let shop: Shop;
  let buyer: PrivateKeyAccount;
  let wallet: InjectedEvm;
  let at: Visit;

  const openWith = async (table: Table, more: Partial<PaywallOptions> = {}) => {
    const { payTo, network } = sandbox;
    const options = { payTo, network, receive: sandbox.receive(), ...more } as PaywallOptions;
    shop = await openShop("Express", options, table);
    onTestFinished(() => shop.close());
  };
  beforeEach(async () => {
    buyer = await sandbox.newBuyer();
    at = await visit(browser);
    wallet = await injectEvmWallet(at.page, buyer, sandbox.rpcUrl);
  });

  const count = (method: string) => wallet.asked.filter((one) => one === method).length;
  const debits = async () => (await sandbox.token.transfers({ from: buyer.address })).map(({ value }) => value);
  const pay = () => at.button(/^Pay with/).click();
  const bought = () => at.page.getByText("own script ran").waitFor();

  it("on another chain is asked to switch, and pays when the wallet did", async () => {
    await openWith({ "/*": "$0.01" });
    wallet.chainId = 1;
    wallet.declines.set("wallet_switchEthereumChain", 4001);
    await at.page.goto(`${shop.origin}/html`);
    await pay();
    await expect
      .poll(at.status)
      .toBe("You declined to switch to Base Sepolia. This price is paid on Base Sepolia: pay to be asked once more.");
    wallet.declines.set("wallet_switchEthereumChain", 4902);
    await pay();
    await expect.poll(at.status).toContain("does not know Base Sepolia. Add it there (chain id 84532)");
    expect(count(SIGN)).toBe(0);
    wallet.declines.clear();
    await pay();
    await bought();
    expect([wallet.chainId, await debits()]).toEqual([84532, [10_000n]]);
  });

  it("without enough money is told both amounts before anything is signed", async () => {
    await openWith({ "/*": "$0.01" });
    await sandbox.token.setBalances([buyer.address], 4_000n);
    await at.page.goto(`${shop.origin}/html`);
    await pay();
    await expect
      .poll(at.status)
      .toBe("Not enough money: it costs 0.01 USDC, and your account holds 0.004 USDC on Base Sepolia.");
    expect([count(SIGN), shop.runs]).toEqual([0, []]);
  });

  it("pays in the chain's own currency by one transfer, which is not sent again", async () => {
    await openWith({ "/*": "0.0002 ETH" });
    await sandbox.native.mint(buyer.address, 10n ** 18n);
    await at.page.goto(`${shop.origin}/html`);
    expect(await at.page.textContent("#tg-price")).toContain("0.0002 ETH");
    await pay();
    await bought();
    const sent = await sandbox.native.transfers({ from: buyer.address });
    expect([count(SEND), count(SIGN), sent.map(({ value }) => value)]).toEqual([1, 0, [200_000_000_000_000n]]);
    await at.page.reload();
    await bought();
    expect([count(SEND), shop.runs.length]).toEqual([1, 1]);
  });

  it("whose page died while the transfer went out finds it again on the chain, and pays no second time", async () => {
    await openWith({ "/*": "0.0002 ETH" });
    await sandbox.native.mint(buyer.address, 10n ** 18n);
    await at.page.goto(`${shop.origin}/html`);
    let asked = false;
    wallet.before = (method) => {
      if (method === "eth_getTransactionReceipt") return new Promise(() => {});
      asked ||= method === SEND;
      return undefined;
    };
    // The wallet sends, and the page never hears of it.
    await at.page.evaluate(
      `window.addEventListener("pagehide", () => {}); const keep = Storage.prototype.setItem;
       Storage.prototype.setItem = function (key, value) { if (!/"proof"/.test(value)) keep.call(this, key, value); };`,
    );
    await pay();
    await expect.poll(() => asked).toBe(true);
    await expect.poll(async () => (await sandbox.native.transfers({ from: buyer.address })).length).toBe(1);
    wallet.before = () => {};
    await at.page.goto(`${shop.origin}/html`);
    await at.button(/^Look for it/).click();
    await bought();
    expect([count(SEND), shop.runs.length]).toEqual([1, 1]);
  });

  it("is asked again when the price has changed since the page was opened, and signs what is shown", async () => {
    let price = "$0.01";
    await openWith({ "/*": () => price });
    await at.page.goto(`${shop.origin}/html`);
    price = "$0.02";
    await pay();
    await expect.poll(at.status).toContain("The price has changed.");
    expect(await at.page.textContent("#tg-price")).toContain("0.02 USDC");
    expect(count(SIGN)).toBe(0);
    await pay();
    await bought();
    expect([count(SIGN), await debits()]).toEqual([1, [20_000n]]);
  });

  it("sees what the seller says, when the seller's own page fails, and pays nothing", async () => {
    await openWith({ "/*": "$0.01" });
    await at.page.goto(`${shop.origin}/broken`);
    await pay();
    await at.page.getByText("no such report").waitFor();
    expect([count(SIGN), await debits()]).toEqual([1, []]);
  });

  it("that only stands at window.ethereum is found as well", async () => {
    await openWith({ "/*": "$0.01" });
    const other = await visit(browser);
    await injectEvmWallet(other.page, buyer, sandbox.rpcUrl, { legacy: true });
    await other.page.goto(`${shop.origin}/html`);
    await other.button("Pay with your wallet").click();
    await other.page.getByText("own script ran").waitFor();
    expect(await debits()).toEqual([10_000n]);
  });

  it.each([
    ["markup", "</script><script>alert(1)</script><!--<script>-->", "/html?a=</script><script>alert(1)</script>"],
    [
      "an attribute",
      "\"'><img src=x onerror=alert(1)> javascript:alert(1)",
      "/html?next=javascript:alert(1)&q='\"><b>",
    ],
    ["Arabic", "تقرير المبيعات لهذا اليوم 📈", "/html?q=%D8%AA%D9%82%D8%B1%D9%8A%D8%B1"],
    ["emoji and CJK", "日次レポート 🧾👩‍💻 — 100 % \u2028 neu", "/html?q=🧾"],
  ])(
    "F97: reads %s of the seller as text: no script runs but the page's, and the payment goes through",
    async (_, text, path) => {
      await openWith({ "/*": "$0.01" }, { description: text, page: { name: text.slice(0, 60) } });
      await at.page.goto(shop.origin + path);
      expect(await at.page.textContent("h1")).toBe(text);
      expect(await at.page.locator("script").count()).toBe(2);
      await pay();
      await bought();
      expect(at.faults).toEqual([]);
      expect(new URL(at.page.url()).search).toBe(new URL(shop.origin + path).search);
      expect(await debits()).toEqual([10_000n]);
    },
  );

  it("F99: sees symbol and decimals of the token that is asked for, and keeps the query", async () => {
    const asset = "0x1111111111111111111111111111111111111111";
    const domain = { name: "Eighteen", version: "1" };
    const receive = { ...sandbox.receive(), ready: async () => ({ state: "ready" }) as const };
    await openWith({ "/*": { price: { amount: "2500000000000000000", asset, decimals: 18, domain } } }, { receive });
    await at.page.goto(`${shop.origin}/html?q=1`);
    expect(await at.page.textContent("#tg-price")).toBe("2.5 Eighteenon Base Sepolia");
    expect(await at.page.evaluate("location.search")).toBe("?q=1");
  });
});
