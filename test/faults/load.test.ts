// Under load: each receipt is its own payer's, and what a million strangers leave behind is nothing.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { FRAMEWORKS } from "../e2e/seller.js";
import { createWorld, makeRequest } from "../support/world.js";
import { type Market, newBuyer, openMarket, receiptOf } from "./market.js";

let market: Market | undefined;
afterEach(async () => {
  await market?.close();
  market = undefined;
});
/** 10,000 of each in CI; `FULL=1` for the million. */
const STRANGERS = process.env.FULL === "1" ? 1_000_000 : 10_000;
/** What they may leave behind: of so few, 20 MB would hide a leak of a kilobyte each. */
const MOST_MB = process.env.FULL === "1" ? 20 : 4;

describe.each(FRAMEWORKS)("500 buyers at once on %s", (framework) => {
  it("A45: get each a receipt of their own, over one connection to the facilitator's answers in any order", async () => {
    market = await openMarket(framework);
    const { sign, buy, seller } = market;
    const buyers = Array.from({ length: 500 }, newBuyer);
    seller.handler = ({ payment }) => ({ status: 200, body: String(payment?.payer) });
    const payments = await Promise.all(buyers.map((account) => sign("/report", { account })));
    const all = await Promise.all(payments.map((payment) => buy(payment)));
    expect(all.map(({ status }) => status)).toEqual(buyers.map(() => 200));
    expect(all.map(({ body }) => body)).toEqual(buyers.map(({ address }) => address));
    const receipts = all.map(receiptOf);
    expect(receipts.map(({ payer }) => payer)).toEqual(buyers.map(({ address }) => address));
    const own = payments.map(({ message }) =>
      market?.remote.settled.get(`${message.from}:${message.nonce}`.toLowerCase()),
    );
    expect(receipts.map(({ transaction }) => transaction)).toEqual(own);
  }, 60_000);
});

it(`F112: ${STRANGERS} unpaid requests and as many forged payments leave less than ${MOST_MB} MB behind`, async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const world = createWorld();
  world.receiver.verification = { outcome: "invalid", code: "signature_invalid" };
  const text = (await world.sign())["PAYMENT-SIGNATURE"] ?? "";
  const signed = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
  const forged = (at: number) => {
    signed.payload.authorization.nonce = `0x${at.toString(16).padStart(64, "0")}`;
    return Buffer.from(JSON.stringify(signed)).toString("base64");
  };
  const strangers = async (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) {
      const unpaid = await world.guard(makeRequest({ target: `/report?stranger=${at}` }));
      const paid = await world.guard(makeRequest({ headers: { "PAYMENT-SIGNATURE": forged(at) } }));
      if (unpaid.kind !== "refuse" || paid.kind !== "refuse") throw new Error("a stranger was served");
      // What a test's world writes down for itself is no memory of the paywall.
      world.log.length = 0;
    }
  };
  // Compiled code and bounded caches fill up first; what grows beyond them is a leak.
  await strangers(0, 2000);
  collect();
  const before = process.memoryUsage().heapUsed;
  await strangers(2000, STRANGERS);
  collect();
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(MOST_MB);
  expect(world.receiver.calls.settle).toBe(0);
}, 600_000);
