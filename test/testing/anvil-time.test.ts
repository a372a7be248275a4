// A local chain tells this machine's time, as a real one does: a block that is mined now was mined now, whatever went before.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Anvil, startAnvil } from "../../src/testing/anvil.js";
import { aheadBy, catchUp } from "../../src/testing/anvil-time.js";

let chain: Anvil;
beforeAll(async () => {
  chain = await startAnvil();
});
afterAll(() => chain.stop());

const secondsNow = () => Math.floor(Date.now() / 1000);
const aSecondLater = () => {
  const now = secondsNow();
  return vi.waitUntil(() => secondsNow() > now + 1, { timeout: 5_000 });
};
/** Seconds between this machine's clock and a block that is mined now. */
const lateness = async () => {
  const before = secondsNow();
  await chain.mine();
  return before - (await chain.time());
};

it("is moved on where it began late, as on a machine that was busy while it started", async () => {
  await chain.rpc("evm_setTime", [secondsNow() - 7]);
  expect(await aheadBy(chain)).toBeLessThanOrEqual(-7);
  await catchUp(chain, 0);
  expect(await aheadBy(chain)).toBe(0);
  expect(await lateness()).toBeLessThanOrEqual(0);
});

it("goes on while blocks are replaced", async () => {
  await chain.mine(5);
  await aSecondLater();
  await chain.reorg(3);
  expect(await lateness()).toBeLessThanOrEqual(0);
});

it("goes on from a snapshot as it went when that was made", async () => {
  const [present, ahead] = [await chain.snapshot(), await aheadBy(chain)];
  await chain.setTime(secondsNow() + 86_400);
  const [future, farAhead] = [await chain.snapshot(), await aheadBy(chain)];
  expect(farAhead).toBeGreaterThan(86_000);
  await aSecondLater();
  await chain.revert(future);
  expect(await aheadBy(chain)).toBe(farAhead);
  await chain.revert(present);
  expect(await aheadBy(chain)).toBe(ahead);
  expect(await lateness()).toBeLessThanOrEqual(0);
});

it("stays ahead where it was set ahead", async () => {
  await chain.setTime(secondsNow() + 86_400);
  const farAhead = await aheadBy(chain);
  await aSecondLater();
  await chain.reorg(1);
  expect(await aheadBy(chain)).toBe(farAhead);
  await catchUp(chain, 0);
  expect(await aheadBy(chain)).toBe(farAhead);
});
