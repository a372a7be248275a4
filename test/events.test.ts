// What observers are told, and what they can never do.
import { expect, it } from "vitest";
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

it("cannot be delayed or decided by a listener that throws", async () => {
  const world = createWorld();
  world.events.on("claimed", () => {
    throw new Error("observer");
  });
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
  expect(world.log.some((line) => line.includes("observer"))).toBe(true);
});
