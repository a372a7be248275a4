// A store that is slow, or whose word gets lost, costs no buyer one of his three deliveries: what never began does not count.
import { expect, it, vi } from "vitest";
import { silentLogger } from "../src/logger.js";
import type { Receiver } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store, Transaction } from "../src/store/store.js";
// Loaded by the guard when a store fails; here already, so that nothing has to be waited for.
import { createUnbegun } from "../src/unbegun.js";
import { createFakeClock } from "./support/fake-clock.js";
import { codeOf, createWorld, scriptedReceiver, TRANSACTION } from "./support/world.js";

const KEY = "retry-key-0123456789";
const LEASE_MS = 15_000;

const begins = ({ writes }: Transaction): boolean =>
  writes.some(({ value }) => (value as { delivery?: string } | null)?.delivery === "delivering");

/** `after`: what happens once the begin of a delivery was written; `away`: nothing can be written. */
function shakyStore(clock = createFakeClock()) {
  const inner = memoryStore({}, clock);
  const faults = { after: async () => {}, away: false, lateMs: 0 };
  const store: Store = {
    ...inner,
    async commit(transaction) {
      if (faults.away) throw new Error("the store is away");
      if (faults.lateMs > 0 && begins(transaction)) {
        clock.after(faults.lateMs, () => void inner.commit(transaction));
        throw new Error("no answer in time");
      }
      const result = await inner.commit(transaction);
      if (begins(transaction)) await faults.after();
      return result;
    },
  };
  return { clock, store, inner, faults };
}

const lost = () => Promise.reject(new Error("the connection was lost"));

it("delivers to who asks again however often the store's word got lost", async () => {
  const { clock, store, faults } = shakyStore();
  const world = createWorld({ clock, store });
  const headers = await world.sign({ retryKey: KEY });
  faults.after = lost;
  const codes: unknown[] = [];
  for (let round = 0; round < 5; round += 1) {
    codes.push((await world.send({ headers })).answer.status);
    await clock.advance(1_000);
  }
  expect(codes).toEqual([503, 503, 503, 503, 503]);
  faults.after = async () => {};
  expect((await world.send({ headers })).answer.status).toBe(200);
  expect([world.receiver.calls.settle, world.runs.length]).toEqual([1, 1]);
});

it("delivers to who asks again however often the store answered later than the lease", async () => {
  const { clock, store, faults } = shakyStore();
  const world = createWorld({ clock, store });
  const headers = await world.sign({ retryKey: KEY });
  faults.after = async () => clock.advance(LEASE_MS + 1);
  const statuses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    statuses.push((await world.send({ headers })).answer.status);
    await clock.advance(1_000);
  }
  expect(statuses.every((status) => status !== 200)).toBe(true);
  expect(statuses).not.toContain(402);
  faults.after = async () => {};
  expect((await world.send({ headers })).answer.status).toBe(200);
});

it("delivers to who asks again however often the store wrote after it was given up", async () => {
  const { clock, store, faults } = shakyStore();
  const world = createWorld({ clock, store });
  const headers = await world.sign({ retryKey: KEY });
  const statuses: number[] = [];
  // The first settles it; from then on each is a delivery that the store writes three seconds later.
  for (let round = 0; round < 5; round += 1) {
    faults.lateMs = 3_000;
    statuses.push((await world.send({ headers })).answer.status);
    await clock.advance(60_000);
  }
  expect(statuses).toEqual([503, 503, 503, 503, 503]);
  faults.lateMs = 0;
  expect((await world.send({ headers })).answer.status).toBe(200);
});

it("goes on although the timer of a round was let die with the request that began it", async () => {
  const clock = createFakeClock();
  const [taken, timers]: [string[], (() => void)[]] = [[], []];
  let answers: (id: string) => Promise<boolean> = () => Promise.reject(new Error("the store is away"));
  const after = (_ms: number, run: () => void) => {
    timers.push(run);
    return () => {};
  };
  const frozen = { ...clock, after };
  const take = (_: string, id: string) => answers(id);
  const unbegun = createUnbegun(take, frozen, silentLogger);
  await unbegun.add("proof", "one", false);
  answers = async (id) => taken.push(id) > 0;
  timers.length = 0;
  await clock.advance(10 * 60_000);
  answers = () => Promise.reject(new Error("the store is away"));
  await unbegun.add("proof", "two", false);
  answers = async (id) => taken.push(id) > 0;
  timers.at(-1)?.();
  await vi.waitFor(() => expect(taken).toEqual(["one", "two"]), { timeout: 10_000 });
});

it("takes it off when the store is back, also where another process has begun the next one meanwhile", async () => {
  const { clock, store, faults } = shakyStore();
  const one = createWorld({ clock, store });
  const two = createWorld({ clock, store, receiver: one.receiver });
  const headers = await one.sign({ retryKey: KEY });
  faults.after = async () => {
    faults.away = true;
    return lost();
  };
  expect((await one.send({ headers })).answer.status).toBe(503);
  await clock.advance(0);
  [faults.after, faults.away] = [async () => {}, false];
  // Nobody but the first process knows that nothing left, and the lease of its delivery has to run out.
  const statuses: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    await clock.advance(LEASE_MS);
    statuses.push((await two.send({ headers, client: "leaves" })).answer.status);
  }
  await clock.advance(60_000);
  expect([...statuses, (await two.send({ headers })).answer.status]).toEqual([200, 200, 200]);
  expect((await two.send({ headers })).answer.status).toBe(409);
});

it("counts the three that did begin, whatever the store does", async () => {
  const { clock, store, faults } = shakyStore();
  const world = createWorld({ clock, store });
  const headers = await world.sign({ retryKey: KEY });
  for (let round = 0; round < 3; round += 1) {
    expect((await world.send({ headers, client: "leaves" })).answer.status).toBe(200);
    faults.after = lost;
    await world.send({ headers });
    faults.after = async () => {};
    await clock.advance(1_000);
  }
  const sent = await world.send({ headers });
  expect([sent.answer.status, sent.json().expected]).toEqual([409, "no more than 3 deliveries of one payment"]);
});

it.each([
  ["a kept answer that waits for the store to keep its pass costs no delivery", 0],
  ["a kept answer that waits for the store to keep its pass after one that was lost costs no delivery", 1],
])("%s", async (_, cut) => {
  const { clock, store } = shakyStore();
  const full = { passes: false };
  const passes: Store = {
    ...store,
    commit: async (transaction) => {
      if (full.passes && transaction.writes.some(({ key }) => key.startsWith("pass:"))) return lost();
      return store.commit(transaction);
    },
  };
  const world = createWorld({ clock, store: passes, terms: { pass: { uses: 3, ms: 3_600_000 } } });
  const headers = await world.sign({ retryKey: KEY });
  for (let round = 0; round < cut; round += 1) await world.send({ headers, client: "leaves" });
  full.passes = true;
  for (let round = 0; round < 5; round += 1) {
    expect((await world.send({ headers })).answer.status).toBe(503);
    await clock.advance(1_000);
  }
  full.passes = false;
  const sent = await world.send({ headers });
  expect([sent.answer.status, sent.header("Payment-Pass")]).toEqual([200, expect.any(String)]);
  // Three in all, one of which the lost one is.
  const statuses: number[] = [];
  for (let round = 0; round < 3; round += 1) statuses.push((await world.send({ headers })).answer.status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2 - cut);
});

/** Three deliveries of a process that cannot tell the store that none of them began. */
async function beginThreeInVain(evidence: Partial<Receiver> = {}) {
  const { clock, store, inner, faults } = shakyStore();
  const receiverOf = () => Object.assign(scriptedReceiver(), evidence);
  const world = createWorld({ clock, store, receiver: receiverOf() });
  const other = createWorld({ clock, store: inner, receiver: receiverOf() });
  const headers = await world.sign({ retryKey: KEY });
  for (let round = 0; round < 3; round += 1) {
    faults.away = false;
    faults.after = async () => {
      faults.away = true;
      throw new Error("the connection was lost");
    };
    expect((await world.send({ headers })).answer.status).toBe(503);
    await clock.advance(0);
    // The lease ends, and the store stays away from this process.
    await clock.advance(LEASE_MS + 1);
  }
  return { clock, other, headers, faults };
}

it("tells a buyer to come again while another process may still take off what never began", async () => {
  const { clock, other, headers, faults } = await beginThreeInVain();
  expect(codeOf(await other.send({ headers }))).toEqual([409, "payment_in_progress"]);
  faults.after = async () => {};
  faults.away = false;
  await clock.advance(20_000);
  expect((await other.send({ headers })).answer.status).toBe(200);
});

it("also while the chain is asked whether its settlement stands", async () => {
  const finality = async () => ({ outcome: "settled", transaction: TRANSACTION, height: 7 }) as const;
  const { clock, other, headers, faults } = await beginThreeInVain({ evidence: "chain", finality });
  other.context.lookups.watch();
  await clock.advance(40_000);
  expect(codeOf(await other.send({ headers }))).toEqual([409, "payment_in_progress"]);
  faults.after = async () => {};
  faults.away = false;
  await clock.advance(10_000);
  expect((await other.send({ headers })).answer.status).toBe(200);
  other.context.lookups.close();
});

it("and no longer than a minute after the lease of the last one", async () => {
  const { clock, other, headers } = await beginThreeInVain();
  await clock.advance(60_000);
  expect(codeOf(await other.send({ headers }))).toEqual([409, "payment_already_used"]);
});
