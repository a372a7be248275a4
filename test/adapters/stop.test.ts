// The word that a handler is out of time reaches who listens and who asks later.
import { describe, expect, it } from "vitest";
import { Stop } from "../../adapters/stop.js";

describe("a stop", () => {
  it("aborts the signal that somebody listens to", () => {
    const stop = new Stop();
    const { signal } = stop;
    expect(signal.aborted).toBe(false);
    stop.abort();
    expect([signal.aborted, stop.aborted]).toEqual([true, true]);
  });

  it("gives a signal that is aborted already to who asks late", () => {
    const stop = new Stop();
    stop.abort();
    expect(stop.signal.aborted).toBe(true);
  });
});
