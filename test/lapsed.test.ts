// A process that has slept through its lease, or has lost the store for so long, holds nothing any more: its buyer may have been asked for
// another payment, and the chain may have told what became of this one. What it does then decides nothing.
import { describe, expect, it } from "vitest";
import type { Finality, Settlement } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import { broken, codeOf, createWorld, type Handler, ok, scriptedReceiver, TRANSACTION } from "./support/world.js";

const RETRY = { retryKey: "retry-key-0123456789" };

/** A store that can be away. */
function storeOf(clock: ReturnType<typeof createFakeClock>) {
  const inner = memoryStore({}, clock);
  const state = { away: false };
  const ask = <Result>(to: () => Promise<Result>): Promise<Result> =>
    state.away ? Promise.reject(new Error("the store is away")) : to();
  const store: Store = {
    ...inner,
    read: (...asked) => ask(() => inner.read(...asked)),
    commit: (...asked) => ask(() => inner.commit(...asked)),
  };
  return { store, state };
}

/** A handler that goes on when a test says so. */
function held(answer: Handler = ok) {
  let goOn = () => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const handler: Handler = async (payment) => {
    await waiting;
    return answer(payment);
  };
  return { handler, goOn: () => goOn() };
}

/** Two processes of one seller: the clock of the first stands still. */
function twoProcesses(finality?: Finality) {
  const [asleep, awake] = [createFakeClock(), createFakeClock()];
  const store = memoryStore({}, awake);
  const open = (clock: typeof awake) => {
    const evidence = finality && { evidence: "chain" as const, finality: async () => finality };
    return createWorld({ clock, store, receiver: Object.assign(scriptedReceiver(), evidence) });
  };
  return { sleeper: open(asleep), other: open(awake) };
}

describe("a claim whose lease is over", () => {
  it("takes no money when the store was away for so long: its buyer was asked for another payment", async () => {
    const clock = createFakeClock();
    const { store, state } = storeOf(clock);
    const world = createWorld({ clock, store });
    const headers = await world.sign(RETRY);
    const { handler, goOn } = held();
    const first = world.send({ headers, client: "leaves" }, handler);
    await settle();
    state.away = true;
    await clock.advance(16_000);
    state.away = false;
    await clock.advance(8_000);
    expect(codeOf(await world.send({ headers }))).toEqual([402, "payment_expires_too_soon"]);
    const second = await world.send({ headers: await world.sign({ retryKey: "retry-key-9876543210" }) });
    expect(second.answer.status).toBe(200);
    goOn();
    expect(codeOf(await first)).toEqual([503, "settlement_unavailable"]);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("takes no money when its process was asleep", async () => {
    const { sleeper, other } = twoProcesses();
    const headers = await sleeper.sign();
    const { handler, goOn } = held();
    const first = sleeper.send({ headers }, handler);
    await settle();
    await other.clock.advance(16_000);
    other.receiver.verification = { outcome: "invalid", code: "insufficient_funds" };
    expect(codeOf(await other.send({ headers }))).toEqual([402, "insufficient_funds"]);
    goOn();
    expect(codeOf(await first)).toEqual([503, "settlement_unavailable"]);
    expect(sleeper.receiver.calls.settle).toBe(0);
  });

  it("is sold again to the same buyer, who pays once", async () => {
    const { sleeper, other } = twoProcesses();
    const headers = await sleeper.sign(RETRY);
    const { handler, goOn } = held();
    const first = sleeper.send({ headers }, handler);
    await settle();
    await other.clock.advance(16_000);
    goOn();
    expect(codeOf(await first)).toEqual([503, "settlement_unavailable"]);
    expect((await other.send({ headers })).answer.status).toBe(200);
    expect([sleeper.receiver.calls.settle, other.receiver.calls.settle]).toEqual([0, 1]);
  });
});

describe("what the chain has shown of a payment stays when its late holder", () => {
  const STANDS: Finality = { outcome: "settled", transaction: TRANSACTION, height: 7 };

  /** His settlement is asleep, somebody else has sent the payment, and the chain was asked. */
  async function found() {
    const { sleeper, other } = twoProcesses(STANDS);
    let answer = (_: Settlement) => {};
    sleeper.receiver.settlements.push(
      () =>
        new Promise<Settlement>((resolve) => {
          answer = resolve;
        }),
    );
    const headers = await sleeper.sign(RETRY);
    const first = sleeper.send({ headers });
    await settle();
    await other.clock.advance(13_000);
    other.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    other.context.lookups.watch();
    await other.clock.advance(2_000);
    other.receiver.verification = { outcome: "used" };
    const record = async () => (await other.claims.peek(sleeper.runs[0]?.proofId ?? "")).record;
    expect(await record()).toMatchObject({ settlement: "settled", final: false });
    return { first, headers, other, record, answer: (late: Settlement) => answer(late) };
  }

  it.each<[string, Settlement]>([
    ["could send nothing", { outcome: "unavailable", message: "the node is away" }],
    ["was refused", { outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" }],
    ["knows nothing", { outcome: "unknown", message: "the answer was lost" }],
  ])("%s: the buyer has the goods", async (_what, late) => {
    const { first, headers, other, record, answer } = await found();
    answer(late);
    expect(codeOf(await first)).toEqual([503, "settlement_unknown"]);
    expect(await record()).toMatchObject({ settlement: "settled", final: false });
    expect((await other.send({ headers })).answer.status).toBe(200);
    other.context.lookups.close();
  });

  it("has a handler that fails at last: the buyer has the goods", async () => {
    const { sleeper, other } = twoProcesses(STANDS);
    const { handler, goOn } = held(broken);
    const headers = await sleeper.sign(RETRY);
    const first = sleeper.send({ headers }, handler);
    await settle();
    other.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
    other.context.lookups.watch();
    await other.clock.advance(45_000);
    goOn();
    expect((await first).answer.status).toBe(500);
    other.receiver.verification = { outcome: "used" };
    expect((await other.send({ headers })).answer.status).toBe(200);
    other.context.lookups.close();
  });
});
