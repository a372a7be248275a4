// What goes wrong after a payment was accepted: the handler, its time, the settlement. No charge for a failed request, no
// goods without the money, no second bill while the outcome is open.
import type { Receiver, Settlement } from "../../receive/receiver.js";
import { fresh, type HttpCase, inShop, latch } from "./case.js";
import { REPLY_STYLES } from "./replies.js";
import { equal, GOODS } from "./shop.js";

/** The receiver with its settlements scripted: nothing is sent to the chain. */
const settling =
  (outcome: Settlement) =>
  (honest: Receiver): Receiver => ({
    ...honest,
    settle: async () => outcome,
    lookup: async () => ({ outcome: "unknown", message: "scripted" }),
  });

const FAILED_SETTLEMENTS: readonly { readonly outcome: Settlement; readonly status: number; readonly bill: boolean }[] =
  [
    {
      outcome: { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" },
      status: 402,
      bill: true,
    },
    { outcome: { outcome: "unavailable", message: "scripted" }, status: 503, bill: false },
    { outcome: { outcome: "unknown", message: "scripted" }, status: 503, bill: false },
  ];

export const FAILURE_CASES: readonly HttpCase[] = [
  inShop(
    "an answer of 400 or above is delivered as it is and not charged, and the payment stays good",
    {
      handler: (_, count) =>
        count < 3 ? { status: count === 1 ? 404 : 503, body: "sorry" } : { status: 200, body: GOODS },
    },
    async (shop) => {
      const payment = await shop.sign();
      const all = [await shop.buy(payment), await shop.buy(payment), await shop.buy(payment)];
      equal(
        all.map(({ status, text }) => [status, text]),
        [
          [404, "sorry"],
          [503, "sorry"],
          [200, GOODS],
        ],
      );
      equal(
        shop.runs.map(({ payment: seen }) => seen?.run),
        [1, 2, 3],
      );
      await shop.counted({ runs: 3, debits: 1, bodies: 1 });
    },
  ),

  inShop(
    "a handler that throws, at once or later, is a 500 that shows nothing and costs nothing, and the payment stays good",
    {
      handler: (_, count) => {
        if (count === 1) throw new Error("secret");
        return count === 2 ? Promise.reject(new Error("secret")) : { status: 200, body: GOODS };
      },
    },
    async (shop) => {
      const payment = await shop.sign();
      for (const _ of [1, 2]) {
        const got = await shop.settled(payment);
        equal([got.status, got.text.includes(GOODS), got.headers["payment-response"]], [500, false, undefined]);
      }
      await shop.counted({ runs: 2, debits: 0, bodies: 0 });
      equal((await shop.settled(payment)).text, GOODS);
      await shop.counted({ runs: 3, debits: 1, bodies: 1 });
    },
  ),

  inShop(
    "a stream that breaks before anything was delivered costs nothing",
    {
      handler: () => ({
        status: 200,
        headers: { "Content-Type": "text/plain" },
        // biome-ignore lint/correctness/useYield: it breaks before its first part.
        body: (async function* () {
          await Promise.resolve();
          throw new Error("broken");
        })(),
      }),
    },
    async (shop) => {
      const got = await shop.buy(await shop.sign()).catch(() => undefined);
      equal(got === undefined || got.status >= 500, true);
      await shop.counted({ runs: 1, debits: 0, bodies: 0 });
    },
  ),

  ...[
    { name: "answers", needs: undefined, late: async () => ({ status: 200, body: GOODS }) },
    {
      name: "throws",
      needs: undefined,
      late: async () => {
        throw new Error("late");
      },
    },
  ].map(({ name, late }) =>
    fresh(
      `a handler past its time is a 504 and no charge; what it ${name} too late is dropped, then the payment is good again`,
      () => {
        const finish = latch();
        return inShop(
          "late",
          {
            needs: "late end",
            // Also all the time of the second run, which is not to be late.
            handlerTimeoutMs: 600,
            handler: (_, count) => (count === 1 ? finish.opened.then(late) : { status: 200, body: GOODS }),
          },
          async (shop) => {
            const payment = await shop.sign();
            const got = await shop.buy(payment);
            equal([got.status, got.json.code, got.text.includes(GOODS)], [504, "handler_timeout", false]);
            // Invariant: no second run beside one that still goes on.
            equal((await shop.buy(payment)).json.code, "payment_in_progress");
            finish.open();
            equal((await shop.settled(payment)).text, GOODS);
            await shop.counted({ runs: 2, debits: 1, bodies: 1 });
          },
        );
      },
    ),
  ),

  ...FAILED_SETTLEMENTS.flatMap(({ outcome, status, bill }) =>
    REPLY_STYLES.map(({ name, reply }) =>
      inShop(
        `where the settlement is ${outcome.outcome}, not one byte of an answer that is ${name} gets out`,
        { receive: settling(outcome), handler: reply },
        async (shop) => {
          const got = await shop.buy(await shop.sign());
          equal([got.status, got.headers["x-goods"], got.headers.location], [status, undefined, undefined]);
          equal([got.text.includes(GOODS), got.headers["payment-required"] !== undefined], [false, bill]);
          await shop.counted({ runs: 1, debits: 0, bodies: 0 });
        },
      ),
    ),
  ),
];
