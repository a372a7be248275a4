// Counters of what happens to payments after their sales, by a real flow: found late, expired, taken back by the chain and settled
// anew. Each is counted once, under its network and asset, and money that came twice is counted once.
import { Registry } from "prom-client";
import { collectMetrics } from "tollgate/metrics";
import { expect, it, vi } from "vitest";
import "../src/send-again.js";
import type { Finality } from "../src/receive/receiver.js";
import { createFakeClock, settle } from "./support/fake-clock.js";
import { createWorld, scriptedReceiver, TRANSACTION } from "./support/world.js";

const MINUTE = 60_000;
const AGAIN = `0x${"cd".repeat(32)}`;
const OF = { network: "eip155:84532", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" };

async function openShop() {
  const chain: Finality[] = [];
  const finality = async (): Promise<Finality> => chain.shift() ?? { outcome: "untold" };
  const clock = createFakeClock();
  const world = createWorld({ clock, receiver: { ...scriptedReceiver(), finality } });
  const registry = new Registry();
  await collectMetrics(world.events, registry);
  const counter = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get();
    return metric?.values ?? [];
  };
  const amount = async () => (await counter("tollgate_settled_amount_total")).map(({ value }) => value);
  /** What `event` was counted, with the labels of each series. */
  const counted = async (event: string) =>
    (await counter("tollgate_events_total")).filter(({ labels }) => labels.event === event);
  /** Lets time pass, and what is loaded on the way be loaded. */
  const pass = async (ms: number) => {
    await clock.advance(ms);
    await vi.dynamicImportSettled();
    await settle();
  };
  return { world, chain, amount, counted, pass };
}

const once = (event: string, value = 1) => [{ labels: { event, ...OF, code: "" }, value }];

it("counts what was found late as reconciled and settled, with its money", async () => {
  const { world, amount, counted, pass } = await openShop();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers: await world.sign() });
  await pass(0);
  expect([await counted("unknown"), await counted("reconciled"), await amount()]).toEqual([once("unknown"), [], [0]]);
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await pass(MINUTE);
  expect(await counted("reconciled")).toEqual(once("reconciled"));
  expect(await counted("settled")).toEqual(once("settled"));
  expect([await counted("expired"), await counted("reorganised"), await amount()]).toEqual([[], [], [10_000]]);
});

it("counts what can never come any more as reconciled and expired, without money", async () => {
  const { world, amount, counted, pass } = await openShop();
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers: await world.sign() });
  world.receiver.lookups = [{ outcome: "expired" }];
  await pass(MINUTE);
  expect(await counted("reconciled")).toEqual(once("reconciled"));
  expect(await counted("expired")).toEqual(once("expired"));
  expect([await counted("settled"), await amount()]).toEqual([[], [0]]);
});

it("counts what the chain took back as reorganised, and what came anew as settled and reconciled, its money once", async () => {
  const { world, chain, amount, counted, pass } = await openShop();
  chain.push({ outcome: "gone" }, { outcome: "final", transaction: AGAIN, height: 9 });
  await world.send({ headers: await world.sign() });
  world.receiver.settlements.push(({ payer }) => ({ outcome: "settled", transaction: AGAIN, payer, height: 9 }));
  world.context.lookups.watch();
  await pass(MINUTE);
  expect(await counted("reorganised")).toEqual(once("reorganised"));
  expect(await counted("settled")).toEqual(once("settled", 2));
  // Sent again, and found final.
  expect(await counted("reconciled")).toEqual(once("reconciled", 2));
  expect([await counted("expired"), await amount()]).toEqual([[], [10_000]]);
});

it("counts a delivered settlement that is lost for good as reorganised and expired", async () => {
  const { world, chain, counted, pass } = await openShop();
  chain.push({ outcome: "gone" }, { outcome: "lost" });
  await world.send({ headers: await world.sign() });
  world.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "poor" }));
  world.context.lookups.watch();
  await pass(MINUTE);
  expect(await counted("reorganised")).toEqual(once("reorganised"));
  expect(await counted("expired")).toEqual(once("expired"));
  expect(await counted("reconciled")).toEqual(once("reconciled"));
});
