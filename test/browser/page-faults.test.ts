// What goes wrong around a person who pays from the page: answers of proxies, wrong clocks, odd addresses, going back, another
// device. Whatever happens, the page stays usable and one price is paid once.
import { describe, expect, it } from "vitest";
import { reasonToSkip } from "./chromium.js";
import { newPerson, PRICE, SIGN, useChainAndBrowser } from "./person.js";

const skipped = reasonToSkip();
const world = useChainAndBrowser();

describe.skipIf(skipped)("around the page", { timeout: 60_000 }, () => {
  it.each([
    ["HTML of a proxy", 502, "text/html", "<h1>Bad gateway</h1>"],
    ["JSON of a proxy", 429, "application/json", '{"error":"slow down"}'],
    ["null", 402, "application/json", "null"],
    ["offers that are none", 402, "application/json", '{"offers":{},"url":1}'],
  ])(
    "says so when the price is answered by %s, signs nothing, and pays when asked again",
    async (_, code, type, body) => {
      const me = await newPerson(world);
      let broken = true;
      me.shop.door = (request, response) => {
        if (!broken || request.headers["payment-page"] === undefined) return false;
        response.writeHead(code, { "content-type": type }).end(body);
        return true;
      };
      await me.open("/html");
      await me.pay();
      await expect
        .poll(me.at.status)
        .toBe("The seller cannot be reached right now. Nothing was taken; try again in a moment.");
      broken = false;
      await me.pay();
      await me.bought();
      expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
    },
  );

  it.each([-3_600_000, 3_600_000])("a browser whose clock is wrong by %d ms pays all the same", async (wrong) => {
    const me = await newPerson(world);
    await me.at.page.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${wrong} }`);
    await me.open("/html");
    await me.pay();
    await me.bought();
    await me.at.page.reload();
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it("an address with a password pays, and shows the password to nobody", async () => {
    const me = await newPerson(world);
    await me.at.page.goto(`${me.shop.origin.replace("://", "://ann:pass-8d1f@")}/html`);
    expect(await me.at.page.content()).not.toContain("pass-8d1f");
    await me.pay();
    await me.bought();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });

  it("keeps a query of 8 KB, and the fragment", async () => {
    const me = await newPerson(world);
    const path = `/html?q=${"x".repeat(8_000)}#part-2`;
    await me.open(path);
    await me.pay();
    await me.bought();
    expect(me.at.page.url()).toBe(me.shop.origin + path);
    expect([me.shop.runs.map(({ target }) => target.length), await me.debits()]).toEqual([[8_008], [PRICE]]);
  });

  it("offers no other device while a payment is under way, nor after it", async () => {
    const me = await newPerson(world);
    await me.open("/download");
    const phone = me.at.page.getByText("Pay on a phone");
    await phone.waitFor();
    let meanwhile: number | undefined;
    me.wallet.before = async (method) => {
      if (method === SIGN) meanwhile = await phone.filter({ visible: true }).count();
    };
    await me.pay();
    await me.at.page.getByText("Paid: 0.01 USDC.").waitFor();
    expect([meanwhile, await phone.filter({ visible: true }).count()]).toEqual([0, 0]);
  });

  it("goes back to what was bought, and back to the page before, without a second payment", async () => {
    const me = await newPerson(world, { table: { "/html": "$0.01" } });
    await me.open("/elsewhere");
    await me.open("/html");
    await me.pay();
    await me.bought();
    await me.open("/elsewhere");
    await me.at.page.goBack();
    await me.bought();
    await me.at.page.goBack();
    await me.at.page.getByText("the goods").waitFor();
    await me.at.page.goForward();
    await me.bought();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });

  it("removes what nobody comes back for, and keeps what somebody may", async () => {
    const me = await newPerson(world);
    await me.open("/json");
    await me.at.page.evaluate(`{
      const day = 24 * 60 * 60 * 1000;
      for (const days of [1, 6, 8, 100]) localStorage.setItem("tollgate:/old" + days, JSON.stringify({ at: Date.now() - days * day }));
      localStorage.setItem("tollgate:/odd", "x");
      localStorage.setItem("basket", "8");
    }`);
    await me.open("/html");
    expect(await me.at.page.evaluate("Object.keys(localStorage).sort()")).toEqual([
      "basket",
      "tollgate:/old1",
      "tollgate:/old6",
    ]);
  });
});
