// One question at a time for each key, for as long as it may take and no longer.
import { expect, it } from "vitest";
import { createSingleFlight } from "../src/single-flight.js";
import { latch } from "./adapters/script.js";
import { createFakeClock, settle } from "./support/fake-clock.js";

const never = () => new Promise<string>(() => {});

it("who comes meanwhile has the answer of the one question, and the next one asks anew", async () => {
  const flights = createSingleFlight<string>(createFakeClock(), 1_000);
  const gate = latch<string>();
  let asked = 0;
  const ask = () => {
    asked += 1;
    return gate.promise;
  };
  const all = Promise.all([flights.once("a", ask), flights.once("a", ask), flights.once("b", async () => "other")]);
  expect(flights.has("a")).toBe(true);
  gate.open("answer");
  expect(await all).toEqual(["answer", "answer", "other"]);
  expect([asked, flights.has("a"), flights.has("b")]).toEqual([1, false, false]);
  expect(await flights.once("a", async () => "next")).toBe("next");
});

it("a question that never ends is overtaken by one of those who have waited for it", async () => {
  const clock = createFakeClock();
  const flights = createSingleFlight<string>(clock, 1_000);
  void flights.once("a", never);
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return "answer";
  };
  const waiting = [flights.once("a", ask), flights.once("a", ask)];
  await clock.advance(999);
  expect([asked, flights.has("a")]).toEqual([0, true]);
  await clock.advance(1);
  expect(await Promise.all(waiting)).toEqual(["answer", "answer"]);
  expect(asked).toBeLessThanOrEqual(2);
  expect(flights.has("a")).toBe(false);
});

it("one that fails fails for all who wait, and is forgotten", async () => {
  const flights = createSingleFlight<string>(createFakeClock(), 1_000);
  const fail = () => Promise.reject(new Error("no answer"));
  const all = await Promise.allSettled([flights.once("a", fail), flights.once("a", fail)]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await settle();
  expect(flights.has("a")).toBe(false);
});
