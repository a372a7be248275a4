// Verification and claims: one run for one proof, bounded claims for one payer, the fence between processes.
import { describe, expect, it } from "vitest";
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
  it("shuts out a process that stalled past its lease: it neither settles nor delivers", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    // Two processes: the first one's timers stand still.
    const stalled = createFakeClock(clock.now());
    const receiver = scriptedReceiver();
    const first = createWorld({ clock: stalled, store, receiver });
    const second = createWorld({ clock, store, receiver });
    const headers = await second.sign();
    const verdict = await first.guard(makeRequest({ headers }));
    if (verdict.kind !== "admit") throw new Error("not admitted");
    await clock.advance(15_001);
    expect((await second.send({ headers })).answer.status).toBe(200);
    const outcome = await verdict.capture.answered(await ok(verdict.payment));
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
