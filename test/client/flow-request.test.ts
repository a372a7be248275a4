// The paid try is the caller's own request in everything but the payment; and no answer that nobody reads holds a connection.
import { describe, expect, it, vi } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { challengeV2, evm } from "./challenges.js";
import { fakeWeb, leadsTo } from "./fake-web.js";
import { type FlowOptions, flowBuyer } from "./flow-buyer.js";
import { asks, goods, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const REQUIRED = encodeHeader(challengeV2([evm()]));
const URL_ = "https://api.example/report";

/** A shop that shows how it was called. */
function calls() {
  const seen: [string, RequestInit][] = [];
  const fetch = (async (url: string, init: RequestInit = {}) => {
    seen.push([url, init]);
    if (new Headers(init.headers).has("payment-signature")) return new Response("the goods");
    return new Response("{}", { status: 402, headers: { "PAYMENT-REQUIRED": REQUIRED } });
  }) as typeof globalThis.fetch;
  return { fetch, paid: () => seen[1]!, seen };
}

describe("the paid try", () => {
  it("has the caller's method, headers and options, and what fetch is not to do with a proof", async () => {
    const { fetch, paid } = calls();
    const { signal } = new AbortController();
    const own = { dispatcher: { own: true }, keepalive: true, credentials: "include", cache: "no-store" } as const;
    const headers = new Headers({ accept: "text/plain", authorization: "Bearer" });
    await flowBuyer({ fetch }).pay(URL_, { method: "patch", headers, signal, ...(own as object) });
    const [url, init] = paid();
    expect(url).toBe(URL_);
    expect(init).toMatchObject({ method: "patch", redirect: "manual", signal, ...own });
    expect("body" in init).toBe(false);
    const sent = Object.fromEntries(new Headers(init.headers));
    expect(sent).toMatchObject({
      accept: "text/plain",
      authorization: "Bearer",
      "payment-signature": expect.any(String),
    });
    expect([...headers.keys()]).toEqual(["accept", "authorization"]);
  });

  it("has those of a Request, and of an init that is one; init goes before", async () => {
    const request = new Request(URL_, {
      method: "PUT",
      body: "text",
      headers: { accept: "text/plain" },
      credentials: "omit",
      mode: "same-origin",
      referrerPolicy: "no-referrer",
    });
    const { fetch, paid } = calls();
    await flowBuyer({ fetch }).pay(request, { credentials: "include" });
    expect(paid()[0]).toBe(URL_);
    const options = { method: "PUT", mode: "same-origin", referrerPolicy: "no-referrer" };
    expect(paid()[1]).toMatchObject({ ...options, credentials: "include", signal: request.signal });
    expect(new Headers(paid()[1].headers).get("accept")).toBe("text/plain");

    const again = calls();
    const init = new Request(URL_, { credentials: "omit", headers: { accept: "text/plain" } });
    await flowBuyer({ fetch: again.fetch }).pay(URL_, init);
    expect(again.paid()[1]).toMatchObject({ credentials: "omit" });
    expect(new Headers(again.paid()[1].headers).get("accept")).toBe("text/plain");
  });

  it("takes the headers of init in place of a Request's, as fetch does", async () => {
    const shop = await seller();
    const request = new Request(shop.url, { headers: { "x-a": "request" } });
    await flowBuyer().pay(request, { headers: { "x-b": "init" } });
    for (const { headers } of shop.requests) expect([headers["x-a"], headers["x-b"]]).toEqual([undefined, "init"]);
  });

  it("goes out over a URL object, a HEAD too", async () => {
    const shop = await seller(({ proof }) => (proof ? { ...goods(), body: "" } : { ...asks(), body: "" }));
    expect((await flowBuyer().pay(new URL(shop.url), { method: "HEAD" })).status).toBe(200);
    expect(shop.requests.map(({ method }) => method)).toEqual(["HEAD", "HEAD"]);
  });
});

describe("in a browser", () => {
  it.each([
    ["https://shop.example", false],
    ["https://api.example", true],
  ])("on a page of %s the retry key has a header of its own: %s", async (origin, own) => {
    vi.stubGlobal("document", { baseURI: `${origin}/page` });
    vi.stubGlobal("location", { origin, href: `${origin}/page` });
    try {
      const { fetch, paid, seen } = calls();
      await flowBuyer({ fetch }).pay(own ? "/report" : URL_);
      expect(new Headers(paid()[1].headers).has("idempotency-key")).toBe(own);
      expect(seen.map(([url]) => url)).toEqual([own ? "/report" : URL_, URL_]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

describe("a 402 that nobody reads to its end lets its connection go", () => {
  /** Answers with a body that never ends. */
  function endless(headers: Record<string, string>, url?: string) {
    let cancelled = 0;
    const body = () =>
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
        cancel: () => {
          cancelled += 1;
        },
      });
    const fetch = (async () => {
      const response = new Response(body(), { status: 402, headers });
      return url ? Object.defineProperties(response, { url: { value: url }, redirected: { value: true } }) : response;
    }) as typeof globalThis.fetch;
    return { fetch, cancelled: () => cancelled };
  }
  const required = { "PAYMENT-REQUIRED": REQUIRED };
  const paths: [string, FlowOptions, Record<string, string>, string?][] = [
    ["over_cap", { budget: { perRequest: "$0.001", perDay: "$1" } }, required],
    ["host_not_allowed", { hosts: ["other.example"] }, required],
    ["redirected", {}, required, "https://other.example/"],
    ["not_approved", { approve: () => false }, required],
    ["challenge_invalid", {}, { "PAYMENT-REQUIRED": "!" }],
    ["challenge_too_large", {}, {}],
    ["payment_refused", {}, required],
    ["no_payable_offer", { networks: ["base"] }, required],
  ];

  it.each(paths)("%s", async (code, options, headers, url) => {
    const { fetch, cancelled } = endless(headers, url);
    const paid = flowBuyer({ ...options, fetch }).pay(URL_);
    await expect(paid).rejects.toMatchObject({ code });
    await vi.waitFor(() => expect(cancelled()).toBe(code === "payment_refused" ? 2 : 1), { timeout: 10_000 });
  });

  it("also in a quote, and on the way of a redirect", async () => {
    const { fetch, cancelled } = endless(required);
    await flowBuyer({ fetch }).pay.quote(URL_);
    await vi.waitFor(() => expect(cancelled()).toBe(1), { timeout: 10_000 });
    const end = endless(required);
    const web = fakeWeb({
      [URL_]: ({ headers }) =>
        headers.has("payment-signature")
          ? leadsTo("https://api.example/elsewhere")
          : new Response("{}", { status: 402, headers: required }),
    });
    const joined = (async (url: string, init: RequestInit) =>
      url.endsWith("elsewhere") ? end.fetch(url, init) : web.fetch(url, init)) as typeof globalThis.fetch;
    await expect(flowBuyer({ fetch: joined }).pay(URL_)).rejects.toMatchObject({ code: "redirected" });
    await vi.waitFor(() => expect(end.cancelled()).toBe(1), { timeout: 10_000 });
  });
});
