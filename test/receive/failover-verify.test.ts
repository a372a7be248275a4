// Verification by the first receiver that gives a verdict: it changes nothing, so the next one may always be asked.
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Receiver, Verification } from "../../src/receive/receiver.js";
import { makeProof } from "../support/bound-proof.js";
import { answer, type ScriptedAnswer } from "../support/scripted-facilitator.js";
import { createFailoverWorld, type FailoverWorld, type Place, signal, standIn, verifyBy } from "./failover-world.js";

let world: FailoverWorld;
let [first, second]: Place[] = [];
let both: Receiver;
beforeEach(async () => {
  world = createFailoverWorld();
  [first, second] = [await world.start(), await world.start()];
  both = world.open([first.receiver, second.receiver]);
  return () => world.close();
});

const verify = async (receiver = both) => verifyBy(receiver, await makeProof());
const asked = () => [first?.count("verify"), second?.count("verify")];
const unavailable: Verification = { outcome: "unavailable", code: "receiver_unreachable", message: "down" };

describe("a verification by two facilitators", () => {
  it("is the first one's verdict, for the payer or against him", async () => {
    expect(await verify()).toMatchObject({ outcome: "valid" });
    first?.service.script("verify", answer.invalid("insufficient_funds"));
    expect(await verify()).toMatchObject({ outcome: "invalid", reason: "insufficient_funds" });
    first?.service.script("verify", answer.invalid("invalid_exact_evm_nonce_already_used"));
    expect(await verify()).toMatchObject({ outcome: "used" });
    expect(asked()).toEqual([3, 0]);
  });

  const noVerdict: [name: string, scripted: () => ScriptedAnswer][] = [
    ["resets the connection", () => answer.reset()],
    ["hangs", () => answer.hang()],
    ["answers 500", () => answer.status(500)],
    ["answers 401", () => answer.status(401)],
    ["answers HTML", () => answer.html()],
    ["breaks off", () => answer.cutOff()],
    ["names another payer", () => answer.json({ isValid: true, payer: `0x${"11".repeat(20)}` })],
    ["fails itself", () => answer.invalid("unexpected_verify_error", 500)],
  ];
  it.each(noVerdict)("is the second one's where the first %s", async (_name, scripted) => {
    first?.service.script("verify", scripted());
    expect(await verify()).toMatchObject({ outcome: "valid" });
    expect(asked()).toEqual([1, 1]);
  });

  it("is the second one's where the first throws at once, or answers what is no verdict", async () => {
    const thrown = () => {
      throw new Error("boom");
    };
    for (const odd of [thrown, async () => ({}) as never]) {
      expect(await verify(world.open([standIn({ verify: odd }), standIn()]))).toMatchObject({ outcome: "valid" });
    }
  });

  it("says once in the log who is left out, and once that it works again", async () => {
    first?.service.always("verify", answer.status(500));
    const lines = () => world.log.filter((line) => line.includes("left out"));
    for (let i = 0; i < 2; i += 1) await verify();
    expect(lines()).toEqual([]);
    for (let i = 0; i < 4; i += 1) await verify();
    world.clock.advance(10_000);
    // The trial fails: it is left out still, and nothing has changed.
    for (let i = 0; i < 4; i += 1) await verify();
    const facts = 'failover[0] (facilitator)","verb":"verify"';
    expect(lines()).toEqual([
      expect.stringMatching(/^warn: a receiver fails and is left out; the next one takes over /),
    ]);
    expect(lines()[0]).toContain(facts);
    expect(lines()[0]).not.toContain(first?.service.url);
    world.clock.advance(10_000);
    first?.service.always("verify", answer.honest());
    for (let i = 0; i < 4; i += 1) await verify();
    expect(lines().slice(1)).toEqual([expect.stringMatching(/^warn: a receiver that was left out works again /)]);
    expect(lines()[1]).toContain(facts);
  });

  it("is nobody's where neither gives one", async () => {
    await Promise.all([first?.service.close(), second?.service.close()]);
    expect(await verify()).toMatchObject({ outcome: "unavailable", code: "receiver_unreachable" });
  });

  it("skips one that failed three times in a row, until it passes a trial after the pause", async () => {
    first?.service.always("verify", answer.status(500));
    for (let i = 0; i < 5; i += 1) expect(await verify()).toMatchObject({ outcome: "valid" });
    expect(asked()).toEqual([3, 5]);
    world.clock.advance(10_000);
    for (let i = 0; i < 3; i += 1) await verify();
    expect(asked()).toEqual([4, 8]);
    first?.service.always("verify", answer.honest());
    world.clock.advance(10_000);
    for (let i = 0; i < 3; i += 1) await verify();
    expect(asked()).toEqual([7, 8]);
  });

  const noWord: [name: string, scripted: () => ScriptedAnswer][] = [
    ["400", () => answer.json({ error: "Invalid request" }, 400)],
    ["a failure of its own", () => answer.invalid("unexpected_verify_error")],
    ["something else", () => answer.json({})],
  ];
  it.each(noWord)(
    "is there for every other buyer, however often both answer one of them %s",
    async (_name, scripted) => {
      expect(await verify()).toMatchObject({ outcome: "valid" });
      for (let i = 0; i < 6; i += 1) {
        for (const one of [first, second]) one?.service.script("verify", scripted());
        expect(await verify()).toMatchObject({ outcome: "unavailable" });
      }
      expect(await verify()).toMatchObject({ outcome: "valid" });
      expect(asked()).toEqual([8, 6]);
      expect(world.log.filter((line) => line.includes("left out"))).toEqual([]);
    },
  );

  it("asks one that gives no verdicts after the other one, tries it first once a pause, and says so once", async () => {
    first?.service.always("verify", answer.status(404));
    for (let pause = 0; pause < 5; pause += 1) {
      for (let i = 0; i < 3; i += 1) expect(await verify()).toMatchObject({ outcome: "valid" });
      expect(asked()).toEqual([pause + 1, 3 * (pause + 1)]);
      world.clock.advance(10_000);
    }
    const lines = world.log.filter((line) => line.includes("without a verdict"));
    expect(lines).toEqual([expect.stringContaining('"receiver":"failover[0] (facilitator)"')]);
    expect(world.log.filter((line) => line.includes("left out"))).toEqual([]);
  });

  it("lets nobody who is answered without a verdict use up the trial of one that is back", async () => {
    for (const one of [first, second]) one?.service.always("verify", answer.status(500));
    for (let i = 0; i < 3; i += 1) await verify();
    for (const one of [first, second]) one?.service.always("verify", answer.honest());
    world.clock.advance(10_000);
    for (const one of [first, second]) one?.service.script("verify", answer.json({}, 400));
    expect(await verify()).toMatchObject({ outcome: "unavailable" });
    expect(await verify()).toMatchObject({ outcome: "valid" });
  });

  it("asks both while both are left out, and closes the one that answers", async () => {
    for (const one of [first, second]) one?.service.always("verify", answer.status(500));
    for (let i = 0; i < 5; i += 1) expect(await verify()).toMatchObject({ outcome: "unavailable" });
    expect(asked()).toEqual([5, 5]);
    for (const one of [first, second]) one?.service.always("verify", answer.honest());
    for (let i = 0; i < 3; i += 1) expect(await verify()).toMatchObject({ outcome: "valid" });
    expect(asked()).toEqual([8, 5]);
  });

  it("is there for every other buyer where both answer one of them 500 until both are left out", async () => {
    for (let i = 0; i < 4; i += 1) {
      for (const one of [first, second]) one?.service.script("verify", answer.invalid("unexpected_verify_error", 500));
      expect(await verify()).toMatchObject({ outcome: "unavailable" });
    }
    expect(world.log.filter((line) => line.includes("is left out"))).toHaveLength(2);
    expect(await verify()).toMatchObject({ outcome: "valid" });
  });
});

describe("a receiver that verifies for ever", () => {
  it("is left behind after its share of the time, and told to stop", async () => {
    const told: boolean[] = [];
    const endless = standIn({
      verify: (_proof, { signal: own }) =>
        new Promise(() => own.addEventListener("abort", () => told.push(true), { once: true })),
    });
    const receiver = world.open([endless, standIn()]);
    const verdict = verify(receiver);
    await vi.waitFor(() => expect(world.clock.pending).toContain(5_000), { timeout: 10_000 });
    world.clock.advance(5_000);
    expect(await verdict).toMatchObject({ outcome: "valid" });
    expect(told).toEqual([true]);
  });

  it("holds nobody up once the guard has given up", async () => {
    const stop = new AbortController();
    let seconds = 0;
    const counting = standIn({
      async verify() {
        seconds += 1;
        return unavailable;
      },
    });
    const receiver = world.open([standIn({ verify: () => new Promise(() => {}) }), counting]);
    const proof = await makeProof();
    const resource = { url: "https://shop.example/report", description: "", mimeType: "" };
    const verdict = receiver.verify(proof, { signatureKnown: false, resource, signal: stop.signal });
    await vi.waitFor(() => expect(world.clock.pending).not.toEqual([]), { timeout: 10_000 });
    stop.abort();
    expect(await verdict).toMatchObject({ outcome: "unavailable" });
    expect([seconds, world.clock.pending]).toEqual([0, []]);
  });
});

describe("what one receiver saw", () => {
  it("is no reason for another one not to look: a signature counts as known to none", async () => {
    const known: boolean[] = [];
    const looking = standIn({
      async verify(proof, { signatureKnown }) {
        known.push(signatureKnown);
        return { outcome: "valid", payer: proof.payer };
      },
    });
    const receiver = world.open([standIn({ verify: () => Promise.reject(new Error("no verdict")) }), looking]);
    const resource = { url: "https://shop.example/report", description: "", mimeType: "" };
    const context = { signatureKnown: true, resource, signal: signal() };
    expect(await receiver.verify(await makeProof(), context)).toMatchObject({ outcome: "valid" });
    expect(known).toEqual([false]);
  });
});
