// What is left undecided is looked up by itself, by one process at a time, ever more seldom, until the chain has decided; what it
// takes to decide stands in the rules of evidence and not in who asks.
import { privateKeyToAccount } from "viem/accounts";
import { expect, it, vi } from "vitest";
import type { PaywallEvents } from "../src/events.js";
import { memoryStore } from "../src/store/memory.js";
import type { ProofRecord } from "../src/store/record.js";
import { createFakeClock } from "./support/fake-clock.js";
import { BUYER, broken, codeOf, createWorld, ok, scriptedReceiver, TRANSACTION, type World } from "./support/world.js";

const MINUTE = 60_000;
const KEY = "retry-key-0123456789";
const settled = { outcome: "settled", transaction: TRANSACTION } as const;

/** Two processes of one seller. */
function twoWorlds(): readonly [World, World] {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  return [createWorld({ clock, store }), createWorld({ clock, store })];
}

const told = (world: World): (readonly [string, PaywallEvents["reconciled"]])[] => {
  const all: (readonly [string, PaywallEvents["reconciled"]])[] = [];
  world.events.on("reconciled", (event) => all.push([event.outcome, event]));
  return all;
};

async function proofIn(world: World): Promise<{ readonly id: string; readonly record: ProofRecord }> {
  const [id] = [...world.runs].map(({ proofId }) => proofId);
  if (id === undefined) throw new Error("no handler has run");
  const { record } = await world.claims.peek(id);
  if (!record) throw new Error("the record is gone");
  return { id, record };
}

/** Every way in which a record can be left behind, and how it is reached. */
const LEFT: Record<string, (world: World, headers: Record<string, string>) => Promise<void>> = {
  async unknown(world, headers) {
    world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    await world.send({ headers });
  },
  async "settling, by a process that is dead"(world, headers) {
    world.receiver.settlements.push(async (_proof, { sending }) => {
      await sending(TRANSACTION);
      return new Promise(() => {});
    });
    void world.send({ headers });
    await world.clock.advance(0);
    // Nobody is left to give up waiting.
    vi.spyOn(world.claims, "unknown").mockRejectedValue(new Error("dead"));
  },
  async refused(world, headers) {
    world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "poor" }));
    await world.send({ headers });
  },
  async released(world, headers) {
    await world.send({ headers }, broken);
  },
  async "claimed, by a process that is dead"(world, headers) {
    void world.send({ headers }, () => new Promise(() => {}));
    await world.clock.advance(0);
    // Its renewals end with it.
    vi.spyOn(world.claims, "renew").mockRejectedValue(new Error("dead"));
  },
};

it.each(Object.entries(LEFT))("what is left %s is found settled by another process, unasked", async (_state, leave) => {
  const [dead, alive] = twoWorlds();
  const headers = await dead.sign({ retryKey: KEY });
  await leave(dead, headers);
  const { id } = await proofIn(dead);
  alive.receiver.lookups = [settled];
  const events = told(alive);
  alive.context.lookups.watch();
  await alive.clock.advance(50_000);
  expect((await alive.claims.peek(id)).record).toMatchObject({ settlement: "settled", delivery: "none" });
  expect(events).toMatchObject([["settled", { proofId: id, how: "background", transaction: TRANSACTION }]]);
  const sent = await alive.send({ headers });
  expect(sent.answer.status).toBe(200);
  expect(alive.receiver.calls.settle).toBe(0);
});

it.each(["unknown", "released", "refused", "settling, by a process that is dead"])(
  "what is left %s expires once the chain says so, and is not looked up any more",
  async (state) => {
    const world = createWorld();
    const expired: boolean[] = [];
    world.events.on("expired", ({ delivered }) => expired.push(delivered));
    const headers = await world.sign();
    await LEFT[state]?.(world, headers);
    const { id } = await proofIn(world);
    world.receiver.lookups = [{ outcome: "expired" }];
    world.context.lookups.watch();
    await world.clock.advance(MINUTE);
    expect((await world.claims.peek(id)).record?.settlement).toBe("expired");
    expect(expired).toEqual([false]);
    const { lookup } = world.receiver.calls;
    await world.clock.advance(10 * MINUTE);
    expect(world.receiver.calls.lookup).toBe(lookup);
    expect(codeOf(await world.send({ headers }))).toEqual([402, "payment_expired"]);
  },
);

it("a refusal for good is never looked up: nobody can submit it to this seller", async () => {
  const world = createWorld();
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "payment_already_used", reason: "used" }));
  await world.send({ headers: await world.sign() });
  world.receiver.lookups = [settled];
  world.context.lookups.watch();
  await world.clock.advance(10 * MINUTE);
  expect(world.receiver.calls.lookup).toBe(0);
});

it("pauses grow from a second to five minutes, so that a mass of undecided payments costs bounded work", async () => {
  const world = createWorld();
  const at: number[] = [];
  vi.spyOn(world.receiver, "lookup").mockImplementation(async () => {
    at.push(world.clock.now());
    return { outcome: "unknown", message: "who knows" };
  });
  await LEFT.unknown?.(world, await world.sign());
  world.context.lookups.watch();
  await world.clock.advance(60 * MINUTE);
  const pauses = at.slice(1).map((time, n) => time - (at[n] ?? 0));
  expect(pauses.length).toBeGreaterThan(15);
  expect(pauses.length).toBeLessThan(25);
  for (const [n, pause] of pauses.entries())
    expect(pause).toBeGreaterThanOrEqual(Math.min(1000 * 2 ** (n + 1), 5 * MINUTE));
  // A round is every five seconds where there is nothing to do.
  expect(Math.max(...pauses)).toBeLessThanOrEqual(5 * MINUTE + 5_000);
});

it("many at once: eight lookups at a time, and all of them before long", async () => {
  const world = createWorld();
  let [now, most] = [0, 0];
  vi.spyOn(world.receiver, "lookup").mockImplementation(async () => {
    most = Math.max(most, ++now);
    await new Promise<void>((resolve) => world.clock.after(100, resolve));
    now -= 1;
    return settled;
  });
  for (let n = 0; n < 60; n += 1) await LEFT.unknown?.(world, await world.sign());
  world.context.lookups.watch();
  await world.clock.advance(20_000);
  expect(world.receiver.lookup).toHaveBeenCalledTimes(60);
  expect(most).toBe(8);
});

it("one of two processes asks the chain, however often both look", async () => {
  const worlds = twoWorlds();
  await LEFT.unknown?.(worlds[0], await worlds[0].sign());
  for (const world of worlds) world.context.lookups.watch();
  await worlds[0].clock.advance(7_000);
  // At once, and when the first pause of two seconds is over: as many as one process alone would make.
  expect(worlds[0].receiver.calls.lookup + worlds[1].receiver.calls.lookup).toBe(2);
});

it("a buyer who asks while another process looks waits a second, and the chain is asked once", async () => {
  const [one, two] = twoWorlds();
  const headers = await one.sign();
  await LEFT.unknown?.(one, headers);
  const both = await Promise.all([one.send({ headers }), two.send({ headers })]);
  expect(both.map(codeOf)).toEqual([
    [503, "settlement_unknown"],
    [503, "settlement_unknown"],
  ]);
  expect(one.receiver.calls.lookup + two.receiver.calls.lookup).toBe(1);
});

it("another receiver's word that a settlement has expired counts for nothing; that it is settled counts", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const world = createWorld({ clock, store });
  const other = createWorld({ clock, store, receiver: { ...scriptedReceiver(), name: "another" } });
  await LEFT.unknown?.(world, await world.sign());
  world.context.lookups.close();
  const { id } = await proofIn(world);
  other.receiver.lookups = [{ outcome: "expired" }];
  other.context.lookups.watch();
  await clock.advance(MINUTE);
  expect(other.receiver.calls.lookup).toBeGreaterThan(2);
  expect((await other.claims.peek(id)).record?.settlement).toBe("unknown");
  other.receiver.lookups = [settled];
  await clock.advance(2 * MINUTE);
  expect((await other.claims.peek(id)).record?.settlement).toBe("settled");
});

it("a mass of due payments that are not for this process to look up does not keep it from its own", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const world = createWorld({ clock, store });
  const other = createWorld({ clock, store });
  world.context.lookups.close();
  const accounts = [BUYER, privateKeyToAccount(`0x${"6".repeat(64)}`)];
  for (let n = 0; n < 120; n += 1) await LEFT.unknown?.(world, await world.sign({ account: accounts[n % 2]! }));
  const others = await store.due(1000);
  expect(others).toHaveLength(120);
  // The last one is of its own network.
  const last = others.at(-1)?.slice("proof:".length) ?? "";
  const known = other.claims.take;
  vi.spyOn(other.claims, "take").mockImplementation(async (id, by) => (id === last ? known(id, by) : undefined));
  other.context.lookups.watch();
  await clock.advance(MINUTE);
  expect(other.receiver.calls.lookup).toBeGreaterThan(0);
});

it("a process takes nothing on a network that it does not know", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const world = createWorld({ clock, store });
  const other = createWorld({ clock, store, receiver: { ...scriptedReceiver(), networks: ["eip155:1"] } });
  await LEFT.unknown?.(world, await world.sign());
  world.context.lookups.close();
  other.context.lookups.watch();
  await clock.advance(MINUTE);
  expect(other.receiver.calls.lookup).toBe(0);
  expect(await store.due(10)).toHaveLength(1);
});

it("a buyer's own transaction that nothing was sent of does not expire: he can still send it", async () => {
  const world = createWorld({ price: "0.001 ETH" });
  const headers = await world.show({ key: "one" });
  world.receiver.settlements.push(() => ({ outcome: "unavailable", message: "no connection" }));
  expect((await world.send({ headers })).answer.status).toBe(503);
  world.receiver.lookups = [{ outcome: "expired" }];
  world.context.lookups.watch();
  await world.clock.advance(5 * MINUTE);
  expect(world.receiver.calls.lookup).toBeGreaterThan(0);
  expect((await world.send({ headers }, ok)).answer.status).toBe(200);
});

it("nothing is looked up after it was closed, and a store that is down is asked again", async () => {
  const world = createWorld();
  vi.spyOn(world.claims, "due").mockRejectedValueOnce(new Error("the store is down"));
  await LEFT.unknown?.(world, await world.sign());
  await world.clock.advance(2_000);
  expect(world.receiver.calls.lookup).toBe(1);
  expect(world.log.some((line) => line.includes("could not reach the store"))).toBe(true);
  world.context.lookups.close();
  await world.clock.advance(10 * MINUTE);
  world.context.lookups.watch();
  await world.clock.advance(10 * MINUTE);
  expect(world.receiver.calls.lookup).toBe(1);
});
