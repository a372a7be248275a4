import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../src/clock.js";
import { createFacilitator } from "../../src/receive/facilitator.js";
import type { Requirement } from "../../src/requirement.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer, type ScriptedAnswer, type ScriptedFacilitator } from "../support/scripted-facilitator.js";

let world: FacilitatorWorld;
let service: ScriptedFacilitator;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  service = world.service;
  return () => world.close();
});

const ready = (requirements: readonly Requirement[] = [REQUIREMENT], signal = world.signal) =>
  world.receiver.ready(requirements, signal);
const fetches = () => world.sentTo("supported").length;

/** The pause before the next fetch, once it is planned. */
async function nextPause(afterFetches: number): Promise<number> {
  await service.received("supported", afterFetches);
  const planned = () => {
    expect(world.clock.pending).toHaveLength(1);
    return world.clock.pending[0]!;
  };
  return vi.waitFor(planned, { timeout: 10_000 });
}

describe("the start-up check of a facilitator", () => {
  it.each([
    ["v2", [{ x402Version: 2, scheme: "exact", network: "eip155:84532" }]],
    ["v1", [{ x402Version: 1, scheme: "exact", network: "base-sepolia" }]],
    ["a CAIP-2 id in v1", [{ x402Version: 1, scheme: "exact", network: "eip155:84532" }]],
    ["a pattern", [{ x402Version: 2, scheme: "exact", network: "eip155:*", extra: null }]],
    [
      "unknown kinds beside it",
      [
        { x402Version: 9, scheme: "haggle", network: "moon" },
        { x402Version: 2, scheme: "exact", network: "eip155:84532" },
      ],
    ],
  ])("passes where the network is listed by %s", async (_name, kinds) => {
    service.always("supported", answer.json({ kinds }));
    expect(await ready()).toEqual({ state: "ready" });
  });

  it.each([
    ["nothing", []],
    ["another network", [{ x402Version: 2, scheme: "exact", network: "eip155:8453" }]],
    ["another scheme", [{ x402Version: 2, scheme: "upto", network: "eip155:84532" }]],
    ["a v1 name in v2", [{ x402Version: 2, scheme: "exact", network: "base-sepolia" }]],
    ["another spelling in v2", [{ x402Version: 2, scheme: "exact", network: "EIP155:84532" }]],
    ["a pattern of another family", [{ x402Version: 2, scheme: "exact", network: "solana:*" }]],
    ["a later version", [{ x402Version: 3, scheme: "exact", network: "eip155:84532" }]],
  ])("fails where the list has %s, and names what is listed", async (_name, kinds) => {
    service.always("supported", answer.json({ kinds }));
    const listed = kinds[0] ? `${kinds[0].scheme} on ${kinds[0].network} (v${kinds[0].x402Version})` : "nothing";
    expect(await ready()).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "supported", expected: "exact on eip155:84532", got: listed }],
    });
  });

  it("names each missing network once", async () => {
    const polygon = { ...REQUIREMENT, network: "eip155:137" };
    const problems = [{ expected: "exact on eip155:137" }];
    expect(await ready([REQUIREMENT, polygon, { ...polygon, amount: 5n }])).toMatchObject({
      state: "misconfigured",
      problems,
    });
  });

  it.each([401, 403])("calls refused credentials (%i) a misconfiguration", async (status) => {
    service.always("supported", answer.status(status));
    expect(await ready()).toMatchObject({ state: "misconfigured", problems: [{ check: "credentials" }] });
  });

  const failures: [name: string, scripted: () => ScriptedAnswer][] = [
    ["status 404", () => answer.status(404)],
    ["status 429", () => answer.status(429)],
    ["status 500", () => answer.status(500)],
    ["a list with status 500", () => answer.json({ kinds: [] }, 500)],
    ["status 308", () => answer.redirect(service.url)],
    ["HTML", () => answer.html()],
    ["{}", () => answer.json({})],
    ["kinds that are no list", () => answer.json({ kinds: "all" })],
    ["a reset", () => answer.reset()],
    ["an answer that breaks off", () => answer.cutOff()],
  ];
  it.each(failures)("calls %s unreachable, and passes on the next attempt", async (_name, scripted) => {
    service.script("supported", scripted());
    expect(await ready()).toMatchObject({ state: "unreachable" });
    const second = ready();
    world.clock.advance(await nextPause(1));
    expect(await second).toEqual({ state: "ready" });
    expect(fetches()).toBe(2);
  });

  it("is one fetch for many callers", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.script("supported", answer.after(gate, answer.honest()));
    const asked = Array.from({ length: 20 }, () => ready());
    // By the time that a later call has come back, further fetches would have arrived.
    await world.verify(await makeProof());
    release();
    expect(await Promise.all(asked)).toEqual(Array(20).fill({ state: "ready" }));
    expect(fetches()).toBe(1);
  });

  it("gives up waiting when its signal aborts", async () => {
    service.script("supported", answer.hang());
    const abort = new AbortController();
    const asked = ready([REQUIREMENT], abort.signal);
    await service.received("supported", 1);
    abort.abort();
    expect(await asked).toMatchObject({ state: "unreachable" });
  });
});

describe("the list of a facilitator", () => {
  it("is refreshed in the background, and the old one serves meanwhile and after a failure", async () => {
    expect(await ready()).toEqual({ state: "ready" });
    service.script("supported", answer.hang(), answer.status(500));
    world.clock.advance(await nextPause(1));
    await service.received("supported", 2);
    expect(await ready()).toEqual({ state: "ready" });
    expect(await ready([{ ...REQUIREMENT, network: "eip155:137" }])).toMatchObject({ state: "misconfigured" });
    expect(fetches()).toBe(2);
  });

  it("is asked for again within five minutes, and what is new in it counts", async () => {
    await ready();
    const pause = await nextPause(1);
    expect(pause).toBeGreaterThanOrEqual(150_000);
    expect(pause).toBeLessThanOrEqual(300_000);
    service.always("supported", answer.json({ kinds: [{ x402Version: 2, scheme: "exact", network: "eip155:137" }] }));
    world.clock.advance(pause);
    await nextPause(2);
    expect(await ready()).toMatchObject({ state: "misconfigured", problems: [{ got: "exact on eip155:137 (v2)" }] });
  });

  it("is asked for again after a mismatch, so that the next look sees whether one odd answer was all", async () => {
    service.script("supported", answer.json({ kinds: [] }));
    expect(await ready()).toMatchObject({ state: "misconfigured" });
    world.clock.advance(60_000);
    expect(await ready()).toMatchObject({ state: "misconfigured" });
    await service.received("supported", 2);
    await vi.waitFor(async () => expect(await ready()).toEqual({ state: "ready" }), { timeout: 10_000 });
    expect(fetches()).toBe(2);
  });

  it("is tried again after pauses that double from a second to half a minute", async () => {
    service.always("supported", answer.status(503));
    void ready();
    const pauses: number[] = [];
    for (let fetched = 1; fetched <= 8; fetched++) {
      pauses.push(await nextPause(fetched));
      world.clock.advance(pauses.at(-1)!);
    }
    // random() is 0.5: three quarters of each full pause.
    expect(pauses).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500]);
  });

  it("is not asked for before the time that Retry-After names", async () => {
    service.script("supported", answer.status(429, { "retry-after": "20" }));
    expect(await ready()).toMatchObject({ state: "unreachable" });
    expect(await nextPause(1)).toBe(20_750);
    // The next attempt is too far off to wait for.
    expect(await ready()).toMatchObject({ state: "unreachable" });
    world.clock.advance(20_749);
    expect(fetches()).toBe(1);
    world.clock.advance(1);
    await nextPause(2);
    expect(await ready()).toEqual({ state: "ready" });
  });

  it("is never asked for on the path of a payment", async () => {
    const proof = await makeProof();
    await world.verify(proof);
    await world.settle(proof);
    expect(fetches()).toBe(0);
  });

  it("is not asked for after close()", async () => {
    await ready();
    await nextPause(1);
    await world.receiver.close();
    expect(world.clock.pending).toEqual([]);
  });

  it("tells the operator of failing refreshes once a minute", async () => {
    service.always("supported", answer.status(503));
    void ready();
    for (let fetched = 1; fetched <= 4; fetched++) world.clock.advance(await nextPause(fetched));
    expect(world.log).toHaveLength(1);
    expect(world.log[0]).toContain("/supported: answered 503");
  });
});

describe("twenty workers that start during a storm of 429", () => {
  it("are all ready within ten seconds, on the real clock", async () => {
    const openAt = Date.now() + 3_000;
    service.always("supported", (exchange) => (Date.now() < openAt ? answer.status(429) : answer.honest())(exchange));
    const startedAt = Date.now();
    const receivers = Array.from({ length: 20 }, () =>
      createFacilitator({ url: service.url, logger: silent }, { clock: systemClock, random: Math.random }),
    );
    await Promise.all(
      receivers.map(async (receiver) => {
        while ((await receiver.ready([REQUIREMENT], world.signal)).state !== "ready")
          expect(Date.now()).toBeLessThan(startedAt + 10_000);
      }),
    );
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(2_900);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(fetches()).toBeLessThan(20 * 6);
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };
