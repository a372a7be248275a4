// When the money of a streamed answer is taken, and what a stream that breaks or is cut leaves its buyer with.
import { describe, expect, it } from "vitest";
import { createHeldBytes } from "../src/held.js";
import type { Capture, Head, Outcome } from "../src/request.js";
import { codeOf, createWorld, makeRequest, TRANSACTION, type World } from "./support/world.js";

const KEY = "retry-key-0123456789";
const HEAD: Head = { status: 200, headers: [["Content-Type", "text/event-stream"]] };

type Headers = Record<string, string>;

/** The run of a handler that is about to stream. */
async function admit(world: World, headers: Headers): Promise<{ readonly run: number; readonly capture: Capture }> {
  const verdict = await world.guard(makeRequest({ headers }));
  if (verdict.kind !== "admit") throw new Error(`not admitted but ${JSON.stringify(verdict)}`);
  return { run: verdict.payment.run, capture: verdict.capture };
}

const receiptOf = (outcome: Outcome): unknown => {
  const headers = outcome.kind === "deliver" ? outcome.headers : outcome.answer.headers;
  const value = headers.find(([name]) => name === "PAYMENT-RESPONSE")?.[1];
  return value && JSON.parse(atob(value));
};

describe("a streamed answer", () => {
  it("is paid before it flows, is delivered at its last byte, and is never kept", async () => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    const { capture } = await admit(world, headers);
    const outcome = await capture.streaming(HEAD);
    expect([outcome.kind, world.receiver.calls.settle]).toEqual(["deliver", 1]);
    expect(receiptOf(outcome)).toMatchObject({ success: true, transaction: TRANSACTION });
    // Far longer than a lease: the delivery goes on for as long as bytes flow.
    await world.clock.advance(300_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    await outcome.delivery.delivered();
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_already_used"]);
    expect(world.runs).toHaveLength(0);
  });

  it("that is cut off may be collected by one more run, not by one more payment", async () => {
    const world = createWorld();
    const headers = await world.sign({ retryKey: KEY });
    for (const run of [1, 2, 3]) {
      const admitted = await admit(world, headers);
      expect(admitted.run).toBe(run);
      const outcome = await admitted.capture.streaming(HEAD);
      expect(outcome.kind).toBe("deliver");
      expect(receiptOf(outcome)).toMatchObject({ transaction: TRANSACTION });
      await outcome.delivery.lost();
    }
    expect(world.receiver.calls.settle).toBe(1);
    // Three deliveries in all: whoever cuts off every one of them is not served without an end.
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_already_used"]);
  });

  it.each([
    ["refused", { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" } as const, 402],
    ["unknown", { outcome: "unknown", message: "lost" } as const, 503],
    ["not sent", { outcome: "unavailable", message: "no gas" } as const, 503],
  ])("whose settlement is %s is replaced", async (_, settlement, status) => {
    const world = createWorld();
    world.receiver.settlements.push(() => settlement);
    const { capture } = await admit(world, await world.sign());
    const outcome = await capture.streaming(HEAD);
    expect(outcome.kind === "replace" && outcome.answer.status).toBe(status);
  });

  it("of a failure is free, and its claim is held until the handler has ended", async () => {
    const world = createWorld({ terms: { maxTimeoutSeconds: 300 } });
    const headers = await world.sign();
    const { capture } = await admit(world, headers);
    const outcome = await capture.streaming({ status: 503, headers: [] });
    expect(outcome).toMatchObject({ kind: "deliver", headers: [] });
    await world.clock.advance(60_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    capture.ended();
    await world.clock.advance(0);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("of a failure whose handler has ended already gives the claim back at once", async () => {
    const world = createWorld();
    const headers = await world.sign();
    const { capture } = await admit(world, headers);
    capture.ended();
    await capture.streaming({ status: 404, headers: [] });
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("ends the handler's time when it begins", async () => {
    const world = createWorld({ terms: { handlerTimeoutMs: 1000 } });
    let late = false;
    const { capture } = await admit(world, await world.sign());
    void capture.timedOut.then(() => {
      late = true;
    });
    const outcome = await capture.streaming(HEAD);
    await world.clock.advance(10_000);
    expect([outcome.kind, late]).toEqual(["deliver", false]);
  });

  it("is no stream any more after its handler's time", async () => {
    const world = createWorld({ terms: { handlerTimeoutMs: 1000 } });
    const { capture } = await admit(world, await world.sign());
    await world.clock.advance(1000);
    const outcome = await capture.streaming(HEAD);
    expect(outcome.kind === "replace" && outcome.answer.status).toBe(504);
    expect(world.receiver.calls.settle).toBe(0);
  });
});

describe("upfront", () => {
  const terms = { flow: "upfront", handlerTimeoutMs: 600_000 } as const;

  it("streams with the receipt of the money that is there, however long the handler took", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    const { capture } = await admit(world, headers);
    // The payment has run out by now; it is paid, so the run still has the right to deliver.
    await world.clock.advance(300_000);
    const outcome = await capture.streaming(HEAD);
    expect(outcome.kind).toBe("deliver");
    expect(receiptOf(outcome)).toMatchObject({ success: true, transaction: TRANSACTION });
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("gives the receipt with a failure that streams, and the buyer one more run", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    const { capture } = await admit(world, headers);
    const outcome = await capture.streaming({ status: 500, headers: [] });
    expect(receiptOf(outcome)).toMatchObject({ success: true });
    capture.ended();
    await world.clock.advance(0);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("streams nothing where another process has taken the run over", async () => {
    const world = createWorld({ terms });
    const headers = await world.sign();
    const { capture } = await admit(world, headers);
    world.claims.renew = async () => undefined;
    const outcome = await capture.streaming(HEAD);
    expect(outcome.kind === "replace" && outcome.answer.status).toBe(503);
  });
});

describe("memory for held answers", () => {
  it("has a cap for each answer and one for all, and what was handed over counts no more", () => {
    const held = createHeldBytes(10, 15);
    const [first, second] = [held.open(), held.open()];
    expect([first.add(10), first.add(1), second.add(6), second.add(5)]).toEqual([true, false, false, true]);
    first.close();
    first.close();
    expect([second.add(5), second.add(1)]).toEqual([true, false]);
  });

  it("is given back by a stream as soon as it flows, not when it ends", async () => {
    const world = createWorld();
    const account = createHeldBytes(10, 10);
    Object.assign(world.context, { held: account });
    const { capture } = await admit(world, await world.sign());
    expect([capture.hold(10), account.open().add(1)]).toEqual([true, false]);
    await capture.streaming(HEAD);
    expect(account.open().add(1)).toBe(false);
    capture.flushed();
    expect(account.open().add(10)).toBe(true);
  });
});
