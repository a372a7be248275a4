// Clocks that disagree: what a buyer's clock may be off by without a refusal, and that every refusal beyond it says so.
import { describe, expect, it } from "vitest";
import { codeOf, createWorld } from "../support/world.js";

const MINUTE = 60;

/** A buyer whose clock is off by so many seconds signs as published clients do: from 600 s ago until the offer's end. */
async function buyWithClock(offBy: number, maxTimeoutSeconds: number) {
  const world = createWorld({ terms: { maxTimeoutSeconds } });
  const now = Math.floor(world.clock.now() / 1000) + offBy;
  const authorization = { validAfter: String(now - 600), validBefore: String(now + maxTimeoutSeconds) };
  const sent = await world.send({ headers: await world.sign({ authorization }) });
  return { sent, settled: world.receiver.calls.settle, runs: world.runs.length };
}

describe("F79: a buyer's clock", () => {
  it.each([
    [0, 60],
    [30, 60],
    [60, 60],
    [-15, 60],
    [30, 300],
    [-30, 300],
    [-4 * MINUTE, 300],
    [60, 300],
  ])("that is off by %i s is good enough where an offer lasts %i s", async (offBy, lasts) => {
    const { sent, settled } = await buyWithClock(offBy, lasts);
    expect([sent.answer.status, settled]).toEqual([200, 1]);
  });

  it.each([
    [-30, 60, "payment_expires_too_soon"],
    [5 * MINUTE, 60, "payment_valid_too_long"],
    [-5 * MINUTE, 60, "payment_expired"],
    [10 * MINUTE, 60, "payment_valid_too_long"],
    [-10 * MINUTE, 60, "payment_expired"],
    [5 * MINUTE, 300, "payment_valid_too_long"],
    [-5 * MINUTE, 300, "payment_expired"],
    [10 * MINUTE, 300, "payment_valid_too_long"],
    [-10 * MINUTE, 300, "payment_expired"],
    [11 * MINUTE, 300, "payment_not_yet_valid"],
  ])("that is off by %i s where an offer lasts %i s gets %s, with the word clock in it", async (offBy, lasts, code) => {
    const { sent, settled, runs } = await buyWithClock(offBy, lasts);
    expect(codeOf(sent)).toEqual([402, code]);
    expect(sent.json().message).toMatch(/clock/);
    expect([settled, runs]).toEqual([0, 0]);
  });
});
