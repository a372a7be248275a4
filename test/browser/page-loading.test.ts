// The ways on which a browser loads a page by itself: ahead of time, through a service worker, in a frame, in pieces. None of them
// spends a payment that nobody wished for, and none of them leaves a person without the page.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { reasonToSkip } from "./chromium.js";
import { newPerson, type Person, PRICE, SIGN, useChainAndBrowser } from "./person.js";
import { injectEvmWallet } from "./wallets.js";

const skipped = reasonToSkip();
const world = useChainAndBrowser();

/** Free pages of the shop's own site. */
function publish(
  { shop }: Person,
  pages: Readonly<Record<string, { readonly type: string; readonly body: string }>>,
): void {
  shop.door = ({ url = "" }, response) => {
    const page = pages[url];
    if (page) response.setHeader("content-type", page.type).end(page.body);
    return page !== undefined;
  };
}
const html = (body: string) => ({ type: "text/html", body: `<!doctype html><title>free</title>${body}` });

describe.skipIf(skipped)("a browser", { timeout: 60_000 }, () => {
  it("that draws the page ahead of time collects a payment only when the person comes", async () => {
    const me = await newPerson(world);
    await me.open("/html");
    await me.pay();
    await me.bought();
    await me.at.page.context().clearCookies();
    const ahead: string[] = [];
    publish(me, {
      "/door": html(
        `<a href="/html">in</a><script type="speculationrules">{"prerender":[{"source":"list","urls":["/html"],"eagerness":"immediate"}]}</script>`,
      ),
    });
    const { door } = me.shop;
    me.shop.door = (request, response) => {
      const purpose = request.headers["sec-purpose"];
      if (request.url === "/html")
        ahead.push(`${purpose} ${request.headers.cookie?.includes("tollgate-payment-") === true}`);
      return door(request, response);
    };
    await me.open("/door");
    // Browsers draw no 402 ahead of time: what they have asked for is thrown away.
    await expect.poll(() => ahead).toEqual(["prefetch;prerender false"]);
    await me.at.page.getByText("in", { exact: true }).click();
    await me.bought();
    expect(ahead.filter((one) => one.startsWith("prefetch"))).toEqual(["prefetch;prerender false"]);
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it("with a service worker of the site shows the page, and pays", async () => {
    const me = await newPerson(world);
    publish(me, {
      "/door": html("<h1>door</h1>"),
      "/worker.js": {
        type: "text/javascript",
        body: `addEventListener("fetch", (event) => event.respondWith(fetch(event.request)));`,
      },
    });
    await me.open("/door");
    await me.at.page.evaluate(
      `navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready)`,
    );
    await me.open("/html");
    await me.pay();
    await me.bought();
    expect([me.count(SIGN), await me.debits(), me.shop.runs.length]).toEqual([1, [PRICE], 1]);
  });

  it("shows the page in no frame, of its own site or of another", async () => {
    const me = await newPerson(world);
    const thief = createServer((_request, response) => {
      response.setHeader("content-type", "text/html").end(`<iframe src="${me.shop.origin}/html"></iframe>`);
    }).listen(0, "127.0.0.1");
    await once(thief, "listening");
    onTestFinished(() => void thief.close().closeAllConnections());
    publish(me, { "/door": html(`<iframe src="/html"></iframe>`) });
    for (const url of [`${me.shop.origin}/door`, `http://localhost:${(thief.address() as AddressInfo).port}/`]) {
      await me.at.page.goto(url);
      await me.at.page.waitForLoadState("load");
      const [, frame] = me.at.page.frames();
      expect(await frame?.locator("#tollgate").count()).toBe(0);
    }
    expect([me.count(SIGN), me.shop.runs]).toEqual([0, []]);
  });

  it("that fetches a sound in pieces plays it where a pass was sold", async () => {
    const me = await newPerson(world, { options: { access: { for: "1h" } } });
    await me.open("/sound");
    await me.pay();
    const length = "document.querySelector('video, audio')?.duration";
    await expect.poll(() => me.at.page.evaluate(length).catch(() => undefined), { timeout: 30_000 }).toBe(1);
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });

  it("with two tabs of which one buys a pass pays nothing in the other", async () => {
    const me = await newPerson(world, { options: { access: { for: "1h" } } });
    const tab = await me.at.page.context().newPage();
    await injectEvmWallet(tab, me.buyer, world.sandbox.rpcUrl);
    await Promise.all([me.open("/html?day=1"), tab.goto(`${me.shop.origin}/html?day=2`)]);
    await me.pay();
    await me.bought();
    await tab.getByRole("button", { name: /^Pay with/ }).click();
    await tab.getByText("own script ran").waitFor();
    expect([me.count(SIGN), await me.debits()]).toEqual([1, [PRICE]]);
  });
});
