// The page for people: who gets it, how its payment travels through a navigation, and whose cookie opens nothing.
import type { SignedPayment } from "../buyer.js";
import { type HttpCase, inShop } from "./case.js";
import type { Ask, Got } from "./client.js";
import { equal, GOODS, RETRY_KEY, type Shop } from "./shop.js";

const ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8";
/** A browser on its way to a document. */
const BROWSER = {
  Accept: ACCEPT,
  "Sec-Fetch-Dest": "document",
  "Sec-Fetch-Site": "none",
  "Sec-Fetch-Mode": "navigate",
};
/** A navigation that the page itself begins. */
const OWN = { ...BROWSER, "Sec-Fetch-Site": "same-origin" };

const isPage = ({ headers }: Got): boolean => headers["content-type"] === "text/html; charset=utf-8";
const listed = (value: string | undefined): readonly string[] => (value ?? "").toLowerCase().split(/,\s*/);

/** What stands in the page for its script. */
function dataOf({ text }: Got): Readonly<Record<string, unknown>> & { readonly cookie: string; readonly paid: string } {
  const [, json = "{}"] = /<script type="application\/json" id="tollgate-data">(.*?)<\/script>/s.exec(text) ?? [];
  return JSON.parse(json);
}
const codeOf = (got: Got): unknown => (isPage(got) ? Object(dataOf(got).problem).code : got.json.code);

/** The cookie by which the page of this path sends a payment. */
async function cookieOf(shop: Shop, path: string, { value }: SignedPayment): Promise<string> {
  const name = dataOf(await shop.ask(path, { headers: BROWSER })).cookie;
  return `${name}=${value.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

const withCookie = (headers: Readonly<Record<string, string>>, cookie: string): Ask => ({
  headers: { ...headers, Cookie: `session=1; ${cookie}; theme=dark` },
});

export const PAGE_CASES: readonly HttpCase[] = [
  inShop("a browser gets the same 402 as a page; whoever else asks gets it as JSON", {}, async (shop) => {
    const [program, page] = [await shop.ask("/paid"), await shop.ask("/paid", { headers: BROWSER })];
    equal([page.status, isPage(page), program.status, isPage(program)], [402, true, 402, false]);
    equal(page.headers["payment-required"], program.headers["payment-required"]);
    equal([page.headers["cache-control"], page.headers["x-content-type-options"]], ["no-store", "nosniff"]);
    const vary = listed(page.headers.vary);
    equal(
      ["accept", "sec-fetch-dest", "payment-signature", "x-payment"].filter((name) => !vary.includes(name)),
      [],
    );
    const policy = page.headers["content-security-policy"] ?? "";
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? "no nonce";
    equal([/^default-src 'none'; /.test(policy), /unsafe|\*/.test(policy)], [true, false]);
    equal(page.text.match(/<(?:script|style)\b(?! type="application\/json")[^>]*>/g)?.length, 2);
    equal(page.text.split(` nonce="${nonce}">`).length, 3);
    equal((await shop.ask("/paid", { headers: BROWSER })).text.includes(nonce), false);
    for (const other of [
      { "Sec-Fetch-Dest": "image" },
      { "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors" },
      { "Sec-Fetch-Dest": "iframe" },
      { Accept: "*/*" },
      { Accept: "application/json" },
    ]) {
      equal([other, isPage(await shop.ask("/paid", { headers: { ...BROWSER, ...other } }))], [other, false]);
    }
    equal(isPage(await shop.ask("/paid", { headers: { Accept: ACCEPT } })), true);
    // Through a service worker.
    equal(isPage(await shop.ask("/paid", { headers: { ...BROWSER, "Sec-Fetch-Dest": "empty" } })), true);
    equal(isPage(await shop.ask("/paid", { method: "POST", headers: BROWSER })), false);
    const head = await shop.ask("/paid", { method: "HEAD", headers: BROWSER });
    equal([head.status, isPage(head), head.text], [402, true, ""]);
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop(
    "page headers are joined with those of the app",
    { needs: "middleware", headersBefore: { Vary: "X-App", "Access-Control-Expose-Headers": "X-Foo" } },
    async (shop) => {
      const { headers } = await shop.ask("/paid", { headers: BROWSER });
      const missing = ["x-app", "accept", "sec-fetch-dest"].filter((name) => !listed(headers.vary).includes(name));
      equal([missing, listed(headers["access-control-expose-headers"]).includes("x-foo")], [[], true]);
    },
  ),

  inShop("a cookie of the page buys by a navigation, once, and the handler does not see it", {}, async (shop) => {
    const payment = await shop.sign({ path: "/paid", retryKey: RETRY_KEY });
    const ask = withCookie(OWN, await cookieOf(shop, "/paid", payment));
    const bought = await shop.buy({ ...payment, headers: {} }, "/paid", ask);
    equal([bought.status, bought.text], [200, GOODS]);
    equal(listed(bought.headers.vary).includes("cookie"), true);
    equal(
      /^tollgate-paid-[0-9a-f]{8}=0x[0-9a-f]{64}; Path=\/; Max-Age=60; SameSite=Strict$/.test(
        bought.headers["set-cookie"] ?? "",
      ),
      true,
    );
    equal(shop.runs[0]?.header("cookie"), "session=1; theme=dark");
    // A reload, with what the paid answer has set.
    const paid = (bought.headers["set-cookie"] ?? "").split(";", 1)[0];
    const headers = { ...ask.headers, Cookie: `${ask.headers?.Cookie}; ${paid}` };
    const again = await shop.buy({ ...payment, headers: {} }, "/paid", { headers });
    equal([again.text, again.headers["payment-replayed"]], [GOODS, "true"]);
    await shop.counted({ runs: 1, debits: 1, bodies: 2 });
  }),

  inShop(
    "no request of others spends the cookie of the page: links, frames, images, scripts, forms, prefetches",
    {},
    async (shop) => {
      const payment = await shop.sign({ path: "/paid", retryKey: RETRY_KEY });
      const cookie = await cookieOf(shop, "/paid", payment);
      for (const [what, headers, method] of [
        ["a link of another site", { ...OWN, "Sec-Fetch-Site": "cross-site" }, "GET"],
        ["a link of a sibling", { ...OWN, "Sec-Fetch-Site": "same-site" }, "GET"],
        ["a frame", { ...OWN, "Sec-Fetch-Dest": "iframe" }, "GET"],
        ["an image", { ...OWN, Accept: "image/*", "Sec-Fetch-Dest": "image" }, "GET"],
        ["a script's request", { ...OWN, "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors" }, "GET"],
        ["the page's own question", { ...OWN, "Payment-Page": "1" }, "GET"],
        ["a prefetch", { ...OWN, "Sec-Purpose": "prefetch;prerender" }, "GET"],
        ["a form", OWN, "POST"],
        ["a look at the headers", OWN, "HEAD"],
        ["a program", { Accept: "*/*" }, "GET"],
      ] as const) {
        const got = await shop.ask("/paid", { ...withCookie(headers, cookie), method });
        equal([what, got.status], [what, 402]);
      }
      await shop.counted({ runs: 0, debits: 0, bodies: 0 });
      equal((await shop.buy({ ...payment, headers: {} }, "/paid", withCookie(OWN, cookie))).text, GOODS);
      await shop.counted({ runs: 1, debits: 1, bodies: 1 });
    },
  ),

  inShop(
    "a cookie for one path or query buys no other, and a broken one is a mistake of the sender",
    {},
    async (shop) => {
      const payment = await shop.sign({ path: "/paid", retryKey: RETRY_KEY });
      const cookie = await cookieOf(shop, "/paid", payment);
      const [name = "", value = ""] = cookie.split("=");
      for (const [path, shown, status, code] of [
        ["/other", cookie, 402, undefined],
        ["/paid?q=2", cookie, 402, undefined],
        ["/paid", `${name}x=${value}`, 402, undefined],
        ["/paid", `${name}=garbage`, 400, "payment_malformed"],
        ["/paid", `${name}=`, 400, "payment_malformed"],
        ["/paid", `${name}=${value}; ${name}-1=${value}`, 400, "payment_malformed"],
        ["/paid", `${name}=garbage; ${cookie}`, 400, "payment_malformed"],
        ["/paid", `${name}=${"QUFB".repeat(1_500)}; ${name}-1=${"QUFB".repeat(1_300)}`, 400, "payment_malformed"],
      ] as const) {
        const got = await shop.ask(path, withCookie(OWN, shown));
        equal(
          [path, shown.slice(0, 60), got.status, isPage(got), codeOf(got)],
          [path, shown.slice(0, 60), status, true, code],
        );
      }
      await shop.counted({ runs: 0, debits: 0, bodies: 0 });
    },
  ),

  inShop(
    "beside a payment header the cookie is nothing, and a stranger's repeat of the proof gets nothing",
    {},
    async (shop) => {
      const [inCookie, inHeader] = [
        await shop.sign({ path: "/paid", retryKey: RETRY_KEY }),
        await shop.sign({ path: "/paid" }),
      ];
      const cookie = await cookieOf(shop, "/paid", inCookie);
      const both = await shop.buy(inHeader, "/paid", withCookie(OWN, cookie));
      equal(
        [both.status, both.headers["set-cookie"], shop.runs[0]?.header("cookie")],
        [200, undefined, "session=1; theme=dark"],
      );
      const bought = await shop.buy({ ...inCookie, headers: {} }, "/paid", withCookie(OWN, cookie));
      equal(bought.text, GOODS);
      // What the chain shows to everybody, without the retry key.
      const stripped = { ...Object(inCookie.payload), extensions: undefined };
      const public_ = { ...inCookie, value: Buffer.from(JSON.stringify(stripped)).toString("base64") };
      const stranger = await shop.ask("/paid", withCookie(OWN, await cookieOf(shop, "/paid", public_)));
      equal([stranger.status, codeOf(stranger), stranger.text.includes(GOODS)], [409, "payment_already_used", false]);
      await shop.counted({ runs: 2, debits: 2, bodies: 2 });
    },
  ),

  inShop(
    "a refused cookie of the page is answered by a page, which says whether money moved",
    { receive: (honest) => ({ ...honest, settle: async () => ({ outcome: "unknown", message: "cut" }) }) },
    async (shop) => {
      const payment = await shop.sign({ path: "/paid", retryKey: RETRY_KEY });
      const got = await shop.ask("/paid", withCookie(OWN, await cookieOf(shop, "/paid", payment)));
      const { answered, problem } = dataOf(got);
      equal(
        [got.status, isPage(got), answered, Object(problem).payment, Object(problem).retry],
        [503, true, true, "unknown", "same-payment"],
      );
      equal([got.headers["set-cookie"], got.headers["cache-control"]], [undefined, "no-store"]);
    },
  ),
];
