// Whatever is not a 402 passes through a paying fetch as if it were not there (F110, F111).
import { describe, expect, it } from "vitest";
import { flowBuyer } from "./flow-buyer.js";
import { useSellers } from "./scripted-seller.js";

const seller = useSellers();

/** A fetch that remembers how it was called. */
function recording(answer: () => Promise<Response>) {
  const calls: unknown[][] = [];
  const fetch = (async (...given: unknown[]) => {
    calls.push(given);
    return answer();
  }) as typeof globalThis.fetch;
  return { fetch, calls };
}

describe("a request that is not asked for money", () => {
  it("reaches the inner fetch by the caller's very input and init, and its response comes back itself (F111)", async () => {
    const response = new Response("free");
    const { fetch, calls } = recording(async () => response);
    const { pay } = flowBuyer({ fetch });
    const init = Object.freeze({ method: "POST", body: "text", headers: { a: "b" }, upgrade: "websocket" });
    const url = new URL("https://api.example/x");
    const request = new Request("https://api.example/y");
    expect(await pay(url, init)).toBe(response);
    expect(await pay(request)).toBe(response);
    expect(await pay("https://api.example/z", undefined)).toBe(response);
    expect(calls[0]?.[0]).toBe(url);
    expect(calls[0]?.[1]).toBe(init);
    expect(calls[1]?.[0]).toBe(request);
    expect(calls[1]?.[1]).toBeUndefined();
  });

  it.each(["a string", "FormData", "a Blob", "URLSearchParams", "an ArrayBuffer", "bytes"])(
    "with %s as its body is not looked into",
    async (kind) => {
      const form = new FormData();
      form.set("a", "b");
      const bodies: Record<string, NonNullable<RequestInit["body"]>> = {
        "a string": "text",
        FormData: form,
        "a Blob": new Blob(["blob"]),
        URLSearchParams: new URLSearchParams({ a: "b" }),
        "an ArrayBuffer": new ArrayBuffer(8),
        bytes: new Uint8Array(8),
      };
      const { fetch, calls } = recording(async () => new Response("free"));
      const init = { method: "POST", body: bodies[kind]! };
      await flowBuyer({ fetch }).pay("https://api.example/x", init);
      expect(calls[0]?.[1]).toBe(init);
    },
  );

  it("is byte for byte the request of the plain fetch (F110)", async () => {
    const shop = await seller(() => ({ status: 200, body: "free" }));
    const init = { method: "POST", headers: { accept: "text/plain" }, body: "text" };
    await fetch(shop.url, init);
    await flowBuyer().pay(shop.url, init);
    const [plain, paying] = shop.requests;
    expect(paying?.headers).toEqual(plain?.headers);
    expect(paying?.body).toEqual(plain?.body);
  });

  it("fails as the inner fetch fails, with the very error", async () => {
    const error = new TypeError("fetch failed");
    const { fetch } = recording(() => Promise.reject(error));
    await expect(flowBuyer({ fetch }).pay("https://api.example/x")).rejects.toBe(error);
    await expect(flowBuyer().pay("not a url")).rejects.toBeInstanceOf(TypeError);
    await expect(
      flowBuyer()
        .pay("data:text/plain,hello")
        .then((response) => response.text()),
    ).resolves.toBe("hello");
  });

  it("is redirected as ever, by the caller's own mode", async () => {
    const shop = await seller(({ path }) =>
      path === "/report" ? { status: 302, headers: { location: "/elsewhere" } } : { status: 200, body: path },
    );
    const { pay } = flowBuyer();
    expect(await (await pay(shop.url)).text()).toBe("/elsewhere");
    expect((await pay(shop.url, { redirect: "manual" })).status).toBe(302);
    await expect(pay(shop.url, { redirect: "error" })).rejects.toBeInstanceOf(TypeError);
  });

  it("keeps an answer of another status, a 4xx too", async () => {
    const shop = await seller(() => ({ status: 403, body: "no" }));
    const { pay, wallet } = flowBuyer();
    expect((await pay(shop.url)).status).toBe(403);
    expect(wallet.signed).toHaveLength(0);
  });

  it("that is aborted already is the inner fetch's to refuse", async () => {
    const shop = await seller();
    await expect(flowBuyer().pay(shop.url, { signal: AbortSignal.abort("changed my mind") })).rejects.toBe(
      "changed my mind",
    );
    expect(shop.requests).toHaveLength(0);
  });
});
