// Redirects of a paid answer beside the matrix: other schemes, the caller's own mode, too many hops, and what a browser shows.
import { describe, expect, it } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { challengeV2, evm } from "./challenges.js";
import { fakeWeb, leadsTo } from "./fake-web.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, receipt, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const bill = () =>
  new Response("{}", { status: 402, headers: { "PAYMENT-REQUIRED": encodeHeader(challengeV2([evm()])) } });
const hasProof = (headers: Headers) => headers.has("payment-signature");

describe("another scheme", () => {
  it("is another origin, before a payment", async () => {
    for (const [from, to] of [
      ["https", "http"],
      ["http", "https"],
    ]) {
      const { fetch, requests } = fakeWeb({
        [`${from}://shop.example/a`]: () => leadsTo(`${to}://shop.example/b`),
        [`${to}://shop.example/b`]: bill,
      });
      const { pay, wallet } = flowBuyer({ fetch, allowHttp: ["shop.example"] });
      await expect(pay(`${from}://shop.example/a`)).rejects.toMatchObject({ code: "redirected" });
      expect(wallet.signed).toHaveLength(0);
      expect(requests.some(({ headers }) => hasProof(headers))).toBe(false);
    }
  });

  it("is another origin, after a payment", async () => {
    const { fetch, requests } = fakeWeb({
      "https://shop.example/a": ({ headers }) =>
        hasProof(headers) ? leadsTo("http://shop.example/b", 307, receipt()) : bill(),
      "http://shop.example/b": () => new Response("led on"),
    });
    const { pay } = flowBuyer({ fetch });
    const init = { headers: { authorization: "Bearer", "idempotency-key": "order-2026-01-01" } };
    expect(await (await pay("https://shop.example/a", init)).text()).toBe("led on");
    const { headers } = requests.at(-1)!;
    expect([...headers.keys()].filter((name) => /payment|idempotency|authorization/.test(name))).toEqual([]);
  });

  it.each(["ftp://shop.example/", "data:text/plain,hello", "https://user:word@shop.example/b", "https://["])(
    "%s is not followed",
    async (location) => {
      const { fetch } = fakeWeb({
        "https://shop.example/a": ({ headers }) => (hasProof(headers) ? leadsTo(location) : bill()),
      });
      await expect(flowBuyer({ fetch }).pay("https://shop.example/a")).rejects.toMatchObject({
        code: "redirected",
        money: "unknown",
      });
    },
  );
});

describe("the caller's own mode", () => {
  const script = (headers = receipt()) => ({
    paid: { status: 303, headers: { location: "/elsewhere", ...headers } },
  });

  it("manual gives the redirect itself: paid for, it is what was bought", async () => {
    const shop = await seller(({ proof }) => (proof ? script().paid : asks()));
    const { pay, wallet } = flowBuyer();
    const response = await pay(shop.url, { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/elsewhere"]);
    expect(await pay.receipts()).toMatchObject([{ served: true, status: "settled" }]);
    await pay(shop.url, { redirect: "manual" });
    expect(wallet.signed).toHaveLength(2);
  });

  it("manual without a receipt leaves the proof pending", async () => {
    const shop = await seller(({ proof }) => (proof ? script({}).paid : asks()));
    const { pay, wallet } = flowBuyer();
    for (let call = 0; call < 2; call += 1) expect((await pay(shop.url, { redirect: "manual" })).status).toBe(303);
    expect(wallet.signed).toHaveLength(1);
  });

  it("error ends the call, and says what is known of the money", async () => {
    const shop = await seller(({ proof }) => (proof ? script().paid : asks()));
    const paid = flowBuyer().pay(new Request(shop.url, { redirect: "error" }));
    await expect(paid).rejects.toMatchObject({ code: "redirected", money: "settled" });
    expect(shop.requests).toHaveLength(2);
  });
});

describe("a way that does not end", () => {
  it("is followed for five hops", async () => {
    const shop = await seller(({ path, proof }) => {
      if (path === "/report") return proof ? { status: 302, headers: { location: "/5", ...receipt() } } : asks();
      const left = Number(path.slice(1));
      return left > 1 ? { status: 302, headers: { location: `/${left - 1}` } } : { status: 200, body: "at last" };
    });
    const { pay } = flowBuyer();
    expect(await (await pay(shop.url)).text()).toBe("at last");
    shop.script = ({ proof }) => (proof ? { status: 302, headers: { location: "/report?again" } } : asks());
    const endless = await seller(({ path, proof }) =>
      path === "/report" && !proof ? asks() : { status: 302, headers: { location: "/again" } },
    );
    await expect(pay(endless.url)).rejects.toMatchObject({ code: "redirected", money: "unknown" });
    expect(endless.requests).toHaveLength(2 + 5);
  });

  it("or leads to nobody, is charged without goods where the receipt says so", async () => {
    const gone = await seller();
    await gone.close();
    const shop = await seller(({ proof }) =>
      proof ? { status: 302, headers: { location: gone.url, ...receipt() } } : asks(),
    );
    await expect(flowBuyer().pay(shop.url)).rejects.toMatchObject({ code: "charged_without_goods", money: "settled" });
    shop.script = ({ proof }) => (proof ? { status: 302, headers: { location: gone.url } } : asks());
    await expect(flowBuyer().pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown", money: "unknown" });
  });

  it("ends where no place is named: that answer is the caller's", async () => {
    const shop = await seller(({ proof }) => (proof ? { status: 302, body: "nowhere" } : asks()));
    const response = await flowBuyer().pay(shop.url);
    expect([response.status, await response.text()]).toEqual([302, "nowhere"]);
  });
});

it("the pending proof of a redirected request goes to the place that asked, not to the one that was asked", async () => {
  let down = true;
  const shop = await seller(({ path, proof }) => {
    if (path === "/report") return { status: 307, headers: { location: "/elsewhere" } };
    return proof === undefined ? asks() : down ? "drop" : goods();
  });
  const { pay, wallet } = flowBuyer({ resend: { times: 0 } });
  await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
  down = false;
  expect((await pay(shop.url)).status).toBe(200);
  expect(wallet.signed).toHaveLength(1);
  expect(shop.paid.map(({ path }) => path)).toEqual(["/elsewhere", "/elsewhere"]);
});

it("a redirect that a browser hides leaves the outcome unknown", async () => {
  const hidden = Object.defineProperties(new Response(), { type: { value: "opaqueredirect" }, status: { value: 0 } });
  const { fetch } = fakeWeb({ "https://shop.example/a": ({ headers }) => (hasProof(headers) ? hidden : bill()) });
  const { pay, waits } = flowBuyer({ fetch });
  await expect(pay("https://shop.example/a")).rejects.toMatchObject({ code: "outcome_unknown", money: "unknown" });
  expect(waits).toEqual([]);
});
