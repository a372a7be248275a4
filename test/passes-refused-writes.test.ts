// Passes on a store that does not write: what was not counted opens nothing, what was not stored is given to nobody, and where only
// the word of a write got lost, the use is gone and nothing ran.
import { describe, expect, it, vi } from "vitest";
import { createCommits } from "../src/commits.js";
import { sha256 } from "../src/hash.js";
import { giveUseBack, takeUse } from "../src/passes.js";
import { memoryStore } from "../src/store/memory.js";
import type { CommitResult, Store } from "../src/store/store.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import { createWorld, type Sent, type World } from "./support/world.js";

const KEY = "retry-key-0123456789";
const HOUR = 3_600_000;
const REFUSALS = ["full", "too_many", "over_sum"] as const satisfies readonly CommitResult[];

/** A shop that sells passes of three, on a store whose writes of a pass can be given another answer. */
function shop() {
  const clock = createFakeClock();
  const memory = memoryStore({}, clock);
  const passes: { commit: Store["commit"] } = { commit: memory.commit };
  const store: Store = {
    ...memory,
    commit: (transaction) =>
      transaction.writes.some(({ key }) => key.startsWith("pass:"))
        ? passes.commit(transaction)
        : memory.commit(transaction),
  };
  const world = createWorld({ clock, store, terms: { pass: { uses: 3, ms: HOUR } } });
  return { world, clock, store, memory, passes };
}
const outcome = ({ answer, json }: Sent) => (answer.status < 400 ? answer.status : json().code);
const passOf = (sent: Sent) => ({ "Payment-Pass": sent.header("Payment-Pass") ?? "none" });
async function uses(world: World, headers: Record<string, string>, count: number) {
  const outcomes: unknown[] = [];
  for (let use = 0; use < count; use += 1) outcomes.push(outcome(await world.send({ headers })));
  return outcomes;
}

describe.each(REFUSALS)("where the store answers a pass with %s", (refusal) => {
  it("no use is served that was not counted, and all that were sold are there afterwards", async () => {
    const { world, memory, passes } = shop();
    const headers = passOf(await world.send({ headers: await world.sign() }));
    passes.commit = async () => refusal;
    expect(await uses(world, headers, 20)).toEqual(Array(20).fill("store_unavailable"));
    expect(world.runs).toHaveLength(1);
    passes.commit = memory.commit;
    expect(await uses(world, headers, 3)).toEqual([200, 200, "pass_used_up"]);
  });

  it("no token leaves that was not stored: it is logged, and the buyer has goods and pass by asking again", async () => {
    const { world, clock, memory, passes } = shop();
    const headers = await world.sign({ retryKey: KEY });
    passes.commit = async () => refusal;
    const first = await world.send({ headers });
    expect([outcome(first), first.header("Payment-Pass")]).toEqual(["settlement_unknown", undefined]);
    expect(world.log.join()).toContain("a pass that was paid for could not be stored");
    passes.commit = memory.commit;
    await clock.advance(15_001);
    const again = await world.send({ headers });
    expect(outcome(again)).toBe(200);
    expect(await uses(world, passOf(again), 3)).toEqual([200, 200, "pass_used_up"]);
    expect(world.receiver.calls.settle).toBe(1);
  });

  it("a use that could not be given back is not taken for one that was", async () => {
    const { world, clock, store, memory, passes } = shop();
    const { "Payment-Pass": token } = passOf(await world.send({ headers: await world.sign() }));
    const digest = await sha256(token);
    const commits = createCommits(store);
    const storedAt = async (key: string) => (await memory.read([key])).entries[0]?.value;
    const { proofId } = (await storedAt(`passtoken:${digest}`)) as { proofId: string };
    const { place } = (await storedAt(`pass:${proofId}`)) as { place: string };
    const taken = await takeUse({ commits, clock }, digest, place, () => true);
    if (!taken.ok) throw new Error(taken.code);
    passes.commit = async () => refusal;
    await expect(giveUseBack({ commits, clock }, taken.use)).rejects.toMatchObject({ code: "store_unavailable" });
  });
});

it("a use that was written and whose word got lost is counted, refused with 503, and runs nothing", async () => {
  const { world, memory, passes } = shop();
  const headers = passOf(await world.send({ headers: await world.sign() }));
  passes.commit = async (transaction) => {
    await memory.commit(transaction);
    throw new Error("the connection was cut");
  };
  const refused = await world.send({ headers });
  expect([refused.answer.status, outcome(refused)]).toEqual([503, "store_unavailable"]);
  expect(world.runs).toHaveLength(1);
  passes.commit = memory.commit;
  expect(await uses(world, headers, 2)).toEqual([200, "pass_used_up"]);
});

it("a use whose write never ends holds the pass for ten seconds: it and those behind it are refused, and the next is good", async () => {
  const { world, clock, store, memory, passes } = shop();
  const headers = passOf(await world.send({ headers: await world.sign() }));
  const hung = vi.fn(() => new Promise<never>(() => {}));
  passes.commit = hung;
  const reads = vi.spyOn(store, "read");
  const tokensRead = () => reads.mock.calls.filter(([keys]) => keys[0]?.startsWith("passtoken:")).length;
  const waiting = [1, 2, 3].map(() => world.send({ headers }));
  await vi.waitFor(() => expect([tokensRead(), hung.mock.calls.length]).toEqual([3, 1]), { timeout: 10_000 });
  await clock.advance(9_999);
  expect(hung).toHaveBeenCalledTimes(1);
  expect(await Promise.race([Promise.any(waiting), settle().then(() => "all wait")])).toBe("all wait");
  await clock.advance(1);
  const refused = await Promise.race([Promise.all(waiting), settle().then((): Sent[] => [])]);
  expect(refused.map((sent) => [sent.answer.status, outcome(sent)])).toEqual(
    waiting.map(() => [503, "store_unavailable"]),
  );
  expect(world.runs).toHaveLength(1);
  passes.commit = memory.commit;
  expect(await uses(world, headers, 3)).toEqual([200, 200, "pass_used_up"]);
});

it("a use that cannot be given back because the store never answers holds the pass no longer either", async () => {
  const { world, clock, memory, passes } = shop();
  const headers = passOf(await world.send({ headers: await world.sign() }));
  const hung = vi.fn(() => new Promise<never>(() => {}));
  const answered = world.send({ headers }, () => {
    passes.commit = hung;
    return { status: 500, headers: [], body: "sorry" };
  });
  await vi.waitFor(() => expect(hung).toHaveBeenCalledTimes(1), { timeout: 10_000 });
  await clock.advance(10_000);
  const status = answered.then(({ answer }) => answer.status);
  expect(await Promise.race([status, settle().then(() => "still waits")])).toBe(500);
  passes.commit = memory.commit;
  expect(await uses(world, headers, 2)).toEqual([200, "pass_used_up"]);
});
