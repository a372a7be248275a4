// What a paywall tells Prometheus: every event counted, money exact, and no series that a visitor could make.
import { Counter, Registry, register } from "prom-client";
import { collectMetrics } from "tollgate/metrics";
import { expect, it, onTestFinished } from "vitest";
import { createEvents } from "../src/events.js";
import { broken, createWorld } from "./support/world.js";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const ASSET = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const FACTS = { proofId: "p", payer: "0xbuyer", payTo: "0xseller", network: "eip155:84532", asset: ASSET };

/** Values by metric and labels, as they are scraped. */
async function scrape(registry: Registry): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const metric of await registry.getMetricsAsJSON()) {
    for (const { labels, value } of metric.values) {
      const shown = Object.entries(labels).filter(([, text]) => text !== "");
      found[`${metric.name}{${shown.map(([name, text]) => `${name}=${text}`).join(",")}}`] = value;
    }
  }
  return found;
}
const told = () => new Promise((resolve) => setImmediate(resolve));

it("counts events by name, network, asset and code, and what was settled", async () => {
  const world = createWorld();
  const registry = new Registry();
  await collectMetrics(world.events, registry);
  const headers = await world.sign();
  await world.send({ headers }, broken);
  await world.send({ headers });
  await world.send({ headers });
  await told();
  const of = `network=${FACTS.network},asset=${ASSET}`;
  expect(await scrape(registry)).toEqual({
    "tollgate_events_total{event=challenge}": 1,
    [`tollgate_events_total{event=verified,${of}}`]: 2,
    [`tollgate_events_total{event=claimed,${of}}`]: 2,
    [`tollgate_events_total{event=released,${of}}`]: 1,
    [`tollgate_events_total{event=settled,${of}}`]: 1,
    [`tollgate_events_total{event=delivered,${of}}`]: 1,
    "tollgate_events_total{event=refusal,code=payment_already_used}": 1,
    [`tollgate_settled_amount_total{${of}}`]: 10_000,
  });
});

it("never has a payer, a payment, a transaction or a URL for a label", async () => {
  const events = createEvents(silent);
  const registry = new Registry();
  await collectMetrics(events, registry);
  for (let at = 0; at < 50; at += 1) {
    const facts = { ...FACTS, payer: `0xbuyer${at}`, proofId: `p${at}`, payTo: `0xto${at}`, amount: 1n };
    events.emit("challenge", { target: `/visitor/${at}` });
    events.emit("refusal", { code: "route_not_listed", target: `/visitor/${at}` });
    events.emit("settled", { ...facts, transaction: `0xtx${at}` });
    events.emit("refused", { ...facts, reason: `reason ${at}` });
    events.emit("released", { ...facts, why: `why ${at}` });
    events.emit("unknown", { ...facts, transaction: `0xtx${at}`, message: `message ${at}` });
    events.emit("low_gas", { network: FACTS.network, settler: `0xsettler${at}`, balance: 1n, needed: 2n });
  }
  await told();
  expect(Object.keys(await scrape(registry))).toHaveLength(8);
  expect(await registry.metrics()).not.toMatch(/visitor|buyer|0xtx|reason \d|why \d|message \d|0xto|settler/);
});

it("gives assets beyond the first two hundred one series together", async () => {
  const events = createEvents(silent);
  const registry = new Registry();
  await collectMetrics(events, registry);
  for (let at = 0; at < 300; at += 1)
    events.emit("settled", { ...FACTS, asset: `0x${at}`, amount: 5n, transaction: "t" });
  events.emit("settled", { ...FACTS, asset: "0x0", amount: 5n, transaction: "t" });
  await told();
  const series = await scrape(registry);
  expect(Object.keys(series)).toHaveLength(2 * 201);
  expect(series["tollgate_settled_amount_total{network=other,asset=other}"]).toBe(500);
  expect(series[`tollgate_settled_amount_total{network=${FACTS.network},asset=0x0}`]).toBe(10);
});

it("adds money up exactly and rounds only what is shown", async () => {
  const events = createEvents(silent);
  const registry = new Registry();
  await collectMetrics(events, registry);
  events.emit("settled", { ...FACTS, amount: 2n ** 53n, transaction: "t" });
  for (let at = 0; at < 1000; at += 1) events.emit("settled", { ...FACTS, amount: 1n, transaction: "t" });
  await told();
  expect(await scrape(registry)).toMatchObject({
    [`tollgate_settled_amount_total{network=${FACTS.network},asset=${ASSET}}`]: 2 ** 53 + 1000,
  });
});

it("counts a settlement once that the chain took back and that came anew", async () => {
  const events = createEvents(silent);
  const registry = new Registry();
  await collectMetrics(events, registry);
  events.emit("settled", { ...FACTS, amount: 7n, transaction: "first" });
  events.emit("reorganised", { ...FACTS, amount: 7n, transaction: "first" });
  events.emit("settled", { ...FACTS, amount: 7n, transaction: "again" });
  events.emit("settled", { ...FACTS, amount: 3n, transaction: "another" });
  await told();
  const series = await scrape(registry);
  expect(series[`tollgate_settled_amount_total{network=${FACTS.network},asset=${ASSET}}`]).toBe(10);
});

it("counts several paywalls in one registry, beside the app's own figures, until it is ended", async () => {
  const [first, second] = [createEvents(silent), createEvents(silent)];
  onTestFinished(() => register.clear());
  new Counter({ name: "visits_total", help: "of the app" }).inc();
  const [end] = await Promise.all([collectMetrics(first), collectMetrics(second)]);
  for (const events of [first, second]) events.emit("challenge", { target: "/" });
  await told();
  end();
  for (const events of [first, second]) events.emit("challenge", { target: "/" });
  await told();
  const series = await scrape(register);
  expect(series).toMatchObject({ "visits_total{}": 1, "tollgate_events_total{event=challenge}": 3 });
});
