// A settled payment that comes again where another price is asked: at another shop behind the same store, or because the
// price depends on the request. What it has bought it may still collect; what it has not paid for it never gets.
import { describe, expect, it } from "vitest";
import type { PaywallRequest } from "../src/request.js";
import { keepUntil, type ProofRecord } from "../src/store/record.js";
import { broken, codeOf, createWorld, ok, PAY_TO, type WorldOptions } from "./support/world.js";

const ETH = { amount: "1000", asset: "native", network: "base-sepolia" } as const;
const DEAR = { ...ETH, amount: "50000" } as const;
const KEY = "retry-key-0123456789";
const OTHER = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
const SEPOLIA = "eip155:84532";

/** Two shops of one process: they share the store, the clock and the path. */
function twoShops(cheap: WorldOptions, dear: WorldOptions) {
  const first = createWorld(cheap);
  const { store, clock, receiver } = first;
  return { first, second: createWorld({ ...dear, store, clock, receiver }) };
}

describe("a payment of one shop at another one with the same path", () => {
  it.each([ETH, DEAR])("opens nothing where it is another seller who would be robbed of %j", async (price) => {
    const { first, second } = twoShops({ price: ETH }, { price, terms: { payTo: { [SEPOLIA]: OTHER } } });
    const headers = await first.show({ key: "sender/1" });
    expect((await first.send({ headers }, broken)).answer.status).toBe(500);
    const got = await second.send({ headers });
    expect([codeOf(got), second.runs]).toEqual([[409, "payment_already_used"], []]);
  });

  it("opens nothing where more is asked, and says that another price stands against it", async () => {
    const { first, second } = twoShops({ price: ETH }, { price: DEAR });
    const headers = await first.show({ key: "sender/1" });
    await first.send({ headers }, broken);
    const got = await second.send({ headers });
    expect([codeOf(got), second.runs]).toEqual([[409, "payment_already_used"], []]);
    expect(got.json().expected).toContain("another price");
    expect((await first.send({ headers })).answer.status).toBe(200);
  });

  it("opens nothing where another asset is asked, of which fewer units would do", async () => {
    const { first, second } = twoShops({ price: ETH }, { price: "$0.0005" });
    const headers = await first.show({ key: "sender/1" });
    await first.send({ headers }, broken);
    const got = await second.send({ headers });
    expect([codeOf(got), second.runs]).toEqual([[409, "payment_already_used"], []]);
  });

  it("is one answer by an authorization too, when its buyer left and comes with other headers", async () => {
    const { first, second } = twoShops({ price: "$0.01" }, { price: "$5" });
    const headers = await first.sign({ retryKey: KEY });
    await first.send({ headers, client: "leaves" });
    const got = await second.send({ headers: { ...headers, accept: "text/other" } });
    expect([codeOf(got), second.runs]).toEqual([[409, "payment_already_used"], []]);
  });
});

describe("a price that depends on the request", () => {
  const byHeader = ({ header }: PaywallRequest) => (header("x-fresh") ? DEAR : ETH);

  it("is not got round by paying for the cheap request and repeating it as the dear one", async () => {
    const world = createWorld({ price: byHeader });
    const headers = await world.show({ key: "sender/1" });
    await world.send({ headers }, broken);
    const got = await world.send({ headers: { ...headers, "x-fresh": "1" } });
    expect([codeOf(got), world.runs.length]).toEqual([[409, "payment_already_used"], 1]);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("gives no run to a request that it now refuses, only the answer that is kept", async () => {
    let refused = false;
    const price = () => {
      if (refused) throw Object.assign(new Error("not today"), { status: 403 });
      return ETH;
    };
    const world = createWorld({ price });
    const failed = await world.show({ key: "sender/1" });
    await world.send({ headers: failed }, broken);
    const lost = await world.show({ key: "sender/2" });
    await world.send({ headers: lost, client: "leaves" });
    refused = true;
    expect(codeOf(await world.send({ headers: failed }))).toEqual([409, "payment_already_used"]);
    const { answer } = await world.send({ headers: lost });
    expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([200, "the goods"]);
    expect(world.runs).toHaveLength(2);
  });

  it("that has fallen since lets a payment of the old price collect what it paid for", async () => {
    let price: typeof ETH | typeof DEAR = DEAR;
    const world = createWorld({ price: () => price });
    const headers = await world.show({ key: "sender/1" });
    await world.send({ headers }, broken);
    price = ETH;
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("that has changed before a transaction is shown leaves its amount to the receiver, which reads the bytes", async () => {
    let price: typeof ETH | typeof DEAR = DEAR;
    const world = createWorld({ price: () => price });
    const headers = await world.show({ key: "sender/1" });
    price = ETH;
    expect((await world.send({ headers })).payment).toMatchObject({ amount: 1000n });
    const other = await world.show({ key: "sender/2" }, { accepted: { payTo: OTHER } });
    expect(codeOf(await world.send({ headers: other }))).toEqual([402, "offer_mismatch"]);
  });
});

it("lets a paid handler that fails run a hundred times in ten minutes and no more, and keeps the payment good", async () => {
  const world = createWorld({ price: ETH, limits: { unchargedRunsPerPayer: 5 } });
  const headers = await world.show({ key: "sender/1" });
  const codes = [];
  for (let i = 0; i < 8; i++) codes.push((await world.send({ headers }, broken)).answer.status);
  expect(codes).toEqual([500, 500, 500, 500, 500, 429, 429, 429]);
  expect(world.runs).toHaveLength(5);
  const waiting = await world.send({ headers }, ok);
  expect(waiting.json()).toMatchObject({ code: "too_many_failures", payment: "settled" });
  await world.clock.advance(600_001);
  expect((await world.send({ headers }, ok)).answer.status).toBe(200);
  expect(world.receiver.calls.settle).toBe(1);
});

describe("how long a transaction is remembered", () => {
  const HOUR = 3_600_000;
  const trace = { method: "transaction", validBefore: 1_000_000, payTo: PAY_TO };
  const record = (more: object) => ({ settlement: "settled", delivery: "delivered", trace, ...more }) as ProofRecord;
  const late = 1_000_000_000 + 30 * HOUR;

  it("covers its whole age and finality from the moment at which it is delivered, however late it was mined", () => {
    expect(keepUntil(record({}), late)).toBe(late + 35 * 60_000);
  });

  it("ends a day after its time where it was never mined, and not while somebody is settling it", () => {
    expect(keepUntil(record({ settlement: "unknown" }), 0)).toBe(1_000_000_000 + 20 * 60_000 + 24 * HOUR);
    expect(keepUntil(record({ settlement: "settling" }), 0)).toBeGreaterThan(late * 1000);
  });

  it("is for ever in the case of an authorization whose fate is unknown", () => {
    const authorization = { ...trace, method: "eip3009" };
    expect(keepUntil(record({ settlement: "unknown", trace: authorization as never }), 0)).toBeGreaterThan(late * 1000);
  });
});

it.each(["payment_secret_required", "payment_unreferenced", "payment_too_old", "payment_too_low"] as const)(
  "never lets a lookup pay for a transaction that was refused with %s",
  async (code) => {
    const world = createWorld({ price: ETH });
    world.receiver.settlements.push(() => ({ outcome: "refused", code, reason: "duplicate_settlement" }));
    world.receiver.lookups.push({ outcome: "settled", transaction: `0x${"12".repeat(32)}` });
    const headers = await world.show({ key: "sender/1" });
    expect(codeOf(await world.send({ headers }))).toEqual([409, code]);
    await world.clock.advance(2_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, code]);
    expect([world.runs, world.receiver.calls.lookup]).toEqual([[], 0]);
  },
);
