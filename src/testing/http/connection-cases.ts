// Connections and bodies: a client that leaves, an old client, one that asks twice, large uploads, parsers, conditions.
import { fresh, type HttpCase, inShop, latch } from "./case.js";
import { openConnection } from "./client.js";
import type { SiteHandler } from "./framework.js";
import { equal, GOODS, RETRY_KEY } from "./shop.js";

/** Answers with the length and the last bytes of what it read. */
const echo: SiteHandler = async (run) => {
  const body = await run.body();
  return { status: 200, headers: { "Content-Type": "text/plain" }, body: `${body.length} ${body.slice(-20)}` };
};

const UPLOAD = `${"x".repeat(4 * 1024 * 1024)} the last of it`;
const TEXT = { "Content-Type": "text/plain" };

export const CONNECTION_CASES: readonly HttpCase[] = [
  fresh("a client that leaves during the handler is charged for the answer, which its retry gets", () => {
    const finish = latch();
    return inShop(
      "gone",
      { handler: () => finish.opened.then(() => ({ status: 200, headers: TEXT, body: GOODS })) },
      async (shop) => {
        const payment = await shop.sign({ retryKey: RETRY_KEY });
        const connection = openConnection(shop.port);
        const first = connection.ask("/paid", { headers: payment.headers }).catch(() => "gone");
        await shop.ran(1);
        connection.hangUp();
        equal(await first, "gone");
        finish.open();
        equal((await shop.settled(payment)).text, GOODS);
        await shop.counted({ runs: 1, debits: 1, bodies: 1 });
      },
    );
  }),

  inShop(
    "a connection is of use after a 402, also where the body of the refused request was not read",
    {},
    async (shop) => {
      const payments = [await shop.sign(), await shop.sign()];
      const connection = openConnection(shop.port);
      try {
        for (const payment of payments) {
          const unpaid = await connection.ask("/paid", { method: "POST", body: "a question", headers: TEXT });
          equal(unpaid.status, 402);
          const paid = await connection.ask("/paid", { headers: payment.headers });
          equal([paid.status, paid.text], [200, GOODS]);
        }
      } finally {
        connection.hangUp();
      }
      await shop.counted({ runs: 2, debits: 2, bodies: 0 });
    },
  ),

  inShop("a client of HTTP/1.0 is billed and served, and its connection ends", {}, async (shop) => {
    const unpaid = await shop.ask("/paid", { version: "1.0", headers: { Connection: "close" } });
    equal([unpaid.status, unpaid.json.x402Version], [402, 1]);
    const got = await shop.buy(await shop.sign(), "/paid", { version: "1.0" });
    equal([got.status, got.text, got.headers["transfer-encoding"]], [200, GOODS, undefined]);
    await shop.counted({ runs: 1, debits: 1, bodies: 1 });
  }),

  inShop(
    "a condition of the request does not cost the buyer the answer",
    { handler: (run) => conditions(run) },
    async (shop) => {
      const headers = { "If-None-Match": "*", "If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT" };
      const got = await shop.buy(await shop.sign(), "/paid", { headers });
      equal([got.status, got.text], [200, "none none"]);
      await shop.counted({ runs: 1, debits: 1, bodies: 1 });
    },
  ),

  inShop("a paid upload of 4 MiB reaches the handler to its last byte", { handler: echo }, async (shop) => {
    const got = await shop.buy(await shop.sign(), "/paid", { method: "POST", body: UPLOAD, headers: TEXT });
    equal([got.status, got.text], [200, `${UPLOAD.length} ${UPLOAD.slice(-20)}`]);
    await shop.counted({ runs: 1, debits: 1, bodies: 1 });
  }),

  inShop("an unpaid upload of 4 MiB is told the price and reaches no handler", { handler: echo }, async (shop) => {
    const got = await shop.ask("/paid", { method: "POST", body: UPLOAD, headers: TEXT });
    equal([got.status, got.json.x402Version], [402, 1]);
    await shop.counted({ runs: 0, debits: 0, bodies: 0 });
  }),

  ...([undefined, "before", "after"] as const).map((parser) =>
    inShop(
      `a body read by ${parser ? `a parser ${parser} the paywall` : "the handler alone"} is there, and another body is another request`,
      { handler: echo, ...(parser && { parser, needs: `parser ${parser}` as const }) },
      async (shop) => {
        const payment = await shop.sign({ retryKey: RETRY_KEY });
        const got = await shop.buy(payment, "/paid", { method: "POST", body: "a question", headers: TEXT });
        equal([got.status, got.text], [200, "10 a question"]);
        const other = await shop.buy(payment, "/paid", { method: "POST", body: "another one", headers: TEXT });
        // A parser that was first has the bytes: then the retry key stands in for them.
        const expected = parser === "before" ? [200, "true"] : [402, undefined];
        equal([other.status, other.headers["payment-replayed"]], expected);
        await shop.counted({ runs: 1, debits: 1, bodies: parser === "before" ? 2 : 1 });
      },
    ),
  ),
];

const conditions: SiteHandler = (run) => ({
  status: 200,
  headers: { ...TEXT, ETag: '"1"' },
  body: `${run.header("if-none-match") ?? "none"} ${run.header("if-modified-since") ?? "none"}`,
});
