// The list that is kept fresh in the background: nothing that goes wrong there ends the process.
import { expect, it } from "vitest";
import { createSupportedCache, type Fetched } from "../../src/receive/supported.js";
import { handClock } from "../support/hand-clock.js";

it("a fetch that throws is a failed one, and is tried again", async () => {
  const clock = handClock();
  const failures: string[] = [];
  let fetches = 0;
  const cache = createSupportedCache<string>({
    async fetchList(): Promise<Fetched<string>> {
      fetches += 1;
      if (fetches === 1) throw new RangeError("Maximum call stack size exceeded");
      return { outcome: "list", list: "all" };
    },
    clock,
    random: () => 0.5,
    onFailure: (message) => failures.push(message),
  });
  const first = await cache.load(new AbortController().signal);
  expect(first).toEqual({ outcome: "failed", message: expect.stringContaining("Maximum call stack") });
  expect(failures).toHaveLength(1);
  clock.advance(60_000);
  expect(await cache.load(new AbortController().signal)).toEqual({ outcome: "list", list: "all" });
  cache.close();
});

it("a refusal is fetched again once that is due, also where the timer for it has died with the request that set it", async () => {
  const clock = handClock();
  let fetches = 0;
  const cache = createSupportedCache<string>({
    async fetchList(): Promise<Fetched<string>> {
      fetches += 1;
      return fetches === 1 ? { outcome: "refused", message: "status 403" } : { outcome: "list", list: "all" };
    },
    clock: { now: clock.now, after: () => () => {} },
    random: () => 0.5,
    onFailure: () => {},
  });
  expect(await cache.load(AbortSignal.timeout(1_000))).toMatchObject({ outcome: "refused" });
  clock.advance(60_000);
  expect(await cache.load(AbortSignal.timeout(1_000))).toEqual({ outcome: "list", list: "all" });
  cache.close();
});
