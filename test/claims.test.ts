// Verification and claims: one run for one proof, bounded claims for one payer, the fence between processes.
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import type { Settlement } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  BUYER,
  broken,
  codeOf,
  createWorld,
  type Handler,
  makeRequest,
  ok,
  scriptedReceiver,
  TRANSACTION,
  type World,
  type WorldOptions,
} from "./support/world.js";

describe("verification", () => {
  it("that the chain shows as used gets 409 without offers: this store never saw the proof", async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "used" };
    const sent = await world.send({ headers: await world.sign() });
    expect(codeOf(sent)).toEqual([409, "payment_already_used"]);
    expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
    expect(world.runs).toHaveLength(0);
  });

  it.each(["receiver_unreachable", "receiver_bad_response", "receiver_auth"] as const)(
    "that fails with %s leaves the proof good",
    async (code) => {
      const world = createWorld();
      const headers = await world.sign();
      world.receiver.verification = { outcome: "unavailable", code, message: "scripted" };
      const sent = await world.send({ headers });
      expect(sent.answer.status).toBe(code === "receiver_bad_response" ? 502 : 503);
      expect(sent.header("Retry-After")).toBeDefined();
      world.receiver.verification = undefined;
      expect((await world.send({ headers })).answer.status).toBe(200);
    },
  );

  it("happens once for copies that arrive together, and one of them gets the goods", async () => {
    const world = createWorld();
    const headers = await world.sign();
    const all = await Promise.all(Array.from({ length: 50 }, () => world.send({ headers })));
    expect(all.filter(({ answer }) => answer.status === 200)).toHaveLength(1);
    expect(all.filter(({ answer }) => answer.status === 409)).toHaveLength(49);
    expect([world.runs.length, world.receiver.calls.settle, world.receiver.calls.verify]).toEqual([1, 1, 1]);
  });

  it("checks a signature once for a handler that fails twice and then works, and charges once", async () => {
    const world = createWorld();
    const headers = await world.sign();
    for (const handler of [broken, broken, ok]) {
      await world.send({ headers }, handler);
      await world.clock.advance(5000);
    }
    expect(world.receiver.calls).toMatchObject({ signatures: 1, settle: 1 });
    expect(world.runs.map(({ run }) => run)).toEqual([1, 2, 3]);
  });

  it("of a forged copy does not spoil the true proof, and is not remembered", async () => {
    const world = createWorld();
    const headers = await world.sign();
    const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as { payload: { signature: string } };
    payload.payload.signature = `0x${"22".repeat(65)}`;
    const forged = { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) };
    for (let round = 0; round < 3; round += 1)
      expect(codeOf(await world.send({ headers: forged }))).toEqual([402, "signature_invalid"]);
    expect(world.receiver.calls.verify).toBe(3);
    expect((await world.send({ headers })).answer.status).toBe(200);
  });

  it("of one proof says nothing of another one on the same terms, in the same block", async () => {
    const world = createWorld();
    expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
    const stranger = privateKeyToAccount(`0x${"5".repeat(64)}`);
    const headers = await world.sign({ account: stranger, authorization: { from: BUYER.address } });
    expect(codeOf(await world.send({ headers }))).toEqual([402, "signature_invalid"]);
    expect(world.runs).toHaveLength(1);
  });

  it("writes nothing to the store for a proof that did not pass", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    let commits = 0;
    const counting: Store = {
      ...store,
      commit: (transaction) => store.commit(transaction).finally(() => (commits += 1)),
    };
    const world = createWorld({ clock, store: counting });
    world.receiver.verification = { outcome: "invalid", code: "insufficient_funds" };
    await world.send({ headers: await world.sign() });
    expect(commits).toBe(0);
  });
});

describe("claims", () => {
  it("happen once too over a store that can only be read and then written to", async () => {
    const clock = createFakeClock();
    const memory = memoryStore({}, clock);
    let conflicts = 0;
    const store: Store = {
      ...memory,
      async commit(transaction) {
        const result = await memory.commit(transaction);
        if (result === "conflict") conflicts += 1;
        return result;
      },
    };
    // Two processes: the copies at one of them wait for one verification, and do not come to the store in the same moment.
    const worlds = [createWorld({ clock, store }), createWorld({ clock, store })];
    const headers = (await worlds[0]?.sign()) ?? {};
    const sent = worlds.flatMap((world) => Array.from({ length: 25 }, () => world.send({ headers })));
    const all = await Promise.all(sent);
    expect(all.filter(({ answer }) => answer.status === 200)).toHaveLength(1);
    const sum = (count: (world: World) => number) => worlds.reduce((all, world) => all + count(world), 0);
    expect([sum(({ runs }) => runs.length), sum(({ receiver }) => receiver.calls.settle)]).toEqual([1, 1]);
    expect(conflicts).toBeGreaterThan(0);
  });

  it("are never more in sum than the payer holds", async () => {
    const world = createWorld();
    world.receiver.verification = { outcome: "valid", payer: BUYER.address, balance: 25_000n };
    const waiting: (() => void)[] = [];
    const slow: Handler = (payment) => new Promise((resolve) => waiting.push(() => resolve(ok(payment) as never)));
    const proofs = [await world.sign(), await world.sign(), await world.sign()];
    const sent = proofs.map((headers) => world.send({ headers }, slow));
    expect(codeOf(await (sent[2] as (typeof sent)[number]))).toEqual([429, "too_many_payments"]);
    for (const finish of waiting) finish();
    expect((await Promise.all(sent)).map(({ answer }) => answer.status)).toEqual([200, 200, 429]);
  });

  it("are never more for a payer than the limit", async () => {
    const world = createWorld({ limits: { openClaimsPerPayer: 2 } });
    const never: Handler = () => new Promise(() => {});
    for (let open = 0; open < 2; open += 1) void world.send({ headers: await world.sign() }, never);
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([429, "too_many_payments"]);
  });

  it("that end uncharged three times close the proof", async () => {
    const world = createWorld();
    const headers = await world.sign();
    for (let run = 0; run < 3; run += 1) expect((await world.send({ headers }, broken)).answer.status).toBe(500);
    expect(codeOf(await world.send({ headers }))).toEqual([429, "too_many_failures"]);
    expect(world.receiver.calls.settle).toBe(0);
  });

  it("that end uncharged too often shut the payer out for ten minutes", async () => {
    const world = createWorld({ limits: { unchargedRunsPerPayer: 2 } });
    for (let run = 0; run < 2; run += 1) await world.send({ headers: await world.sign() }, broken);
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([429, "too_many_failures"]);
    await world.clock.advance(600_001);
    expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  });

  it("are refused by a full store with the proof still good", async () => {
    const clock = createFakeClock();
    const world = createWorld({ clock, store: memoryStore({ maxEntries: 1 }, clock) });
    await world.send({ headers: await world.sign() });
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([503, "store_full"]);
    expect(world.runs).toHaveLength(1);
  });

  it("are refused by a store that cannot be reached", async () => {
    const fails = async () => {
      throw new Error("connection lost");
    };
    const world = createWorld({ store: { ...memoryStore(), read: fails } });
    expect(codeOf(await world.send({ headers: await world.sign() }))).toEqual([503, "store_unavailable"]);
    expect(world.runs).toHaveLength(0);
  });
});

describe("the fence", () => {
  /** Two processes on one store; the timers of the first stand still. */
  function twoProcesses(options: WorldOptions = {}) {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    const receiver = scriptedReceiver();
    const first = createWorld({ ...options, clock: createFakeClock(clock.now()), store, receiver });
    return { clock, receiver, first, second: createWorld({ ...options, clock, store, receiver }) };
  }

  it("shuts out a process that stalled past its lease: it neither settles nor delivers", async () => {
    const { clock, receiver, first, second } = twoProcesses();
    const headers = await second.sign();
    const verdict = await first.guard(makeRequest({ headers }));
    if (verdict.kind !== "admit") throw new Error("not admitted");
    await clock.advance(15_001);
    expect((await second.send({ headers })).answer.status).toBe(200);
    const outcome = await verdict.capture.answered(await ok(verdict.payment));
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 503 } });
    expect(receiver.calls.settle).toBe(1);
  });

  it("of a stalled process does not fit the claim of the one whose handler works in its place", async () => {
    const { clock, receiver, first, second } = twoProcesses();
    const headers = await second.sign();
    const stalled = await first.guard(makeRequest({ headers }));
    if (stalled.kind !== "admit") throw new Error("not admitted");
    await clock.advance(15_001);
    const working = await second.guard(makeRequest({ headers }));
    expect(working.kind).toBe("admit");
    const outcome = await stalled.capture.answered(await ok(stalled.payment));
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 503 } });
    expect(receiver.calls.settle).toBe(0);
  });

  /** The first process stalls in its settlement until the second has found it paid and given the goods. */
  async function stallInSettlement(settlement: Settlement) {
    const { clock, receiver, first, second } = twoProcesses();
    const headers = await second.sign();
    let other = 0;
    let announced = "";
    receiver.settlements.push(async (_proof, { sending }) => {
      await clock.advance(12_001);
      receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
      other = (await second.send({ headers })).answer.status;
      announced = await sending(`0x${"cd".repeat(32)}`).then(
        () => "may send",
        () => "may not send",
      );
      return settlement;
    });
    const verdict = await first.guard(makeRequest({ headers }));
    if (verdict.kind !== "admit") throw new Error("not admitted");
    const outcome = await verdict.capture.answered(await ok(verdict.payment));
    return { other, announced, outcome };
  }

  it("of a settlement that another process has taken over is lost: it sends nothing", async () => {
    const { other, announced } = await stallInSettlement({ outcome: "unknown", message: "not sent" });
    expect([other, announced]).toEqual([200, "may not send"]);
  });

  it("of a settlement that another process has taken over is lost: it delivers nothing", async () => {
    const { other, outcome } = await stallInSettlement({
      outcome: "settled",
      transaction: TRANSACTION,
      payer: BUYER.address,
    });
    expect(other).toBe(200);
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 503 } });
  });

  it("of an upfront delivery is lost to the process that delivers in its place, while that is at work", async () => {
    const { clock, receiver, first, second } = twoProcesses({ terms: { flow: "upfront", replayMs: 0 } });
    const headers = await second.sign();
    const stalled = await first.guard(makeRequest({ headers }));
    if (stalled.kind !== "admit") throw new Error("not admitted");
    await clock.advance(15_001);
    const taken = await second.guard(makeRequest({ headers }));
    expect(taken.kind).toBe("admit");
    const outcome = await stalled.capture.answered(await ok(stalled.payment));
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 503 } });
    expect(receiver.calls.settle).toBe(1);
  });

  it("keeps a handler that works for longer than the lease in its claim", async () => {
    const world = createWorld({ terms: { maxTimeoutSeconds: 300, handlerTimeoutMs: 100_000 } });
    const headers = await world.sign();
    let finish = () => {};
    const slow: Handler = (payment) => new Promise((resolve) => (finish = () => resolve(ok(payment) as never)));
    const first = world.send({ headers }, slow);
    await world.clock.advance(60_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_in_progress"]);
    finish();
    expect((await first).answer.status).toBe(200);
  });
});

describe("records", () => {
  it("of delivered proofs stay until these have run out", async () => {
    const world = createWorld({ terms: { maxTimeoutSeconds: 300 } });
    const headers = await world.sign();
    await world.send({ headers });
    await world.clock.advance(120_000);
    expect(codeOf(await world.send({ headers }))).toEqual([409, "payment_already_used"]);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });

  it("of unknown outcomes stay until they are decided, however long nobody looks", async () => {
    const world = createWorld();
    const headers = await world.sign();
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    await world.send({ headers });
    world.context.lookups.close();
    await world.clock.advance(7 * 86_400_000);
    expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unknown"]);
  });

  it("of paid proofs that were not delivered stay for a day", async () => {
    const world = createWorld();
    const headers = await world.sign();
    await world.send({ headers, client: "leaves" });
    await world.clock.advance(23 * 3_600_000);
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect(world.receiver.calls.settle).toBe(1);
  });
});
