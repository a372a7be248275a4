// A process that is stopped between the store's word that it may deliver and the first byte of the answer: when it wakes up after
// its lease, another one may have delivered in its place, so it delivers nothing that is not still its own.
import { describe, expect, it } from "vitest";
import { memoryStore } from "../src/store/memory.js";
import type { ProofRecord } from "../src/store/record.js";
import type { Store } from "../src/store/store.js";
import { createFakeClock } from "./support/fake-clock.js";
import { createWorld } from "./support/world.js";

const LEASE_MS = 15_000;
/** As a kept answer. */
const GOODS = { status: 200, body: new TextEncoder().encode("the goods") };

/** A world on a store that two processes share, in which the first one falls asleep with the right to deliver in its hand. */
function openWorlds(sleepMs: number, meanwhile: () => Promise<unknown>) {
  const clock = createFakeClock();
  const shared = memoryStore({}, clock);
  let isAwake = true;
  const commit: Store["commit"] = async (transaction) => {
    const result = await shared.commit(transaction);
    const record = transaction.writes.find(({ key }) => key.startsWith("proof:"))?.value as ProofRecord | undefined;
    if (isAwake && record?.delivery === "delivering") {
      isAwake = false;
      await clock.advance(sleepMs);
      await meanwhile();
    }
    return result;
  };
  const limits = { leaseMs: LEASE_MS };
  const first = createWorld({ clock, limits, store: { ...shared, commit } });
  const second = createWorld({ clock, limits, store: { ...shared } });
  return { first, second };
}

describe("a process that slept before it delivered", () => {
  it("delivers nothing when another one has delivered meanwhile", async () => {
    const bodies: unknown[] = [];
    let headers: Record<string, string> = {};
    const { first, second } = openWorlds(LEASE_MS + 1, async () => {
      bodies.push((await second.send({ headers })).answer);
    });
    headers = await first.sign();
    const { answer } = await first.send({ headers });
    expect(bodies).toMatchObject([GOODS]);
    expect(answer.status).toBe(503);
    expect((await second.send({ headers })).json()).toMatchObject({ code: "payment_already_used" });
  });

  it("delivers nothing when its lease ran out and nobody came, and whoever asks again gets the goods", async () => {
    const { first } = openWorlds(LEASE_MS + 1, async () => undefined);
    const headers = await first.sign();
    expect((await first.send({ headers })).json()).toMatchObject({ code: "settlement_unknown" });
    expect((await first.send({ headers })).answer).toMatchObject(GOODS);
  });

  it("delivers when it slept for less than its lease", async () => {
    const { first } = openWorlds(LEASE_MS - 1, async () => undefined);
    expect((await first.send({ headers: await first.sign() })).answer).toMatchObject({
      status: 200,
      body: "the goods",
    });
  });

  it("delivers no kept answer that another one has delivered meanwhile", async () => {
    const bodies: unknown[] = [];
    let headers: Record<string, string> = {};
    const { first, second } = openWorlds(LEASE_MS + 1, async () => {
      bodies.push((await second.send({ headers })).answer);
    });
    headers = await second.sign();
    // Paid, and its buyer has gone before the answer came: the kept answer waits.
    await second.send({ headers, client: "leaves" });
    const { answer } = await first.send({ headers });
    expect(bodies).toMatchObject([GOODS]);
    expect(answer.status).toBe(409);
  });
});
