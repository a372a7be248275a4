import { expect, it } from "vitest";
import { createCircuit } from "../../src/receive/circuit.js";
import { handClock } from "../support/hand-clock.js";

const open = () => {
  const clock = handClock();
  const circuit = createCircuit({ failures: 3, pauseMs: 1_000 }, clock.now);
  const fail = (times: number) => {
    for (let i = 0; i < times; i += 1) circuit.failed();
  };
  return { clock, circuit, fail };
};

it("opens after so many failures in a row, and not after as many with a success between", () => {
  const { circuit, fail } = open();
  fail(2);
  circuit.succeeded();
  fail(2);
  expect([circuit.admits(), circuit.isOpen()]).toEqual([true, false]);
  fail(1);
  expect([circuit.admits(), circuit.isOpen()]).toEqual([false, true]);
});

it("lets one trial through after the pause, and another one only after another pause", () => {
  const { clock, circuit, fail } = open();
  fail(3);
  clock.advance(999);
  expect(circuit.admits()).toBe(false);
  clock.advance(1);
  expect([circuit.isOpen(), circuit.admits(), circuit.admits(), circuit.isOpen()]).toEqual([false, true, false, true]);
  // The trial never ended: it keeps nobody out for longer.
  clock.advance(1_000);
  expect([circuit.admits(), circuit.admits()]).toEqual([true, false]);
});

it("opens again by one failed trial, and closes by one that succeeds", () => {
  const { clock, circuit, fail } = open();
  fail(3);
  clock.advance(1_000);
  expect(circuit.admits()).toBe(true);
  fail(1);
  clock.advance(999);
  expect(circuit.admits()).toBe(false);
  clock.advance(1);
  expect(circuit.admits()).toBe(true);
  circuit.succeeded();
  expect([circuit.admits(), circuit.admits()]).toEqual([true, true]);
});

it("counts as failing for a pause after its last failure", () => {
  const { clock, circuit, fail } = open();
  expect(circuit.isFailing()).toBe(false);
  fail(1);
  expect(circuit.isFailing()).toBe(true);
  clock.advance(1_000);
  expect(circuit.isFailing()).toBe(false);
});

it("is opened again by the next failure after an answer that decides nothing, and says each change once", () => {
  const clock = handClock();
  const told: boolean[] = [];
  const circuit = createCircuit({ failures: 3, pauseMs: 1_000 }, clock.now, (change) => told.push(change));
  circuit.failed();
  circuit.answered();
  circuit.failed();
  circuit.answered();
  circuit.failed();
  expect([circuit.isOpen(), told]).toEqual([true, [true]]);
  clock.advance(1_000);
  circuit.answered();
  circuit.answered();
  expect([circuit.isOpen(), told]).toEqual([false, [true, false]]);
  circuit.failed();
  expect([circuit.isOpen(), told]).toEqual([true, [true, false, true]]);
  circuit.succeeded();
  circuit.failed();
  circuit.failed();
  expect([circuit.isOpen(), told]).toEqual([false, [true, false, true, false]]);
});

it("is closed by an answer that decides nothing, and counts as failing for a pause after it", () => {
  const { clock, circuit, fail } = open();
  fail(3);
  clock.advance(1_000);
  expect(circuit.admits()).toBe(true);
  circuit.answered();
  expect([circuit.admits(), circuit.isOpen(), circuit.isFailing()]).toEqual([true, false, true]);
  clock.advance(1_000);
  expect(circuit.isFailing()).toBe(false);
  circuit.answered();
  circuit.succeeded();
  expect(circuit.isFailing()).toBe(false);
});

it("is over where the clock is set back by more than its pause, and lasts two pauses at most where by less", () => {
  const { clock, circuit, fail } = open();
  circuit.answered();
  fail(3);
  clock.advance(-600_000);
  expect([circuit.isOpen(), circuit.isFailing(), circuit.isOdd(), circuit.admits()]).toEqual([
    false,
    false,
    false,
    true,
  ]);
  // The trial was taken at the new time.
  expect(circuit.admits()).toBe(false);
  clock.advance(-999);
  expect(circuit.admits()).toBe(false);
  clock.advance(1_999);
  expect(circuit.admits()).toBe(true);
});
