// How many settlements of one payer are on their way at once, on a clock of the test's own.
import { describe, expect, it, vi } from "vitest";
import { createTurns } from "../../src/receive/turns.js";

describe("turns", () => {
  it("are given up to the limit at once, and then in the order of asking as others end", async () => {
    const turns = createTurns(2, Date.now);
    const until = Date.now() + 60_000;
    const [first, second] = [await turns.take("payer", until), await turns.take("payer", until)];
    const came: string[] = [];
    const wait = async (name: string) => {
      const turn = await turns.take("payer", until);
      came.push(name);
      return turn;
    };
    const [third, fourth] = [wait("third"), wait("fourth")];
    first?.();
    first?.();
    expect(await third).toBeTypeOf("function");
    expect(came).toEqual(["third"]);
    second?.();
    expect(await fourth).toBeTypeOf("function");
  });

  it("of one payer say nothing about another one", async () => {
    const turns = createTurns(1, Date.now);
    await turns.take("payer", Date.now() + 60_000);
    expect(await turns.take("other", Date.now() + 60_000)).toBeTypeOf("function");
  });

  it("end without one when the time is over, and the patient get theirs", async () => {
    vi.useFakeTimers();
    try {
      const turns = createTurns(1, Date.now);
      const held = await turns.take("payer", Date.now() + 60_000);
      const late = turns.take("payer", Date.now() + 1_000);
      const patient = turns.take("payer", Date.now() + 30_000);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await late).toBeUndefined();
      held?.();
      expect(await patient).toBeTypeOf("function");
    } finally {
      vi.useRealTimers();
    }
  });

  it("that were never given back count no longer than their time", async () => {
    let now = 0;
    const turns = createTurns(1, () => now);
    await turns.take("payer", 1_000);
    now = 1_000;
    expect(await turns.take("payer", 2_000)).toBeTypeOf("function");
  });
});
