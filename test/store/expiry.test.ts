import { expect, it } from "vitest";
import { createExpiry } from "../../src/store/expiry.js";

const at = (seconds: number) => 1_700_000_000_000 + seconds * 1000;

it("visits a key once its second has passed, once", () => {
  const expiry = createExpiry(at(0));
  const visited: string[] = [];
  expiry.add("a", at(5));
  expiry.add("b", at(9));
  expiry.passed(at(4), (key) => visited.push(key));
  expect(visited).toEqual([]);
  expiry.passed(at(6), (key) => visited.push(key));
  expiry.passed(at(7), (key) => visited.push(key));
  expect(visited).toEqual(["a"]);
  expect(expiry.size).toBe(1);
});

it("remembers nothing of a time that was taken back, however far away it was", () => {
  const expiry = createExpiry(at(0));
  for (let key = 0; key < 1000; key += 1) {
    expiry.add(`k${key}`, 8_640_000_000_000_000);
    expiry.remove(`k${key}`, 8_640_000_000_000_000);
    expiry.add(`k${key}`, at(10));
  }
  expect(expiry.size).toBe(1000);
  expiry.passed(at(11), () => {});
  expect(expiry.size).toBe(0);
});
