// What observers are told, and what they can never do.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEvents, type PaymentFacts } from "../src/events.js";
import { broken, createWorld, TRANSACTION } from "./support/world.js";

const KEY = "retry-key-0123456789";

it("never puts a signature or a nonce into the log or an event", async () => {
  const world = createWorld();
  const told: unknown[] = [];
  for (const name of [
    "challenge",
    "refusal",
    "verified",
    "claimed",
    "released",
    "settled",
    "refused",
    "unknown",
    "delivered",
    "undelivered",
    "replayed",
  ] as const) {
    world.events.on(name, (event) => told.push(event));
  }
  const headers = await world.sign({ retryKey: KEY });
  const { payload } = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as {
    payload: { signature: string; authorization: { nonce: string } };
  };
  await world.send({ headers }, broken);
  world.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
  await world.send({ headers });
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(6000);
  await world.send({ headers });
  await world.send({ headers });
  const everything = JSON.stringify([told, world.log], (_key, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  expect(told.length).toBeGreaterThan(8);
  for (const secret of [payload.signature, payload.authorization.nonce, KEY]) expect(everything).not.toContain(secret);
});

describe("a payment is not delayed or decided by a listener that", () => {
  const never = new Promise<void>(() => {});
  it.each<[string, (event: object) => unknown]>([
    [
      "throws",
      () => {
        throw new Error("observer");
      },
    ],
    ["rejects", () => Promise.reject(new Error("observer"))],
    ["never ends", () => never],
    [
      "throws what has no text",
      () => {
        throw Object.create(null);
      },
    ],
    [
      "gives a promise that is none",
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is what is tested
        get then() {
          throw new Error("observer");
        },
      }),
    ],
    ["changes what it is told", (event) => Object.assign(event, { amount: 0n, run: 7, proofId: "another" })],
  ])("%s", async (_what, listener) => {
    const world = createWorld();
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    for (const name of ["verified", "claimed", "settled", "delivered"] as const) world.events.on(name, listener);
    const seen: PaymentFacts[] = [];
    world.events.on("settled", (event) => seen.push(event));
    const { answer } = await world.send({ headers: await world.sign() });
    await new Promise((resolve) => setImmediate(resolve));
    expect([answer.status, world.runs.length, world.receiver.calls.settle]).toEqual([200, 1, 1]);
    expect(seen).toMatchObject([{ amount: 10_000n, proofId: world.runs[0]?.proofId }]);
    expect(uncaught).toEqual([]);
  });
});

it("tells the log what a listener threw, and goes on where the log fails too", async () => {
  const world = createWorld();
  world.events.on("claimed", () => {
    throw new Error("observer");
  });
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  expect(world.log.some((line) => line.includes("observer") && line.includes("claimed"))).toBe(true);

  const fails = () => {
    throw new Error("no log");
  };
  const events = createEvents({ debug: fails, info: fails, warn: fails, error: fails });
  const seen = new Promise((resolve) => {
    events.on("challenge", fails);
    events.on("challenge", resolve);
  });
  events.emit("challenge", { target: "/" });
  expect(await seen).toEqual({ target: "/" });
});

it("runs no listener before its own work is done, and none that has been taken off", async () => {
  const events = createEvents(silent);
  const order: string[] = [];
  const off = events.on("challenge", () => order.push("taken off"));
  events.on("challenge", ({ target }) => order.push(target));
  off();
  events.emit("challenge", { target: "told" });
  order.push("work");
  await Promise.resolve();
  expect(order).toEqual(["work", "told"]);
});

it("goes to the diagnostics channel of its name, whichever paywall it comes from", async () => {
  const seen: unknown[] = [];
  const note = (message: unknown, name: string | symbol) => seen.push([name, message]);
  subscribe("tollgate:settled", note);
  onTestFinished(() => void unsubscribe("tollgate:settled", note));
  const worlds = [createWorld(), createWorld()];
  for (const world of worlds) await world.send({ headers: await world.sign() });
  expect(seen).toEqual(
    worlds.map(({ runs }) => [
      "tollgate:settled",
      expect.objectContaining({ proofId: runs[0]?.proofId, amount: 10_000n, transaction: TRANSACTION }),
    ]),
  );
});

const silent = { debug() {}, info() {}, warn() {}, error() {} };

it("tells of a refusal by what the store knows of a payment, too", async () => {
  const world = createWorld();
  const codes: string[] = [];
  world.events.on("refusal", ({ code }) => codes.push(code));
  const headers = await world.sign();
  await world.send({ headers }, async () => {
    await world.send({ headers });
    return { status: 200, headers: [], body: "the goods" };
  });
  await world.send({ headers });
  await world.send({ headers, target: "/other" });
  expect(codes).toEqual(["payment_in_progress", "payment_already_used", "payment_used_elsewhere"]);
});
