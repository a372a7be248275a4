// A person with an EVM wallet buys from the page, in a real Chromium, on a local chain: what is signed, what is debited, how
// often the handler runs, and what is shown.
import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { reasonToSkip } from "./chromium.js";
import { newPerson, type Person, PRICE, SIGN, useChainAndBrowser } from "./person.js";
import { FRAMEWORKS } from "./shop.js";
import { injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const world = useChainAndBrowser();

describe.skipIf(skipped).each(FRAMEWORKS)("a person at a shop on %s", { timeout: 60_000 }, (framework) => {
  let me: Person;
  beforeEach(async () => {
    me = await newPerson(world, { framework });
  });

  it("sees the price, pays, and is shown the page that was bought, whose own script runs", async () => {
    const answer = await me.open("/html?day=1");
    expect(answer?.status()).toBe(402);
    expect(answer?.headers()["payment-required"]).toMatch(/^[A-Za-z0-9+/=]+$/);
    expect(await me.at.page.textContent(".tg")).toContain("0.01 USDC on Base Sepolia");
    await me.pay();
    await me.bought();
    expect(me.at.page.url()).toBe(`${me.shop.origin}/html?day=1`);
    expect(me.shop.runs).toEqual([{ target: "/html?day=1", cookie: undefined, payer: me.buyer.address }]);
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
    expect(me.at.faults).toEqual([]);
  });

  it("is shown JSON, and an image, as the browser shows them", async () => {
    await me.open("/json");
    await me.pay();
    await me.at.page.getByText("Sales went up").waitFor();
    await me.open("/image");
    await me.pay();
    await me.at.page.locator("img[src*='/image']").waitFor();
    expect([me.count(SIGN), await me.debits()]).toEqual([2, [PRICE, PRICE]]);
  });

  it.each(framework === "Express" ? ["/download", "/strange"] : ["/download"])(
    "F13: gets %s as a download; the page says paid, and offers no second payment",
    async (path) => {
      await me.open(path);
      const coming = me.at.page.waitForEvent("download");
      await me.pay();
      const download = await coming;
      expect(readFileSync(await download.path()).length).toBeGreaterThan(0);
      await me.at.page.getByText("Paid: 0.01 USDC.").waitFor();
      const [debit] = await world.sandbox.token.transfers({ from: me.buyer.address });
      expect(await me.at.status()).toContain(debit?.transaction);
      expect(await me.at.button(/^Pay with/).count()).toBe(0);
      const again = me.at.page.waitForEvent("download");
      await me.at.button("Fetch it again").click();
      await again;
      expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
      expect(me.shop.runs).toHaveLength(1);
    },
  );

  it("reloads what was bought, and pays nothing for that", async () => {
    await me.open("/html");
    await me.pay();
    await me.bought();
    await me.at.page.reload();
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("comes by a link of another site, pays, and reloads", async () => {
    me.shop.door = ({ headers, url }, response) => {
      if (!headers.host?.startsWith("127.0.0.1") || url !== "/elsewhere") return false;
      response.setHeader("content-type", "text/html");
      response.end(`<!doctype html><a href="${me.shop.origin}/html">to the shop</a>`);
      return true;
    };
    await me.at.page.goto(`${me.shop.origin.replace("localhost", "127.0.0.1")}/elsewhere`);
    await me.at.page.getByText("to the shop").click();
    await me.pay();
    await me.bought();
    await me.at.page.reload();
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("has two tabs, pays in both at once, and signs once", async () => {
    const tab = await me.at.page.context().newPage();
    await injectEvmWallet(tab, me.buyer, world.sandbox.rpcUrl);
    let letSign = () => {};
    const refused = new Promise<void>((resolve) => {
      letSign = resolve;
    });
    me.wallet.before = (method) => (method === SIGN ? refused : undefined);
    await Promise.all([me.open("/html"), tab.goto(`${me.shop.origin}/html`)]);
    await me.pay();
    await expect.poll(() => me.count(SIGN)).toBe(1);
    await tab.getByRole("button", { name: /^Pay with/ }).click();
    await tab.getByText("Another tab of this page is paying.").waitFor();
    letSign();
    await me.bought();
    // The other tab finds the payment when it is pressed again.
    await tab.getByRole("button", { name: /^Pay with/ }).click();
    await tab.getByText("own script ran").waitFor();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it.runIf(framework === "Express")("declines, loses nothing, and pays after all", async () => {
    await me.open("/html");
    me.wallet.declines.set(SIGN, 4001);
    await me.pay();
    await expect.poll(me.at.status).toContain("You declined to sign. Nothing was taken.");
    expect(await me.debits()).toEqual([]);
    me.wallet.declines.clear();
    await me.pay();
    await me.bought();
    expect(await me.debits()).toEqual([PRICE]);
  });

  it.runIf(framework === "Express")("presses twice, and signs and pays once", async () => {
    await me.open("/html");
    await me.at.button(/^Pay with/).dblclick({ noWaitAfter: true });
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it("loses the answer, and collects it by the same payment", async () => {
    let cut = 1;
    let lost = false;
    me.shop.door = (request, response) => {
      // The answer is lost when everything is done: the connection ends in place of its first byte.
      if (!request.headers.cookie?.includes("tollgate-payment-") || cut-- <= 0) return false;
      response.write = response.end = () => {
        request.socket.destroy();
        lost = true;
        return response as never;
      };
      return false;
    };
    await me.open("/html");
    await me.pay();
    await expect.poll(() => lost, { timeout: 20_000 }).toBe(true);
    // The browser may ask again by itself; else its own page tells of the error, and the person comes again. No sooner: an answer
    // is sent three times at the most, and each visit may be one of them.
    const { page } = me.at;
    const isError = () => page.url().startsWith("chrome-error:");
    const isThere = () =>
      page
        .locator("#ran")
        .count()
        .catch(() => 0);
    await expect.poll(async () => isError() || (await isThere()) > 0, { timeout: 20_000 }).toBe(true);
    if (isError()) await me.open("/html").catch(() => undefined);
    await me.bought();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });
});
