// A settlement stays due until it is final. What the chain takes back is sent again, and what was delivered for it stays delivered;
// what can never come any more is said so.
import { expect, it, vi } from "vitest";
import "../src/send-again.js";
import type { Finality } from "../src/receive/receiver.js";
import { memoryStore } from "../src/store/memory.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import {
  codeOf,
  createWorld,
  type ScriptedReceiver,
  scriptedReceiver,
  TRANSACTION,
  type World,
} from "./support/world.js";

const MINUTE = 60_000;
const KEY = "retry-key-0123456789";
const AGAIN = `0x${"cd".repeat(32)}`;
const standing = { outcome: "settled", transaction: TRANSACTION, height: 7 } as const;

interface Watching extends ScriptedReceiver {
  /** What the chain shows of a settlement; the last one stays. */
  readonly chain: Finality[];
}

function watching(...chain: Finality[]): Watching {
  const receiver = scriptedReceiver();
  const next = () => (chain.length > 1 ? chain.shift() : chain[0]);
  return Object.assign(receiver, {
    chain,
    finality: vi.fn(async (): Promise<Finality> => next() ?? { outcome: "unknown", message: "nothing scripted" }),
  });
}

function createWatched(...chain: Finality[]) {
  const receiver = watching(...chain);
  const world = createWorld({ receiver });
  const events: [string, unknown][] = [];
  for (const name of ["reconciled", "expired", "reorganised"] as const) {
    world.events.on(name, (event) => events.push([name, event]));
  }
  return { ...world, receiver, told: events, chain };
}

/** One sale; gives its record as it is later. */
async function sell(world: World, client: "stays" | "leaves" = "stays") {
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers, client });
  const id = world.runs.at(-1)?.proofId ?? "";
  world.context.lookups.watch();
  return { headers, id, record: async () => (await world.claims.peek(id)).record };
}

/** Lets time pass, and what is loaded on the way be loaded. */
async function pass(world: World, ms: number): Promise<void> {
  await world.clock.advance(ms);
  await vi.dynamicImportSettled();
  await settle();
}

it("a settlement is asked about until it is final, then never again, and what could send it again is forgotten", async () => {
  const world = createWatched(standing, standing, { ...standing, outcome: "final" });
  const { id, record } = await sell(world);
  expect(await world.claims.signed(id)).toContain("signature");
  await pass(world, 3 * MINUTE);
  expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered", final: true });
  expect(await world.claims.signed(id)).toBeUndefined();
  expect(world.told).toMatchObject([["reconciled", { outcome: "final", how: "background", proofId: id }]]);
  await pass(world, 30 * MINUTE);
  expect(world.receiver.finality).toHaveBeenCalledTimes(3);
  expect(await record()).toBeUndefined();
});

it("a receiver that cannot tell is not asked, keeps no signature, and writes nothing more for a sale", async () => {
  const world = createWorld();
  const { id, record } = await sell(world);
  await pass(world, MINUTE);
  expect(await world.claims.signed(id)).toBeUndefined();
  expect(await record()).not.toHaveProperty("final");
  const untold = createWatched({ outcome: "untold" });
  const sale = await sell(untold);
  await pass(untold, 30_000);
  expect(await sale.record()).not.toHaveProperty("final");
  await pass(untold, 20 * MINUTE);
  expect(untold.receiver.finality).toHaveBeenCalledTimes(1);
});

it("one that was taken back after its delivery is sent again, with the same proof, and not delivered again", async () => {
  const world = createWatched({ outcome: "gone" }, { ...standing, transaction: AGAIN, outcome: "final" });
  const { headers, id, record } = await sell(world);
  const sent: unknown[] = [];
  world.receiver.settlements.push((proof, { settlementId, resource }) => {
    sent.push({ proof, settlementId, resource });
    return { outcome: "settled", transaction: AGAIN, payer: proof.payer, height: 9 };
  });
  await pass(world, 25_000);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({
    proof: { id, kind: "authorization", requirement: { amount: 10_000n }, authorization: { value: 10_000n } },
    resource: { url: "http://shop.example/report" },
  });
  expect(await record()).toMatchObject({
    settlement: "settled",
    delivery: "delivered",
    deliveries: [expect.any(String)],
  });
  expect((await record())?.trace).toMatchObject({ transaction: AGAIN, height: 9 });
  expect(world.told).toMatchObject([
    ["reorganised", { proofId: id, transaction: TRANSACTION }],
    ["reconciled", { outcome: "settled", how: "sent_again", transaction: AGAIN }],
  ]);
  await pass(world, MINUTE);
  expect(await record()).toMatchObject({ final: true });
  expect(codeOf(await world.send({ headers: { ...headers, "Content-Type": "other" } }))).toEqual([
    409,
    "payment_already_used",
  ]);
  expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 2]);
});

it("an answer that was not delivered waits until the money is there anew", async () => {
  const world = createWatched({ outcome: "gone" });
  const { headers, record } = await sell(world, "leaves");
  world.receiver.settlements.push(() => ({ outcome: "unavailable", message: "no connection" }));
  await pass(world, 20_500);
  expect((await record())?.settlement).toBe("unknown");
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "poor" }));
  expect(codeOf(await world.send({ headers }))).toEqual([503, "settlement_unknown"]);
  await pass(world, 500);
  expect(world.runs).toHaveLength(1);
  await pass(world, 10_000);
  expect((await record())?.settlement).toBe("settled");
  expect((await world.send({ headers })).answer.status).toBe(200);
});

it("one that can never come any more is expired, and a loss where its goods are out", async () => {
  const world = createWatched({ outcome: "gone" }, { outcome: "lost" });
  const { headers, id, record } = await sell(world);
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "poor" }));
  await pass(world, MINUTE);
  expect(await record()).toMatchObject({ settlement: "expired", delivery: "delivered" });
  expect(world.told).toMatchObject([
    ["reorganised", { proofId: id }],
    ["expired", { proofId: id, delivered: true }],
    ["reconciled", { outcome: "expired" }],
  ]);
  expect(world.log.some((line) => line.includes("lost, and its goods are delivered"))).toBe(true);
  expect(codeOf(await world.send({ headers }))).toEqual([402, "payment_expired"]);
});

it("what was delivered for a payment that was lost is not sold again for another signature of its nonce", async () => {
  const world = createWatched({ outcome: "lost" });
  await sell(world);
  await pass(world, 30_000);
  const nonce = `0x${"1".padStart(64, "0")}`;
  const validBefore = String(Math.floor(world.clock.now() / 1000) + 61);
  const headers = await world.sign({ retryKey: KEY, authorization: { nonce, validBefore } });
  expect(codeOf(await world.send({ headers }))).toEqual([402, "payment_expired"]);
  expect(world.runs).toHaveLength(1);
});

it("a transaction that replaces one that was taken back after its delivery buys nothing more", async () => {
  const receiver = watching({ outcome: "gone" });
  const world = createWorld({ price: "0.001 ETH", receiver });
  await world.send({ headers: await world.show({ key: "one", note: "first" }) });
  expect(world.runs).toHaveLength(1);
  receiver.settlements.push(() => ({ outcome: "unknown", message: "not mined" }));
  world.context.lookups.watch();
  await pass(world, 20_000);
  const faster = await world.show({ key: "one", note: "faster" });
  receiver.verification = { outcome: "valid", payer: world.runs[0]?.payer ?? "", minedAt: world.clock.now() };
  receiver.settlements.push(() => ({ outcome: "unknown", message: "not mined" }));
  expect((await world.send({ headers: faster })).answer.status).toBe(503);
  expect(world.runs).toHaveLength(1);
});

it("without the signature it is not sent again, and without evidence it is no settlement any more", async () => {
  const clock = createFakeClock();
  const world = createWorld({
    clock,
    store: memoryStore({ maxKeptBytes: 100 }, clock),
    receiver: watching({ outcome: "gone" }),
  });
  const { record } = await sell(world);
  await pass(world, 30_000);
  expect(world.receiver.calls.settle).toBe(1);
  expect(await record()).toMatchObject({ settlement: "unknown", delivery: "delivered" });
});

it("a receiver's mere word does not settle it anew: it may be its word of the first time", async () => {
  const world = createWatched({ outcome: "gone" });
  const { record } = await sell(world);
  world.receiver.settlements.push(({ payer }) => ({
    outcome: "settled",
    transaction: TRANSACTION,
    payer,
    evidence: "word",
  }));
  await pass(world, 20_500);
  expect((await record())?.settlement).toBe("unknown");
});

it("a delivery that goes on is not cut off by a reorganisation: it is looked at when it has ended", async () => {
  const world = createWatched({ outcome: "gone" });
  const headers = await world.sign({ retryKey: KEY });
  const claims = vi.spyOn(world.claims, "delivered").mockImplementation(() => new Promise(() => {}));
  void world.send({ headers });
  await world.clock.advance(0);
  const id = world.runs[0]?.proofId ?? "";
  world.context.lookups.watch();
  await pass(world, 14_000);
  expect(world.receiver.finality).not.toHaveBeenCalled();
  expect((await world.claims.peek(id)).record).toMatchObject({ settlement: "settled", delivery: "delivering" });
  claims.mockRestore();
});

it.each(["signed", "reorganise", "resettle"] as const)(
  "a store that never ends to answer (%s) while one is sent again holds it for ten seconds only",
  async (step) => {
    const world = createWatched({ outcome: "gone" }, { outcome: "gone" }, { ...standing, outcome: "final" });
    const real = world.claims[step] as (...args: unknown[]) => Promise<unknown>;
    let hangs = true;
    const asked = vi.fn((...args: unknown[]) => (hangs ? new Promise(() => {}) : real(...args)));
    Object.assign(world.claims, { [step]: asked });
    const { record } = await sell(world);
    await pass(world, 20_000);
    expect(asked).toHaveBeenCalledTimes(1);
    hangs = false;
    await pass(world, 10 * MINUTE);
    expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered", final: true });
    world.context.lookups.close();
  },
);

it("of two processes one sends it again", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const worlds = [1, 2].map(() => createWorld({ clock, store, receiver: watching({ outcome: "gone" }, standing) }));
  const [one, two] = worlds as [World, World];
  await sell(one);
  two.context.lookups.watch();
  await pass(one, 20_000);
  expect(one.receiver.calls.settle + two.receiver.calls.settle).toBe(2);
});
