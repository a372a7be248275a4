// Lookups that fail or never end: the background goes on at its own pace, looks past them, and says so once a round; a buyer who
// asks is answered in bounded time.
import { expect, it, vi } from "vitest";
import type { Finality, Lookup } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import { codeOf, createWorld, scriptedReceiver, TRANSACTION, type World } from "./support/world.js";

const settled = { outcome: "settled", transaction: TRANSACTION } as const;
const never = () => new Promise<never>(() => {});

/** One more whose outcome is not known, with the header that paid it. */
async function leaveUnknown(world: World): Promise<Record<string, string>> {
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  const headers = await world.sign();
  expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unknown"]);
  return headers;
}

const lastId = (world: World): string => world.runs.at(-1)?.proofId ?? "";
const settlementOf = async (world: World, id: string) => (await world.claims.peek(id)).record?.settlement;

/** A shop whose store gives what is due, and takes no writes while `refuses` says so. */
function shopOnRefusingStore(refuses: () => boolean): World {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const refusing: Store = {
    ...store,
    commit: async (transaction) => {
      if (refuses()) throw new Error("NOREPLICAS Not enough good replicas to write.");
      return store.commit(transaction);
    },
  };
  return createWorld({ clock, store: refusing, limits: { openClaimsPerPayer: 1_000, unchargedRunsPerPayer: 1_000 } });
}

it("a store that takes no writes is asked in rounds of five seconds, and named once a round", async () => {
  let refuses = false;
  // Without an end to it, a background without pauses would let no time pass.
  let left = 3_000;
  const world = shopOnRefusingStore(() => refuses && left-- > 0);
  for (let n = 0; n < 120; n += 1) await leaveUnknown(world);
  world.receiver.lookups = [settled];
  const take = vi.spyOn(world.claims, "take");
  refuses = true;
  const before = world.log.length;
  await world.clock.advance(20_000);
  const lines = world.log.slice(before);
  // Pauses of five seconds, and one of a second before them at most.
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.length).toBeLessThan(7);
  expect(lines[0]).toMatch(/background lookups failed .*"failed":100,.*cannot be reached/);
  expect(take.mock.calls.length).toBeLessThan(7 * 120);
  refuses = false;
  await world.clock.advance(60_000);
  expect(await settlementOf(world, lastId(world))).toBe("settled");
  world.context.lookups.close();
}, 60_000);

it("some that always fail do not hide those that stand behind them", async () => {
  const world = createWorld({ limits: { openClaimsPerPayer: 1_000, unchargedRunsPerPayer: 1_000 } });
  const poisoned = new Set<string>();
  for (let n = 0; n < 150; n += 1) {
    await leaveUnknown(world);
    poisoned.add(lastId(world));
  }
  const take = world.claims.take;
  let left = 10_000;
  vi.spyOn(world.claims, "take").mockImplementation(async (id, by) => {
    if (poisoned.has(id) && left-- > 0) throw new Error("no such state");
    return take(id, by);
  });
  world.receiver.lookups = [settled];
  await leaveUnknown(world);
  await world.clock.advance(30_000);
  expect(left).toBeGreaterThan(0);
  expect(await settlementOf(world, lastId(world))).toBe("settled");
  world.context.lookups.close();
}, 60_000);

it("a buyer whose lookup never ends is told after five seconds that it is not known", async () => {
  const world = createWorld();
  const headers = await leaveUnknown(world);
  world.context.lookups.close();
  const other = createWorld({
    clock: world.clock,
    store: world.store,
    receiver: { ...scriptedReceiver(), lookup: never },
  });
  await other.clock.advance(60_000);
  const answered = other.send({ headers });
  await other.clock.advance(5_000);
  await settle();
  expect(await Promise.race([answered.then(codeOf), settle().then(() => "still waits")])).toEqual([
    503,
    "settlement_unknown",
  ]);
  other.context.lookups.close();
});

it("lookups that never end leave room for others in the background", async () => {
  const world = createWorld();
  const stuck = new Set<string>();
  for (let n = 0; n < 8; n += 1) {
    await leaveUnknown(world);
    stuck.add(lastId(world));
  }
  const told: boolean[] = [];
  vi.spyOn(world.receiver, "lookup").mockImplementation(async ({ proofId }, signal): Promise<Lookup> => {
    if (!stuck.has(proofId)) return settled;
    signal.addEventListener("abort", () => told.push(true), { once: true });
    return never();
  });
  await world.clock.advance(0);
  await leaveUnknown(world);
  await world.clock.advance(15_000);
  expect(await settlementOf(world, lastId(world))).toBe("settled");
  expect(told.length).toBeGreaterThanOrEqual(8);
  world.context.lookups.close();
});

it("a question after finality that never ends is left behind too", async () => {
  const clock = createFakeClock();
  const answers: (() => Promise<Finality>)[] = [never];
  const finality = vi.fn(
    async () => (await answers.shift()?.()) ?? ({ outcome: "final", transaction: TRANSACTION } as const),
  );
  const world = createWorld({ clock, receiver: { ...scriptedReceiver(), finality } });
  await world.send({ headers: await world.sign() });
  await clock.advance(120_000);
  expect(finality.mock.calls.length).toBeGreaterThan(1);
  expect((await world.claims.peek(lastId(world))).record?.final).toBe(true);
  world.context.lookups.close();
});

it("a store that once never tells what is due holds the background for ten seconds", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const due = vi.fn(store.due).mockImplementationOnce(never);
  const world = createWorld({ clock, store: { ...store, due } });
  world.receiver.lookups = [settled];
  await leaveUnknown(world);
  await clock.advance(9_000);
  expect(due).toHaveBeenCalledTimes(1);
  await clock.advance(6_000);
  expect(await settlementOf(world, lastId(world))).toBe("settled");
  world.context.lookups.close();
});

it.each(["take", "resolve"] as const)(
  "a store that never ends to %s a lookup holds it for ten seconds: the background goes on, and so does a buyer's",
  async (step) => {
    const world = createWorld();
    let hangs = true;
    const real = world.claims[step] as (...args: unknown[]) => Promise<unknown>;
    const asked = vi.fn((...args: unknown[]) => (hangs ? never() : real(...args)));
    Object.assign(world.claims, { [step]: asked });
    const peek = vi.spyOn(world.claims, "peek");
    world.receiver.lookups = [settled];
    const headers = await leaveUnknown(world);
    await world.clock.advance(0);
    // Asks while the background's lookup hangs, and waits for the same one.
    await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    peek.mockClear();
    const answered = world.send({ headers });
    await vi.waitFor(() => expect(peek).toHaveBeenCalled(), { timeout: 10_000 });
    await world.clock.advance(11_000);
    expect(await Promise.race([answered.then(codeOf), settle().then(() => "still waits")])).toEqual([
      503,
      "store_unavailable",
    ]);
    hangs = false;
    await world.clock.advance(30_000);
    expect(await settlementOf(world, lastId(world))).toBe("settled");
    expect((await world.send({ headers })).answer.status).toBe(200);
    world.context.lookups.close();
  },
);
