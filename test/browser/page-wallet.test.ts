// What a wallet may do to a person who pays from the page: another chain, no money, nothing kept, a transfer of its own; and what a
// seller's words may do to the page.
import { describe, expect, it } from "vitest";
import { reasonToSkip } from "./chromium.js";
import { newPerson, SEND, SIGN, useChainAndBrowser } from "./person.js";
import { visit } from "./visit.js";
import { injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const world = useChainAndBrowser();

describe.skipIf(skipped)("a person with a wallet", { timeout: 60_000 }, () => {
  it("on another chain is asked to switch, and pays when the wallet did", async () => {
    const me = await newPerson(world);
    me.wallet.chainId = 1;
    me.wallet.declines.set("wallet_switchEthereumChain", 4001);
    await me.open("/html");
    await me.pay();
    await expect
      .poll(me.at.status)
      .toBe("You declined to switch to Base Sepolia. This price is paid on Base Sepolia: pay to be asked once more.");
    me.wallet.declines.set("wallet_switchEthereumChain", 4902);
    await me.pay();
    await expect.poll(me.at.status).toContain("does not know Base Sepolia. Add it there (chain id 84532)");
    expect(me.count(SIGN)).toBe(0);
    me.wallet.declines.clear();
    await me.pay();
    await me.bought();
    expect([me.wallet.chainId, await me.debits()]).toEqual([84532, [10_000n]]);
  });

  it("without enough money is told both amounts before anything is signed", async () => {
    const me = await newPerson(world);
    await world.sandbox.token.setBalances([me.buyer.address], 4_000n);
    await me.open("/html");
    await me.pay();
    await expect
      .poll(me.at.status)
      .toBe("Not enough money: it costs 0.01 USDC, and your account holds 0.004 USDC on Base Sepolia.");
    expect([me.count(SIGN), me.shop.runs]).toEqual([0, []]);
  });

  it("pays in the chain's own currency by one transfer, which is not sent again", async () => {
    const me = await newPerson(world, { table: { "/*": "0.0002 ETH" } });
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    await me.open("/html");
    expect(await me.at.page.textContent("#tg-price")).toContain("0.0002 ETH");
    await me.pay();
    await me.bought();
    const sent = await world.sandbox.native.transfers({ from: me.buyer.address });
    expect([me.count(SEND), me.count(SIGN), sent.map(({ value }) => value)]).toEqual([1, 0, [200_000_000_000_000n]]);
    await me.at.page.reload();
    await me.bought();
    expect([me.count(SEND), me.shop.runs.length]).toEqual([1, 1]);
  });

  it("whose page died while the transfer went out finds it again on the chain, and pays no second time", async () => {
    const me = await newPerson(world, { table: { "/*": "0.0002 ETH" } });
    await world.sandbox.native.mint(me.buyer.address, 10n ** 18n);
    await me.open("/html");
    let asked = false;
    me.wallet.before = (method) => {
      if (method === "eth_getTransactionReceipt") return new Promise(() => {});
      asked ||= method === SEND;
      return undefined;
    };
    // The wallet sends, and the page never hears of it.
    await me.at.page.evaluate(
      `window.addEventListener("pagehide", () => {}); const keep = Storage.prototype.setItem;
       Storage.prototype.setItem = function (key, value) { if (!/"proof"/.test(value)) keep.call(this, key, value); };`,
    );
    await me.pay();
    await expect.poll(() => asked).toBe(true);
    await expect.poll(async () => (await world.sandbox.native.transfers({ from: me.buyer.address })).length).toBe(1);
    me.wallet.before = () => {};
    await me.open("/html");
    await me.at.button(/^Look for it/).click();
    await me.bought();
    expect([me.count(SEND), me.shop.runs.length]).toEqual([1, 1]);
  });

  it("is asked again when the price has changed since the page was opened, and signs what is shown", async () => {
    let price = "$0.01";
    const me = await newPerson(world, { table: { "/*": () => price } });
    await me.open("/html");
    price = "$0.02";
    await me.pay();
    await expect.poll(me.at.status).toContain("The price has changed.");
    expect(await me.at.page.textContent("#tg-price")).toContain("0.02 USDC");
    expect(me.count(SIGN)).toBe(0);
    await me.pay();
    await me.bought();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [20_000n]]);
  });

  it("sees what the seller says, when the seller's own page fails, and pays nothing", async () => {
    const me = await newPerson(world);
    await me.open("/broken");
    await me.pay();
    await me.at.page.getByText("no such report").waitFor();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, []]);
  });

  it("that only stands at window.ethereum is found as well", async () => {
    const me = await newPerson(world);
    const other = await visit(world.browser);
    await injectEvmWallet(other.page, me.buyer, world.sandbox.rpcUrl, { legacy: true });
    await other.page.goto(`${me.shop.origin}/html`);
    await other.button("Pay with your wallet").click();
    await other.page.getByText("own script ran").waitFor();
    expect(await me.debits()).toEqual([10_000n]);
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
      const me = await newPerson(world, { options: { description: text, page: { name: text.slice(0, 60) } } });
      await me.open(path);
      expect(await me.at.page.textContent("h1")).toBe(text);
      expect(await me.at.page.locator("script").count()).toBe(2);
      await me.pay();
      await me.bought();
      expect(me.at.faults).toEqual([]);
      expect(new URL(me.at.page.url()).search).toBe(new URL(me.shop.origin + path).search);
      expect(await me.debits()).toEqual([10_000n]);
    },
  );

  it("F99: sees symbol and decimals of the token that is asked for, and keeps the query", async () => {
    const asset = "0x1111111111111111111111111111111111111111";
    const domain = { name: "Eighteen", version: "1" };
    const receive = { ...world.sandbox.receive(), ready: async () => ({ state: "ready" }) as const };
    const me = await newPerson(world, {
      table: { "/*": { price: { amount: "2500000000000000000", asset, decimals: 18, domain } } },
      options: { receive },
    });
    await me.open("/html?q=1");
    expect(await me.at.page.textContent("#tg-price")).toBe("2.5 Eighteenon Base Sepolia");
    expect(await me.at.page.evaluate("location.search")).toBe("?q=1");
  });
});
