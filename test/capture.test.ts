// When the money is taken, and what becomes of a settlement whose outcome is refused, lost or unknown.
import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import { broken, codeOf, createWorld, type Handler, ok, TRANSACTION } from "./support/world.js";

const KEY = "retry-key-0123456789";

describe("the answer of the handler decides", () => {
  it.each([400, 404, 500, 503])("status %d: nothing is taken and the answer goes through as it is", async (status) => {
    const world = createWorld();
    const sent = await world.send({ headers: await world.sign() }, () => ({
      status,
      headers: [["X-A", "b"]],
      body: "no",
    }));
    expect([sent.answer.status, sent.header("X-A"), sent.header("PAYMENT-RESPONSE")]).toEqual([status, "b", undefined]);
    expect(world.receiver.calls.settle).toBe(0);
  });

  it("status 204 and 302 are goods", async () => {
    for (const status of [204, 302]) {
      const world = createWorld();
      await world.send({ headers: await world.sign() }, () => ({ status, headers: [], body: "" }));
      expect(world.receiver.calls.settle).toBe(1);
    }
  });

  it("too late: 504, nothing is taken, and the claim is free only when the handler has ended", async () => {
    const world = createWorld({ terms: { handlerTimeoutMs: 1000, maxTimeoutSeconds: 300 } });
    const headers = await world.sign();
    let finish = () => {};
    const slow: Handler = (payment) => new Promise((resolve) => (finish = () => resolve(ok(payment) as never)));
    const first = world.send({ headers }, slow);
    await world.clock.advance(1000);
    expect(codeOf(await first)).toEqual([504, "handler_timeout"]);
    await world.clock.advance(60_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    finish();
    await world.clock.advance(0);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([2, 1]);
  });

  it("although the client has gone: the money is taken, and the buyer's retry gets the goods", async () => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    await world.send({ headers, client: "leaves" });
    expect(world.receiver.calls.settle).toBe(1);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });
});

describe("a settlement", () => {
  it("that is refused hides the goods and invites a new payment", async () => {
    const world = createWorld();
    world.receiver.settlements.push(() => ({
      outcome: "refused",
      code: "insufficient_funds",
      reason: "insufficient_funds",
    }));
    const sent = await world.send({ headers: await world.sign() });
    expect(codeOf(sent)).toEqual([402, "insufficient_funds"]);
    expect(JSON.stringify(sent.answer)).not.toContain("the goods");
  });

  it("that could not be sent leaves the proof good, and counts no run against it", async () => {
    const world = createWorld({ limits: { unchargedRunsPerProof: 1 } });
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unavailable", message: "no gas" }));
    expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unavailable"]);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("boom"))],
    ["says it does not know", () => ({ outcome: "unknown", message: "lost", transaction: TRANSACTION }) as const],
  ])("that %s is unknown: 503, the receipt says pending, never a new bill", async (_what, settlement) => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settlements.push(settlement);
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    expect(sent.json().payment).toBe("unknown");
    expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
    expect(JSON.parse(atob(sent.header("PAYMENT-RESPONSE") ?? ""))).toMatchObject({
      errorReason: "settlement_pending",
    });
  });

  it("that hangs is unknown past its deadline, and counts once its late answer comes", async () => {
    const world = createWorld();
    const headers = await world.sign();
    let answer = () => {};
    world.receiver.settlements.push(
      (proof) =>
        new Promise(
          (resolve) => (answer = () => resolve({ outcome: "settled", transaction: TRANSACTION, payer: proof.payer })),
        ),
    );
    const first = world.send({ headers });
    await world.clock.advance(11_000);
    expect(codeOf(await first)).toEqual([503, "settlement_unknown"]);
    answer();
    await world.clock.advance(1000);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });

  it("that is unknown is looked up in the background until it is decided", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    world.receiver.lookups = [
      { outcome: "unknown", message: "not yet" },
      { outcome: "settled", transaction: TRANSACTION },
    ];
    await world.send({ headers });
    await world.clock.advance(30_000);
    const looked = world.receiver.calls.lookup;
    expect(looked).toBe(2);
    await world.clock.advance(60_000);
    expect(world.receiver.calls.lookup).toBe(looked);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("is written down as settling before the receiver is asked, with the transaction before it leaves", async () => {
    const world = createWorld();
    const seen: unknown[] = [];
    world.receiver.settlements.push(async (proof, context) => {
      seen.push((await world.claims.peek(proof.id)).record?.settlement);
      await context.sending(TRANSACTION);
      seen.push((await world.claims.peek(proof.id)).record?.trace.transaction);
      return { outcome: "settled", transaction: TRANSACTION, payer: proof.payer };
    });
    await world.send({ headers: await world.sign() });
    expect(seen).toEqual(["settling", TRANSACTION]);
  });

  it("whose result cannot be stored gives no goods", async () => {
    const clock = createFakeClock();
    const inner = memoryStore({}, clock);
    let broken = false;
    const store: Store = {
      ...inner,
      commit: async (transaction) => (broken ? Promise.reject(new Error("down")) : inner.commit(transaction)),
    };
    const world = createWorld({ clock, store });
    const headers = await world.sign();
    world.receiver.settlements.push((proof) => {
      broken = true;
      return { outcome: "settled", transaction: TRANSACTION, payer: proof.payer };
    });
    world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    const sent = await world.send({ headers });
    expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
    broken = false;
    await clock.advance(13_000);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });
});

describe("upfront", () => {
  const terms = { flow: "upfront" as const };

  it("settles before the handler runs, shows the transaction to it, and says so in the offer", async () => {
    const world = createWorld({ terms });
    const unpaid = await world.send({});
    expect(JSON.parse(atob(unpaid.header("PAYMENT-REQUIRED") ?? "")).accepts[0].extra.paymentFlow).toBe("upfront");
    let settledBefore = 0;
    const sent = await world.send({ headers: await world.sign() }, (payment) => {
      settledBefore = world.receiver.calls.settle;
      return ok(payment);
    });
    expect([sent.answer.status, settledBefore, sent.payment?.transaction]).toEqual([200, 1, TRANSACTION]);
  });

  it("gives the receipt with a failed answer, and the buyer's retry runs again without a new charge", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    const failed = await world.send({ headers }, broken);
    expect(failed.answer.status).toBe(500);
    expect(JSON.parse(atob(failed.header("PAYMENT-RESPONSE") ?? ""))).toMatchObject({ success: true });
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([2, 1]);
  });

  it("never runs the handler for a settlement that is unknown, and serves once it is known", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unknown"]);
    expect(world.runs).toHaveLength(0);
    world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    await world.clock.advance(1000);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });
});
