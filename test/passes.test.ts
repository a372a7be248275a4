// Passes through the guard: what a payment opens beside its answer, for how long and how often, and what becomes of a use whose
// run fails. The stores under it are tested in `store/contract-passes.ts`, the answers on the wire in the HTTP cases.
import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  broken,
  createWorld,
  type Handler,
  makeRequest,
  type Sent,
  type World,
  type WorldOptions,
} from "./support/world.js";

const KEY = "retry-key-0123456789";
const HOUR = 3_600_000;
const THREE = { uses: 3, ms: HOUR };

const selling = (pass: WorldOptions["terms"] = { pass: THREE }, options: WorldOptions = {}) =>
  createWorld({ ...options, terms: pass });
/** Pays, and gives the header that carries the pass. */
async function bought(world: World, headers?: Record<string, string>): Promise<Record<string, string>> {
  const sold = await world.send({ headers: headers ?? (await world.sign()) });
  expect(sold.answer.status).toBe(200);
  return { "Payment-Pass": sold.header("Payment-Pass") ?? "none" };
}
const outcome = ({ answer, json }: Sent) => (answer.status < 400 ? answer.status : (json().code ?? answer.status));
async function uses(world: World, headers: Record<string, string>, count: number) {
  const outcomes: unknown[] = [];
  for (let use = 0; use < count; use += 1) outcomes.push(outcome(await world.send({ headers })));
  return outcomes;
}
/** How often the store was read and written to. */
function counting(store: Store) {
  const calls = { read: 0, commit: 0 };
  const counted: Store = {
    ...store,
    read: (...args) => {
      calls.read += 1;
      return store.read(...args);
    },
    commit: (...args) => {
      calls.commit += 1;
      return store.commit(...args);
    },
  };
  return { store: counted, calls };
}

describe("a pass", () => {
  it("admits without a payment, and the handler sees whose it is, what is left and that nothing was paid now", async () => {
    const world = selling();
    const headers = await bought(world);
    const used = await world.send({ headers });
    expect(used.answer).toMatchObject({ status: 200, body: "the goods" });
    expect(used.header("PAYMENT-RESPONSE")).toBeUndefined();
    const [paid, passed] = world.runs;
    expect(paid?.pass).toBeUndefined();
    expect(passed).toMatchObject({ payer: paid?.payer, proofId: paid?.proofId, amount: 0n, run: 1 });
    expect(passed?.pass).toEqual({ usesLeft: 1, expiresAt: world.clock.now() + HOUR });
    expect(JSON.parse(JSON.stringify(passed))).toMatchObject({ amount: "0", pass: { usesLeft: 1 } });
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("of n uses runs the handler n times, the paid run among them, and one of one use is none", async () => {
    const world = selling();
    expect(await uses(world, await bought(world), 4)).toEqual([200, 200, "pass_used_up", "pass_used_up"]);
    expect(world.runs).toHaveLength(3);
    const single = selling({ pass: { uses: 1, ms: HOUR } });
    const sold = await single.send({ headers: await single.sign() });
    expect([sold.answer.status, sold.header("Payment-Pass")]).toEqual([200, undefined]);
  });

  it("ends with its time by the store's clock, whatever the clock of this process says", async () => {
    const clock = createFakeClock();
    const world = selling({ pass: { uses: undefined, ms: HOUR } }, { clock, store: memoryStore({}, clock) });
    const headers = await bought(world);
    await clock.advance(HOUR - 1);
    // Ten minutes behind the store's.
    const behind = { ...clock, now: () => clock.now() - 600_000 };
    const late = selling({ pass: { uses: undefined, ms: HOUR } }, { clock: behind, store: world.store });
    expect(await uses(late, headers, 1)).toEqual([200]);
    await clock.advance(1);
    expect(await uses(late, headers, 1)).toEqual(["pass_expired"]);
  });

  it("that time alone bounds writes nothing when it is used, and its uses are not counted", async () => {
    const clock = createFakeClock();
    const { store, calls } = counting(memoryStore({}, clock));
    const world = selling({ pass: { uses: undefined, ms: HOUR } }, { clock, store });
    const headers = await bought(world);
    const before = calls.commit;
    expect(await uses(world, headers, 20)).toEqual(Array(20).fill(200));
    expect(calls.commit).toBe(before);
    expect(world.runs.at(-1)?.pass?.usesLeft).toBeNull();
  });

  it("is not sold with a failed answer, and not looked at where none is sold", async () => {
    const world = selling();
    const failed = await world.send({ headers: await world.sign() }, broken);
    expect([failed.answer.status, failed.header("Payment-Pass")]).toEqual([500, undefined]);
    const clock = createFakeClock();
    const { store, calls } = counting(memoryStore({}, clock));
    const once = createWorld({ clock, store });
    expect(outcome(await once.send({ headers: { "Payment-Pass": "A".repeat(43) } }))).toBe("payment_required");
    expect(calls).toEqual({ read: 0, commit: 0 });
  });
});

describe("a use whose run fails is given back exactly once:", () => {
  const failures: [string, Handler][] = [
    ["status 400", () => ({ status: 400, headers: [], body: "no" })],
    ["status 500", broken],
  ];
  it.each(failures)("%s", async (_name, handler) => {
    const world = selling();
    const headers = await bought(world);
    const failed = await world.send({ headers }, handler);
    expect(failed.answer.body).toBe((await handler(failed.payment as never)).body);
    expect(await uses(world, headers, 3)).toEqual([200, 200, "pass_used_up"]);
  });

  it("a handler that throws", async () => {
    const world = selling();
    const headers = await bought(world);
    const verdict = await world.guard(makeRequest({ headers }));
    if (verdict.kind !== "admit") throw new Error(`not admitted: ${verdict.kind}`);
    const outcome = await verdict.capture.failed();
    verdict.capture.ended();
    await verdict.capture.failed();
    expect(outcome).toMatchObject({ kind: "replace", answer: { status: 500 } });
    expect(await uses(world, headers, 3)).toEqual([200, 200, "pass_used_up"]);
  });

  it("a handler that is too late, when it has come to its end and not before", async () => {
    const world = selling({ pass: { uses: 2, ms: HOUR } });
    const headers = await bought(world);
    let finish = () => {};
    const slow: Handler = () =>
      new Promise((resolve) => {
        finish = () => resolve({ status: 200, headers: [], body: "late" });
      });
    const late = world.send({ headers }, slow);
    await world.clock.advance(30_000);
    const { answer, json } = await late;
    expect([answer.status, json().code, json().payment]).toEqual([504, "handler_timeout", "none"]);
    expect(await uses(world, headers, 1)).toEqual(["pass_used_up"]);
    finish();
    await world.clock.advance(0);
    expect(await uses(world, headers, 2)).toEqual([200, "pass_used_up"]);
  });

  it("and a client that leaves gives nothing back: what the handler answered decides", async () => {
    const world = selling();
    const headers = await bought(world);
    await world.send({ headers, client: "leaves" });
    expect(await uses(world, headers, 2)).toEqual([200, "pass_used_up"]);
  });
});

describe("a lost pass", () => {
  it("is issued anew to whoever shows the retry key: the old one dies, and the uses stay what they were", async () => {
    const world = selling();
    const payment = await world.sign({ retryKey: KEY });
    const old = await bought(world, payment);
    expect(await uses(world, old, 1)).toEqual([200]);
    const again = await world.send({ headers: payment });
    expect(again.header("Payment-Replayed")).toBe("true");
    const anew = { "Payment-Pass": again.header("Payment-Pass") ?? "" };
    expect(anew).not.toEqual(old);
    expect(again.header("Cache-Control")).toBe("private, no-store");
    expect(await uses(world, old, 1)).toEqual(["pass_unknown"]);
    expect(await uses(world, anew, 2)).toEqual([200, "pass_used_up"]);
    const last = await world.send({ headers: payment });
    expect([last.answer.status, last.header("Payment-Pass")]).toEqual([200, undefined]);
  });

  it("comes with the goods where the first delivery was lost before the pass was made", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    let broken = true;
    const flaky: Store = {
      ...store,
      commit: (transaction) =>
        broken && transaction.writes.some(({ key }) => key.startsWith("pass:"))
          ? Promise.reject(new Error("down"))
          : store.commit(transaction),
    };
    const world = selling(undefined, { clock, store: flaky });
    const payment = await world.sign();
    const lost = await world.send({ headers: payment });
    expect(outcome(lost)).toBe("settlement_unknown");
    broken = false;
    await clock.advance(15_001);
    const headers = await bought(world, payment);
    expect(await uses(world, headers, 3)).toEqual([200, 200, "pass_used_up"]);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("of an undelivered answer without a retry key is not issued anew: its token may be in the buyer's hands", async () => {
    const world = selling();
    const payment = await world.sign();
    const first = await world.send({ headers: payment, client: "leaves" });
    const stranger = await world.send({ headers: payment });
    expect([stranger.answer.status, stranger.header("Payment-Pass")]).toEqual([200, undefined]);
    expect(await uses(world, { "Payment-Pass": first.header("Payment-Pass") ?? "" }, 1)).toEqual([200]);
  });
});

describe("the store", () => {
  it("holds the digest of a token and never the token, not in a kept answer either", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    const written: string[] = [];
    const spied: Store = {
      ...store,
      commit: (transaction) => {
        written.push(JSON.stringify(transaction, (_, value) => (value instanceof Uint8Array ? [...value] : value)));
        return store.commit(transaction);
      },
    };
    const world = selling(undefined, { clock, store: spied });
    const { "Payment-Pass": token = "" } = await bought(world, await world.sign({ retryKey: KEY }));
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))).toString("hex");
    expect(written.join()).toContain(digest);
    expect(written.join()).not.toContain(token);
    expect(world.log.join()).not.toContain(token);
  });

  it("that fails refuses the pass with 503, and no handler runs", async () => {
    const clock = createFakeClock();
    const store = memoryStore({}, clock);
    let down = false;
    const flaky: Store = {
      ...store,
      read: (...args) => (down ? Promise.reject(new Error("down")) : store.read(...args)),
    };
    const world = selling(undefined, { clock, store: flaky });
    const headers = await bought(world);
    down = true;
    const refused = await world.send({ headers });
    expect([refused.answer.status, outcome(refused)]).toEqual([503, "store_unavailable"]);
    expect(world.runs).toHaveLength(1);
  });
});
