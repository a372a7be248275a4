// Bodies: the money moves at the real end of an answer and never before; a request's body reaches the handler whatever
// parser stands where; ranges and conditions of a request buy no second answer.
import express from "express";
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS } from "../e2e/seller.js";
import { ask, signFor } from "./buyer.js";
import { openShop, type Shop, type ShopHandler } from "./shop.js";

let shop: Shop | undefined;
afterEach(async () => {
  await shop?.close();
  shop = undefined;
});
const settles = (at: Shop) => at.remote.requests.filter(({ endpoint }) => endpoint === "settle").length;

function latch() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe.each(FRAMEWORKS)("bodies on %s", (framework) => {
  it("F54: nothing is settled before an asynchronous handler has answered, and nothing for one that rejects late", async () => {
    const started = latch();
    const finish = latch();
    let seen: number | undefined;
    const slow: ShopHandler = async () => {
      started.open();
      await finish.opened;
      seen = shop && settles(shop);
      return { headers: { "content-type": "application/json" }, body: '{"report":1}' };
    };
    const rejecting: ShopHandler = async () => {
      await finish.opened;
      throw new Error("too late");
    };
    shop = await openShop(framework, {
      routes: [
        { path: "/slow", handler: slow },
        { path: "/rejecting", handler: rejecting },
      ],
    });
    const first = ask(`${shop.url}/slow`, await signFor(`${shop.url}/slow`));
    const second = ask(`${shop.url}/rejecting`, await signFor(`${shop.url}/rejecting`));
    await started.opened;
    finish.open();
    const [slept, rejected] = await Promise.all([first, second]);
    expect([slept.status, slept.body, seen, rejected.status]).toEqual([200, '{"report":1}', 0, 500]);
    expect([settles(shop), shop.remote.settled.size]).toEqual([1, 1]);
  });

  it("F55: a payment for one range buys no other range, and a condition of the buyer's cache buys the whole answer", async () => {
    const file = "0123456789".repeat(100);
    const handler: ShopHandler = ({ headers }) => {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
      if (headers["if-none-match"] === '"v1"') return { status: 304, body: "" };
      if (from === undefined) return { headers: { etag: '"v1"' }, body: file };
      if (Number(from) >= file.length) return { status: 416, body: "" };
      const body = file.slice(Number(from), Number(to) + 1);
      return { status: 206, headers: { "content-range": `bytes ${from}-${to}/${file.length}` }, body };
    };
    shop = await openShop(framework, { routes: [{ path: "/film", handler }] });
    const url = `${shop.url}/film`;
    const payment = await signFor(url);
    const first = await ask(url, { headers: { ...payment.headers, range: "bytes=0-99" } });
    expect([first.status, first.body.length]).toEqual([206, 100]);
    const next = await ask(url, { headers: { ...payment.headers, range: "bytes=100-199" } });
    expect([next.status, next.json.code, shop.runs.length]).toEqual([409, "payment_already_used", 1]);

    const beyond = await ask(url, { headers: { ...(await signFor(url)).headers, range: "bytes=5000-5001" } });
    expect([beyond.status, settles(shop)]).toEqual([416, 1]);
    const cached = await ask(url, { headers: { ...(await signFor(url)).headers, "if-none-match": '"v1"' } });
    expect([cached.status, cached.body, settles(shop)]).toEqual([200, file, 2]);
  });
});

describe.each(["Express 5", "Express 4"] as const)("parsers in front of the paywall on %s", (framework) => {
  const limit = "2mb";
  const sizes: Record<string, string> = { "0 B": "", "1 B": "1", "1 MB": `"${"x".repeat(1_000_000)}"` };
  it.each([
    ["none", [], "text/plain"],
    ["json()", [express.json({ limit, strict: false })], "application/json"],
    ["urlencoded()", [express.urlencoded({ limit, extended: true })], "application/x-www-form-urlencoded"],
    ["raw()", [express.raw({ limit, type: "*/*" })], "application/octet-stream"],
    ["text()", [express.text({ limit, type: "*/*" })], "text/plain"],
  ] as const)("F61: with %s a paid POST of no, one and a million bytes is answered", async (_name, before, type) => {
    shop = await openShop(framework, { before });
    const url = `${shop.url}/report`;
    for (const [name, body] of Object.entries(sizes)) {
      const payment = await signFor(url);
      const got = await ask(url, { method: "POST", headers: { ...payment.headers, "content-type": type }, body });
      expect([name, got.status, got.body]).toEqual([name, 200, "the goods"]);
    }
    expect(settles(shop)).toBe(3);
  });
});

it("F57: the guard, the price and the handler read one body, byte by byte the same", async () => {
  for (const framework of FRAMEWORKS) {
    const bodies: string[] = [];
    const price = async (request: { body(limit: number): Promise<Uint8Array | undefined> }) => {
      for (let read = 0; read < 2; read += 1) bodies.push(new TextDecoder().decode(await request.body(4096)));
      return "$0.01";
    };
    const opened = await openShop(framework, { routes: [{ path: "/echo", price, handler: ({ body }) => ({ body }) }] });
    const sent = '{"text":"é\\u0000 報告 \\n"}';
    const headers = { "content-type": "application/json" };
    const payment = await signFor(`${opened.url}/echo`, {}, { method: "POST", headers, body: sent });
    const got = await ask(`${opened.url}/echo`, {
      method: "POST",
      headers: { ...payment.headers, ...headers },
      body: sent,
    });
    expect([got.status, got.body]).toEqual([200, sent]);
    expect(new Set(bodies)).toEqual(new Set([sent]));
    await opened.close();
  }
});
