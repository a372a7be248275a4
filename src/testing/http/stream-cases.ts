// Answers that are streams: paid before their first byte, then as the handler makes them; what breaks after that is not
// refunded, but a buyer who lost the answer may collect it by one more run.
import { fresh, type HttpCase, inShop, type Latch, latch } from "./case.js";
import { openConnection } from "./client.js";
import type { Reply } from "./framework.js";
import { equal, GOODS, RETRY_KEY } from "./shop.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const events = (body: AsyncIterable<Uint8Array>): Reply => ({
  status: 200,
  headers: { "Content-Type": "text/event-stream" },
  body,
});

/** One event at once, the second when `next` opens. `stopped` opens when the stream is over, however that came. */
async function* twoEvents(next: Latch, stopped: Latch): AsyncGenerator<Uint8Array> {
  try {
    yield bytes("data: first\n\n");
    await next.opened;
    yield bytes(`data: ${GOODS}\n\n`);
  } finally {
    stopped.open();
  }
}

/** Without an end, so that only its reader's leaving can stop it. */
async function* endless(stopped: Latch): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      yield bytes("data: again and again\n\n".repeat(100));
      await new Promise(setImmediate);
    }
  } finally {
    stopped.open();
  }
}

async function* broken(when: Latch): AsyncGenerator<Uint8Array> {
  yield bytes("data: first\n\n");
  await when.opened;
  throw new Error("the source broke");
}

export const STREAM_CASES: readonly HttpCase[] = [
  fresh("an event reaches the buyer, paid, while the handler still works on the next one", () => {
    const [next, stopped] = [latch(), latch()];
    return inShop("events", { handler: () => events(twoEvents(next, stopped)) }, async (shop) => {
      const payment = await shop.sign();
      const connection = openConnection(shop.port);
      try {
        const answer = connection.ask("/paid", { headers: { ...payment.headers, Connection: "close" } });
        await connection.seen("data: first");
        await shop.counted({ runs: 1, debits: 1, bodies: 0 });
        next.open();
        const got = await answer;
        equal([got.status, got.text], [200, `data: first\n\ndata: ${GOODS}\n\n`]);
        await stopped.opened;
      } finally {
        connection.hangUp();
      }
      await shop.counted({ runs: 1, debits: 1, bodies: 0 });
    });
  }),

  fresh("a client that leaves in the middle stops the source, is charged once, and may collect by another run", () => {
    const stopped = latch();
    const handler = (_: unknown, count: number): Reply =>
      count === 1 ? events(endless(stopped)) : { status: 200, body: GOODS };
    return inShop("leaves", { handler }, async (shop) => {
      const payment = await shop.sign({ retryKey: RETRY_KEY });
      const connection = openConnection(shop.port);
      const first = connection.ask("/paid", { headers: payment.headers }).catch(() => "gone");
      await connection.seen("data: again");
      connection.hangUp();
      equal(await first, "gone");
      await stopped.opened;
      equal((await shop.settled(payment)).text, GOODS);
      await shop.counted({ runs: 2, debits: 1, bodies: 1 });
    });
  }),

  fresh("a stream that breaks in the middle is cut off for its buyer, who may collect by another run", () => {
    const now = latch();
    const handler = (_: unknown, count: number): Reply =>
      count === 1 ? events(broken(now)) : { status: 200, body: GOODS };
    return inShop("breaks", { handler }, async (shop) => {
      const payment = await shop.sign({ retryKey: RETRY_KEY });
      const connection = openConnection(shop.port);
      const cut = connection.ask("/paid", { headers: payment.headers }).catch(() => "cut off");
      await connection.seen("data: first");
      now.open();
      equal(await cut, "cut off");
      equal((await shop.settled(payment)).text, GOODS);
      await shop.counted({ runs: 2, debits: 1, bodies: 1 });
    });
  }),
];
