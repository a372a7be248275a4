// Paid requests that go well, and the same payment sent again: one run, one debit, and goods for nobody but the buyer.

import { fresh, type HttpCase, inShop } from "./case.js";
import { readReceiptHeader } from "./receipt.js";
import { REPLY_STYLES } from "./replies.js";
import { equal, GOODS, RETRY_KEY } from "./shop.js";

export const PAID_CASES: readonly HttpCase[] = [
  ...([1, 2] as const).map((version) =>
    inShop(
      `a payment of version ${version} buys the answer and its receipt, and the handler knows the payer`,
      {},
      async (shop) => {
        const payment = await shop.sign({ version });
        const got = await shop.buy(payment);
        equal([got.status, got.text], [200, GOODS]);
        const receipt = readReceiptHeader(got, version);
        equal([receipt.success, receipt.payer], [true, payment.message.from]);
        equal(/private/.test(got.headers["cache-control"] ?? ""), true);
        equal([shop.runs[0]?.payment?.payer, shop.runs[0]?.payment?.run], [payment.message.from, 1]);
        await shop.counted({ runs: 1, debits: 1, bodies: 1 });
      },
    ),
  ),

  ...REPLY_STYLES.map(({ name, reply, body }) =>
    inShop(`an answer that is ${name} arrives whole and as it was given`, { handler: reply }, async (shop) => {
      const got = await shop.buy(await shop.sign());
      const { status } = reply();
      equal([got.status, got.text === body, got.headers["x-goods"]], [status, true, GOODS]);
      equal(readReceiptHeader(got, 2).success, true);
      await shop.counted({ runs: 1, debits: 1, bodies: status < 300 ? 1 : 0 });
    }),
  ),

  inShop("one payment twenty times at once buys one answer", {}, async (shop) => {
    const payment = await shop.sign();
    const all = await Promise.all(Array.from({ length: 20 }, () => shop.buy(payment)));
    equal(
      all.map(({ status }) => status).filter((status) => status !== 409),
      [200],
    );
    await shop.counted({ runs: 1, debits: 1, bodies: 1 });
  }),

  inShop(
    "the same request with its retry key gets the same answer again, marked, and is not charged again",
    {},
    async (shop) => {
      for (const version of [1, 2] as const) {
        const payment = await shop.sign({ retryKey: `${RETRY_KEY}-${version}`, version });
        const [first, second] = [await shop.buy(payment), await shop.buy(payment)];
        equal([first.status, first.text, first.headers["payment-replayed"]], [200, GOODS, undefined]);
        equal([second.status, second.text, second.headers["payment-replayed"]], [200, GOODS, "true"]);
      }
      await shop.counted({ runs: 2, debits: 2, bodies: 4 });
    },
  ),

  inShop(
    "a delivered payment buys nothing without its key, on another route or by another method",
    {},
    async (shop) => {
      const payment = await shop.sign();
      equal((await shop.buy(payment)).status, 200);
      const again = await shop.buy(payment);
      equal(
        [again.status, again.json.code, again.headers["payment-required"]],
        [409, "payment_already_used", undefined],
      );
      for (const [path, method] of [
        ["/other", "GET"],
        ["/paid", "POST"],
      ] as const) {
        const got = await shop.buy(payment, path, { method });
        equal([got.status, got.json.code], [402, "payment_used_elsewhere"]);
      }
      await shop.counted({ runs: 1, debits: 1, bodies: 1 });
    },
  ),

  fresh("upfront takes the money before the handler, which may fail and run again without another debit", () => {
    return inShop(
      "upfront",
      { handler: (_, count) => (count === 1 ? { status: 500, body: "sorry" } : { status: 200, body: GOODS }) },
      async (shop) => {
        const payment = await shop.sign({ path: "/upfront" });
        const failed = await shop.buy(payment, "/upfront");
        equal([failed.status, readReceiptHeader(failed, 2).success], [500, true]);
        await shop.counted({ runs: 1, debits: 1, bodies: 0 });
        equal((await shop.buy(payment, "/upfront")).text, GOODS);
        equal(
          shop.runs.map(({ payment: seen }) => [seen?.run, seen?.transaction === undefined]),
          [
            [1, false],
            [2, false],
          ],
        );
        await shop.counted({ runs: 2, debits: 1, bodies: 1 });
      },
    );
  }),
];
