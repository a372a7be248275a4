// Requests without a payment, or with what is none: what they are told, and that no handler runs for them.
import { type HttpCase, inShop } from "./case.js";
import { equal, GOODS } from "./shop.js";

const decode = (value: string | undefined): Record<string, unknown> =>
  JSON.parse(atob(value ?? "")) as Record<string, unknown>;

export const UNPAID_CASES: readonly HttpCase[] = [
  inShop("one 402 carries the challenge of both versions and must not be stored", {}, async (shop) => {
    for (const method of ["GET", "POST", "PUT"]) {
      const got = await shop.ask("/paid?q=1", { method, ...(method !== "GET" && { body: "a question" }) });
      const v2 = decode(got.headers["payment-required"]);
      const url = `http://127.0.0.1:${shop.port}/paid?q=1`;
      equal([got.status, got.headers["cache-control"]], [402, "no-store"]);
      equal([got.json.x402Version, v2.x402Version], [1, 2]);
      const [v1Offer] = got.json.accepts as Record<string, string>[];
      const [v2Offer] = v2.accepts as Record<string, string>[];
      for (const offer of [v1Offer, v2Offer]) equal(offer?.payTo?.toLowerCase(), shop.payTo);
      equal([v1Offer?.maxAmountRequired, v1Offer?.resource], ["10000", url]);
      equal([v2Offer?.amount, (v2.resource as { url: string }).url], ["10000", url]);
    }
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop("a payment header that cannot be read is a 400 and no new bill", {}, async (shop) => {
    for (const headers of [{ "X-PAYMENT": "%%%" }, { "PAYMENT-SIGNATURE": btoa("[]") }]) {
      const got = await shop.ask("/paid", { headers });
      equal([got.status, got.headers["payment-required"], got.json.accepts], [400, undefined, undefined]);
    }
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop("HEAD gets the 402 without a body, with and without a payment", {}, async (shop) => {
    const payment = await shop.sign();
    for (const headers of [{}, payment.headers]) {
      const got = await shop.ask("/paid", { method: "HEAD", headers });
      equal([got.status, got.text, got.headers["payment-required"] === undefined], [402, "", false]);
    }
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop("OPTIONS gets 204 with the payment headers allowed, with and without a payment", {}, async (shop) => {
    const payment = await shop.sign();
    for (const headers of [{}, payment.headers]) {
      const preflight = { Origin: "https://page.test", "Access-Control-Request-Method": "GET", ...headers };
      const got = await shop.ask("/paid", { method: "OPTIONS", headers: preflight });
      equal([got.status, got.text], [204, ""]);
      equal(/payment-signature/i.test(got.headers["access-control-allow-headers"] ?? ""), true);
    }
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop("a free route answers without a payment, by the handler alone", {}, async (shop) => {
    const got = await shop.ask("/free");
    equal([got.status, got.text, got.headers["payment-response"]], [200, GOODS, undefined]);
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  inShop(
    "headers that the app set before stand in the 402 too, lists joined and not doubled",
    {
      needs: "middleware",
      headersBefore: {
        "Access-Control-Allow-Origin": "https://page.test",
        "Access-Control-Expose-Headers": "X-Foo",
        Vary: "Origin",
      },
    },
    async (shop) => {
      const unpaid = await shop.ask("/paid");
      const paid = await shop.buy(await shop.sign());
      equal([unpaid.status, paid.status], [402, 200]);
      for (const { headers } of [unpaid, paid]) {
        equal(headers["access-control-allow-origin"], "https://page.test");
        const exposed = (headers["access-control-expose-headers"] ?? "").toLowerCase().split(/[,\n]\s*/);
        equal(exposed.filter((name) => name === "x-foo").length, 1);
        equal(exposed.filter((name) => name === "payment-response").length, 1);
        equal(/(^|, )origin(,|$)/i.test(headers.vary ?? ""), true);
      }
    },
  ),
];
