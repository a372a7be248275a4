// Never a second settlement while the first may have happened: the second receiver is asked only when nothing has left for the first.
import { beforeEach, describe, expect, it } from "vitest";
import type { Receiver, SettleContext, Settlement } from "../../src/receive/receiver.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { answer, type ScriptedAnswer } from "../support/scripted-facilitator.js";
import { createFailoverWorld, type FailoverWorld, type Place, settleBy, standIn, verifyBy } from "./failover-world.js";

let world: FailoverWorld;
let [first, second]: Place[] = [];
let both: Receiver;
beforeEach(async () => {
  world = createFailoverWorld();
  [first, second] = [await world.start(), await world.start()];
  both = world.open([first.receiver, second.receiver]);
  return () => world.close();
});

const settle = async (receiver = both, more: Partial<SettleContext> = {}) =>
  settleBy(receiver, await makeProof(), world.clock, more);
const asked = () => [first?.count("settle"), second?.count("settle")];

describe("a settlement by two facilitators", () => {
  it("is the first one's business as long as that works", async () => {
    expect(await settle()).toMatchObject({ outcome: "settled", evidence: "word" });
    expect(asked()).toEqual([1, 0]);
  });

  it("goes to the second where nobody listens at the first: not a byte has left", async () => {
    await first?.service.close();
    expect(await settle()).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([0, 1]);
  });

  it("goes to the second where the seller has no credentials for the first: nothing is sent without them", async () => {
    const headers = () => Promise.reject(new Error("the vault is closed"));
    const locked = await world.start({}, { headers });
    expect(await settle(world.open([locked.receiver, first!.receiver]))).toMatchObject({ outcome: "settled" });
    expect([locked.count("settle"), ...asked()]).toEqual([0, 1, 0]);
  });

  const maybe: [name: string, scripted: () => ScriptedAnswer][] = [
    ["a reset before it acts", () => answer.reset()],
    ["a reset after it acted", () => answer.resetAfterActing()],
    ["silence", () => answer.hang()],
    ["silence after it acted", () => answer.hangAfterActing()],
    ["status 500", () => answer.status(500)],
    ["status 503", () => answer.status(503)],
    ["status 401", () => answer.status(401)],
    ["HTML", () => answer.html()],
    ["an answer that breaks off", () => answer.cutOff()],
    [
      "the lie that another network was paid",
      () => answer.json({ success: true, transaction: "0x1", network: "base" }),
    ],
    ["a success without a transaction", () => answer.json({ success: true, transaction: "", network: "" })],
    ["a failure of its own", () => answer.refuse("unexpected_settle_error")],
    ["the claim that the nonce is used", () => answer.refuse("invalid_exact_evm_nonce_already_used")],
  ];
  it.each(maybe)("stays unknown after %s by the first, and the second is never asked", async (_name, scripted) => {
    first?.service.script("settle", scripted());
    expect(await settle()).toMatchObject({ outcome: "unknown" });
    expect(asked()).toEqual([1, 0]);
  });

  it("is refused by the first alone where the fault is the payer's", async () => {
    first?.service.script("settle", answer.refuse("insufficient_funds"));
    expect(await settle()).toMatchObject({ outcome: "refused", reason: "insufficient_funds" });
    expect(asked()).toEqual([1, 0]);
  });

  it("is unavailable where neither can be reached, and says of whom the last word is", async () => {
    await Promise.all([first?.service.close(), second?.service.close()]);
    const settlement = await settle();
    expect(settlement).toMatchObject({ outcome: "unavailable", message: expect.stringContaining("failover[1]") });
  });
});

describe("what is no proof that nothing has left", () => {
  const unavailable: Settlement = { outcome: "unavailable", message: "no gas" };
  const settling = (settle: Receiver["settle"]) => {
    const log: string[] = [];
    const one = (name: string, by: Receiver["settle"]) =>
      standIn({
        settle(...args) {
          log.push(name);
          return by(...args);
        },
      });
    const receiver = world.open([one("first", settle), one("second", standIn().settle)]);
    return { receiver, log };
  };

  it("a service's word, after it was asked, that it has not begun", async () => {
    const { receiver, log } = settling(async () => ({ ...unavailable, answered: true }));
    expect(await settle(receiver)).toMatchObject({ outcome: "unavailable", answered: true });
    expect(log).toEqual(["first"]);
  });

  it("a transaction that was announced: it has been signed", async () => {
    const { receiver, log } = settling(async (_proof, { sending }) => {
      await sending(`0x${"11".repeat(32)}`);
      return unavailable;
    });
    expect(await settle(receiver)).toMatchObject({ outcome: "unavailable" });
    expect(log).toEqual(["first"]);
  });

  it("an error that is thrown", async () => {
    const { receiver, log } = settling(() => Promise.reject(new Error("out of memory")));
    expect(await settle(receiver)).toMatchObject({
      outcome: "unknown",
      message: expect.stringMatching("out of memory"),
    });
    expect(log).toEqual(["first"]);
  });

  it("an error that is thrown at once, or an answer that is none", async () => {
    const thrown = () => {
      throw new Error("out of memory");
    };
    for (const odd of [thrown, async () => ({}) as never]) {
      const { receiver, log } = settling(odd);
      expect(await settle(receiver)).toMatchObject({ outcome: "unknown" });
      expect(log).toEqual(["first"]);
    }
  });

  it("an answer that comes when nobody waits for it any more", async () => {
    let give = (_: Settlement) => {};
    const { receiver, log } = settling(() => new Promise((resolve) => (give = resolve)));
    const late = settle(receiver);
    await new Promise((resolve) => setImmediate(resolve));
    world.clock.advance(receiver.settleMs(REQUIREMENT.network) + 1);
    give(unavailable);
    expect(await late).toMatchObject({ outcome: "unavailable" });
    expect(log).toEqual(["first"]);
  });

  it("and where it is one, the second has its whole time", async () => {
    let deadlines: number[] = [];
    const startedAt = world.clock.now();
    const { receiver, log } = settling(async (_proof, { deadlineAt }) => {
      deadlines = [...deadlines, deadlineAt - startedAt];
      world.clock.advance(10_000);
      return unavailable;
    });
    expect(receiver.settleMs(REQUIREMENT.network)).toBe(20_000);
    expect(await settle(receiver)).toMatchObject({ outcome: "settled" });
    expect([deadlines, log]).toEqual([[10_000], ["first", "second"]]);
  });
});

describe("the order of settling", () => {
  it("leaves out one that gave no orderly answer three times in a row, for a pause", async () => {
    first?.service.always("settle", answer.status(500));
    const receiver = world.open([first!.receiver, second!.receiver], { pauseMs: 5_000 });
    for (let i = 0; i < 3; i += 1) {
      expect(await settle(receiver)).toMatchObject({ outcome: "unknown" });
      world.clock.advance(5_000);
    }
    // The trial after the pause fails as well, and until the next one everything goes to the second.
    expect(await settle(receiver)).toMatchObject({ outcome: "unknown" });
    for (let i = 0; i < 3; i += 1) expect(await settle(receiver)).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([4, 3]);
    first?.service.always("settle", answer.honest());
    world.clock.advance(5_000);
    for (let i = 0; i < 3; i += 1) expect(await settle(receiver)).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([7, 3]);
  });

  it("asks one that has failed a moment ago only after those that have not", async () => {
    first?.service.script("settle", answer.status(500));
    expect(await settle()).toMatchObject({ outcome: "unknown" });
    expect(await settle()).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([1, 1]);
    world.clock.advance(10_000);
    expect(await settle()).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([2, 1]);
  });

  const faults: [name: string, scripted: () => ScriptedAnswer][] = [
    ["a reset after it acted", () => answer.resetAfterActing()],
    ["status 401", () => answer.status(401)],
    ["status 429", () => answer.status(429)],
    ["a failure of its own with status 500", () => answer.refuse("unexpected_settle_error", 500)],
  ];
  it.each(faults)("leaves out one that gave %s", async (_name, scripted) => {
    first?.service.script("settle", scripted());
    await settle(world.open([first!.receiver, second!.receiver], { failures: 1 }));
    expect(world.log.filter((line) => line.includes("is left out"))).toHaveLength(1);
  });

  it("leaves out one that throws", async () => {
    const broken = standIn({ settle: () => Promise.reject(new Error("out of memory")) });
    await settle(world.open([broken, standIn()], { failures: 1 }));
    expect(world.log.filter((line) => line.includes("is left out"))).toHaveLength(1);
  });

  const odd: [name: string, scripted: () => ScriptedAnswer][] = [
    ["says that the nonce is used", () => answer.refuse("invalid_exact_evm_nonce_already_used")],
    ["fails for a reason that nobody knows", () => answer.refuse("some_new_reason")],
    ["says 200 without an outcome", () => answer.json({})],
    ["says that another network was paid", () => answer.json({ success: true, transaction: "0x1", network: "base" })],
  ];
  it.each(odd)("is there for every other buyer where each %s of one payer's payments", async (_name, scripted) => {
    for (const one of [first, second]) one?.service.always("settle", scripted());
    for (let i = 0; i < 8; i += 1) expect(await settle()).toMatchObject({ outcome: "unknown" });
    for (const one of [first, second]) one?.service.always("settle", answer.honest());
    expect(await settle()).toMatchObject({ outcome: "settled" });
    expect(world.log.filter((line) => line.includes("left out"))).toEqual([]);
  });

  it("is there for every other buyer where both answer one payer 500 until both are left out", async () => {
    for (const one of [first, second]) one?.service.always("settle", answer.refuse("unexpected_settle_error", 500));
    for (let i = 0; i < 8; i += 1) expect(await settle()).toMatchObject({ outcome: "unknown" });
    expect(world.log.filter((line) => line.includes("is left out"))).toHaveLength(2);
    // Each by one of them alone: what may have happened is nobody else's, left out or not.
    expect(Number(first?.count("settle")) + Number(second?.count("settle"))).toBe(8);
    for (const one of [first, second]) one?.service.always("settle", answer.honest());
    expect(await settle()).toMatchObject({ outcome: "settled" });
  });

  it("asks one that is left out where nothing has left for the others", async () => {
    second?.service.always("settle", answer.status(500));
    const receiver = world.open([second!.receiver, first!.receiver], { failures: 1 });
    expect(await settle(receiver)).toMatchObject({ outcome: "unknown" });
    second?.service.always("settle", answer.honest());
    await first?.service.close();
    expect(await settle(receiver)).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([0, 2]);
  });

  it("asks those that are left out for their verifications where no other one is left", async () => {
    for (const one of [first, second]) one?.service.always("verify", answer.status(500));
    for (let i = 0; i < 3; i += 1) await verifyBy(both, await makeProof());
    expect(await settle()).toMatchObject({ outcome: "settled" });
  });

  it("does not hold it against a receiver that a payer has to wait behind settlements of his own", async () => {
    const crowded = standIn({ settle: async () => ({ outcome: "unavailable", crowded: true, message: "too many" }) });
    const receiver = world.open([crowded, standIn()], { failures: 1 });
    expect(await settle(receiver)).toMatchObject({ outcome: "settled" });
    expect(world.log.filter((line) => line.includes("left out"))).toEqual([]);
  });

  it("asks one whose last answer decided nothing only after the others, for a pause", async () => {
    first?.service.script("settle", answer.refuse("some_new_reason"));
    expect(await settle()).toMatchObject({ outcome: "unknown" });
    expect(await settle()).toMatchObject({ outcome: "settled" });
    expect(asked()).toEqual([1, 1]);
  });

  it("does not hold a transaction that failed on the chain against who sent it", async () => {
    const reverted: Settlement = { outcome: "unknown", transaction: "0x1", message: "reverted", reverted: true };
    let calls = 0;
    const vain = standIn({
      async settle() {
        calls += 1;
        return reverted;
      },
    });
    const receiver = world.open([vain, standIn()]);
    for (let i = 0; i < 5; i += 1) expect(await settle(receiver)).toMatchObject({ outcome: "unknown" });
    expect(calls).toBe(5);
  });
});
