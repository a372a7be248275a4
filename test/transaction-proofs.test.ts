// Transactions as proofs, in the guard: identity, secrets, the store's memory, and the money that always moves first. What a
// receiver finds on its chain is scripted here; test/chains has the real ones.
import { describe, expect, it } from "vitest";
import { findNetwork } from "../src/networks.js";
import type { Price } from "../src/price.js";
import { memoryStore } from "../src/store/memory.js";
import { decodeHeader } from "../src/wire/header.js";
import { createFakeClock } from "./support/fake-clock.js";
import { broken, codeOf, createWorld, PAY_TO, PAYER, TRANSACTION, type WorldOptions } from "./support/world.js";

const ETH = { amount: "1000", asset: "native", network: "base-sepolia" } as const;
const SECRET = `0x${"ab".repeat(32)}`;
const shop = (options: WorldOptions = {}) => createWorld({ price: ETH, ...options });
const receiptOf = (text: string | undefined) => decodeHeader(text ?? "");

describe("the offer of a transaction", () => {
  it("spells the chain's own currency for the wire, is upfront, and says how it is paid", async () => {
    const unpaid = await shop().send({});
    expect(decodeHeader(unpaid.header("PAYMENT-REQUIRED") ?? "")).toMatchObject({
      ok: true,
      value: {
        accepts: [
          {
            amount: "1000",
            asset: `0x${"0".repeat(40)}`,
            extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
          },
        ],
      },
    });
  });

  it("stands last, and in a v1 body only where there is nothing else to choose", async () => {
    const both = await shop({ price: [ETH, "$0.01"] }).send({});
    expect(both.json().accepts).toMatchObject([{ maxAmountRequired: "10000" }]);
    const header = decodeHeader(both.header("PAYMENT-REQUIRED") ?? "");
    expect(header).toMatchObject({ value: { accepts: [{ amount: "10000" }, { amount: "1000" }] } });
    expect((await shop().send({})).json().accepts).toMatchObject([{ maxAmountRequired: "1000" }]);
  });

  it("is no price for a receiver that takes none, and says which one does", async () => {
    const world = shop();
    const { receiver } = world;
    const bare = createWorld({ price: ETH, receiver: Object.assign(receiver, { methods: ["eip3009"] }) });
    expect(codeOf(await bare.send({}))).toEqual([500, "price_invalid"]);
    expect(bare.log.join()).toContain("receive with local()");
  });
});

describe("a transaction that is shown", () => {
  it("is settled before the handler runs, which sees payer, asset and transaction", async () => {
    const world = shop();
    const sent = await world.send({ headers: await world.show({ key: "sender/1" }) });
    expect(sent.answer.status).toBe(200);
    expect(sent.payment).toMatchObject({ payer: PAYER, asset: "native", amount: 1000n, transaction: TRANSACTION });
    expect(world.receiver.calls).toMatchObject({ verify: 1, settle: 1 });
  });

  it("leaves a settled proof when the handler fails, which its buyer uses again without paying", async () => {
    const world = shop();
    const headers = await world.show({ key: "sender/1" });
    expect((await world.send({ headers }, broken)).answer.status).toBe(500);
    const again = await world.send({ headers });
    expect(again.answer.status).toBe(200);
    expect(again.payment).toMatchObject({ payer: PAYER, run: 2 });
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("is one proof in whatever form it comes: the identity decides, not the bytes", async () => {
    const world = shop();
    const first = await world.send({ headers: await world.show({ key: "sender/1" }) });
    const other = await world.send({ headers: await world.show({ key: "sender/1", note: "the same in other bytes" }) });
    expect(first.answer.status).toBe(200);
    expect(codeOf(other)).toEqual([409, "payment_already_used"]);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("is another payment on another chain: sender and nonce say nothing without it", async () => {
    const networks = ["base-sepolia", "arbitrum-sepolia"].map((name) => findNetwork(name)!);
    const payTo = Object.fromEntries(networks.map(({ id }) => [id, PAY_TO]));
    const price = [ETH, { ...ETH, network: "arbitrum-sepolia" }];
    const world = shop({ price, terms: { networks, payTo } });
    for (const { id } of networks) {
      const headers = await world.show({ key: "sender/1" }, { accepted: { network: id } });
      expect((await world.send({ headers })).answer.status).toBe(200);
    }
    expect(world.receiver.calls.settle).toBe(2);
  });

  it("buys nothing for a stranger who shows the public bytes without the secret", async () => {
    const world = shop();
    const own = await world.show({ key: "sender/1" }, { secret: SECRET });
    expect((await world.send({ headers: own, client: "leaves" })).answer.status).toBe(200);
    // A real receiver now sees it on the chain.
    world.receiver.verification = { outcome: "invalid", code: "payment_secret_required" };
    const stranger = await world.send({ headers: await world.show({ key: "sender/1" }) });
    expect(codeOf(stranger)).toEqual([409, "payment_secret_required"]);
    expect((await world.send({ headers: own })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("is refused when it was mined before the store's memory begins", async () => {
    const clock = createFakeClock();
    const world = shop({ clock, store: memoryStore({}, clock) });
    world.receiver.verification = { outcome: "valid", payer: PAYER, minedAt: clock.now() - 1 };
    const headers = await world.show({ key: "sender/1" }, { secret: SECRET });
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_too_old"]);
    world.receiver.verification = { outcome: "valid", payer: PAYER, minedAt: clock.now() };
    const later = await world.show({ key: "sender/2" }, { secret: SECRET });
    expect((await world.send({ headers: later })).answer.status).toBe(200);
  });

  it("is judged anew where the store's memory began anew after it was verified", async () => {
    const world = shop();
    const { receiver, store, clock } = world;
    receiver.verification = { outcome: "valid", payer: PAYER, minedAt: clock.now() };
    const headers = await world.show({ key: "sender/1" }, { secret: SECRET });
    const verify = receiver.verify.bind(receiver);
    receiver.verify = async (...args) => {
      const verdict = await verify(...args);
      if (receiver.calls.verify > 1) return verdict;
      await clock.advance(1_000);
      await store.close();
      return verdict;
    };
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_too_old"]);
    expect(receiver.calls).toMatchObject({ verify: 2, settle: 0 });
  });

  it("is remembered for longer than it can be shown as new", async () => {
    const world = shop();
    const headers = await world.show({ key: "sender/1" }, { secret: SECRET });
    await world.send({ headers });
    const minedAt = world.clock.now();
    await world.clock.advance(15 * 60_000);
    world.receiver.verification = { outcome: "valid", payer: PAYER, minedAt };
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_already_used"]);
  });

  it("needs as many blocks as its price says, or else its route", async () => {
    const sold: unknown[] = [];
    for (const price of [ETH, { ...ETH, confirmations: 12 }]) {
      const world = shop({ price, terms: { confirmations: 3 } });
      world.receiver.settlements.push(({ requirement, payer }) => {
        sold.push("confirmations" in requirement && requirement.confirmations);
        return { outcome: "settled", transaction: TRANSACTION, payer };
      });
      expect((await world.send({ headers: await world.show({ key: "sender/1" }) })).answer.status).toBe(200);
    }
    expect(sold).toEqual([3, 12]);
  });

  it("that more came by than the price says so in the receipt of v2", async () => {
    const world = shop();
    world.receiver.settlements.push(() => ({
      outcome: "settled",
      transaction: TRANSACTION,
      payer: PAYER,
      received: 1_500n,
    }));
    const sent = await world.send({ headers: await world.show({ key: "sender/1" }, { secret: SECRET }) });
    expect(receiptOf(sent.header("PAYMENT-RESPONSE"))).toMatchObject({ value: { success: true, amount: "1500" } });
  });

  it("whose outcome is unknown tells its buyer how to cancel, and never bills anew", async () => {
    const world = shop();
    world.receiver.settlements.push(() => ({ outcome: "unknown", transaction: TRANSACTION, message: "not mined" }));
    const headers = await world.show({ key: "sender/1" });
    const first = await world.send({ headers });
    expect(codeOf(first)).toEqual([503, "settlement_unknown"]);
    expect(first.json().expected).toContain("same account nonce");
    await world.clock.advance(1_000);
    world.receiver.lookups.push({ outcome: "settled", transaction: TRANSACTION });
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("can be followed by another one with the same account nonce once the first can never land", async () => {
    const world = shop();
    world.receiver.settlements.push(() => ({ outcome: "unknown", transaction: TRANSACTION, message: "not mined" }));
    const first = await world.show({ key: "sender/1" });
    await world.send({ headers: first });
    await world.clock.advance(1_000);
    world.receiver.lookups.push({ outcome: "expired" });
    expect(codeOf(await world.send({ headers: first }))).toEqual([402, "payment_expired"]);
    const faster = await world.show({ key: "sender/1", note: "a higher fee" });
    expect((await world.send({ headers: faster })).answer.status).toBe(200);
  });

  it("takes the place of one with its account nonce whose outcome is unknown, as soon as it is mined itself", async () => {
    const world = shop();
    world.receiver.settlements.push(() => ({ outcome: "unknown", transaction: TRANSACTION, message: "not mined" }));
    const first = await world.show({ key: "sender/1" });
    await world.send({ headers: first });
    await world.clock.advance(1_000);
    const faster = await world.show({ key: "sender/1", note: "a higher fee" }, { secret: SECRET });
    expect(codeOf(await world.send({ headers: faster }))).toEqual([503, "settlement_unknown"]);
    world.receiver.verification = { outcome: "valid", payer: PAYER, minedAt: world.clock.now() };
    await world.clock.advance(3_000);
    expect((await world.send({ headers: faster })).answer.status).toBe(200);
    expect(codeOf(await world.send({ headers: first }))).not.toEqual([200, undefined]);
    expect(world.runs).toHaveLength(1);
  });

  it("is settled by a receiver that knows when the store's memory begins, so that it is asked again where the money is", async () => {
    const world = shop();
    const begins: unknown[] = [];
    world.receiver.settlements.push((_proof, { since }) => {
      begins.push(since);
      return { outcome: "refused", code: "payment_too_old", reason: "duplicate_settlement" };
    });
    const headers = await world.show({ key: "sender/1" }, { secret: SECRET });
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_too_old"]);
    expect(begins).toEqual([(await world.claims.peek("none")).since]);
  });

  it("takes the place of nothing that was granted, whatever a node says was mined", async () => {
    const world = shop();
    const first = await world.send({ headers: await world.show({ key: "sender/1" }) });
    expect(first.answer.status).toBe(200);
    world.receiver.verification = { outcome: "valid", payer: PAYER, minedAt: world.clock.now() };
    const other = await world.show({ key: "sender/1", note: "another one" }, { secret: SECRET });
    expect(codeOf(await world.send({ headers: other }))).toEqual([409, "payment_already_used"]);
    expect(world.runs).toHaveLength(1);
  });

  it("is answered by what the store knows after the price has changed", async () => {
    let price: Price = ETH;
    const world = shop({ price: () => price, terms: { replayMs: 0 } });
    const headers = await world.show({ key: "sender/1" });
    expect((await world.send({ headers, client: "leaves" })).answer.status).toBe(200);
    price = { ...ETH, amount: "500" };
    const again = await world.send({ headers });
    expect(again.answer.status).toBe(200);
    expect(again.payment).toMatchObject({ amount: 1000n, payer: PAYER });
  });
});

it("looks for so many invented ids at once, and neither bytes nor what comes later are shut out by them", async () => {
  const world = shop();
  const identify = world.receiver.identify?.bind(world.receiver);
  if (!identify) throw new Error("the receiver reads no transactions");
  const slow: (() => void)[] = [];
  world.receiver.identify = async (...args) => {
    if (args[0].transaction.length <= 90) await new Promise<void>((resolve) => slow.push(resolve));
    return identify(...args);
  };
  const show = async (key: string, note?: string) => world.show({ key, ...(note && { note }) });
  const asked = await Promise.all(Array.from({ length: 32 }, (_, i) => show(`id/${i}`)));
  const waiting = asked.map((headers) => world.send({ headers }));
  await expect.poll(() => slow.length).toBe(32);
  expect(codeOf(await world.send({ headers: await show("id/32") }))).toEqual([503, "receiver_unreachable"]);
  const bytes = await world.send({ headers: await show("bytes", "as long as a transaction ".repeat(6)) });
  expect(bytes.answer.status).toBe(200);
  for (const answer of slow) answer();
  await Promise.all(waiting);
  const later = world.send({ headers: await show("id/33") });
  await expect.poll(() => slow.length).toBe(33);
  slow[32]?.();
  expect((await later).answer.status).toBe(200);
});

it("refuses an authorization for an offer of a transaction, and the reverse", async () => {
  const world = shop({ price: ["$0.01", ETH] });
  const signed = await world.sign({ accepted: {} });
  expect((await world.send({ headers: signed })).answer.status).toBe(200);
  const unpaid = decodeHeader((await world.send({})).header("PAYMENT-REQUIRED") ?? "");
  const [accepted = {}] = (unpaid as { value: { accepts: Record<string, unknown>[] } }).value.accepts;
  const wrong = await world.send({ headers: await world.show({ key: "sender/1" }, { accepted }) });
  expect(codeOf(wrong)).toEqual([402, "offer_mismatch"]);
  expect(world.receiver.calls.settle).toBe(1);
});
