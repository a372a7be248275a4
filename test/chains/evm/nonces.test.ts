import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createNonces, LAG_MS } from "../../../src/chains/evm/nonces.js";

const take = (nonces: ReturnType<typeof createNonces>, count: number, block = 0n, mark = nonces.mark()) =>
  nonces.take({ count, block }, mark, 0);

describe("nonces of one settler", () => {
  it("count on while settlements are under way, however old the chain's count is", () => {
    const nonces = createNonces();
    expect([take(nonces, 7), take(nonces, 7), take(nonces, 7)]).toEqual([7, 8, 9]);
  });

  it("follow the chain when another process has used some", () => {
    const nonces = createNonces();
    expect([take(nonces, 7), take(nonces, 20)]).toEqual([7, 20]);
  });

  it("come back when nothing was sent: the last one as it was, a middle one first", () => {
    const nonces = createNonces();
    const [a, b, c] = [take(nonces, 0), take(nonces, 0), take(nonces, 0)] as [number, number, number];
    expect(nonces.giveBack(c)).toBe(false);
    expect(nonces.giveBack(a)).toBe(true);
    expect(nonces.hasGap()).toBe(true);
    expect([take(nonces, 0), take(nonces, 0)]).toEqual([a, c]);
    expect(nonces.hasGap()).toBe(false);
    nonces.done(b, 1n, 0);
  });

  it("fall back to the chain's count when all is quiet, as after a reorganisation", () => {
    const nonces = createNonces();
    nonces.done(take(nonces, 5), 10n, 0);
    expect(take(nonces, 3, 10n)).toBe(3);
  });

  it("that a reorganisation takes back are given first while others are under way, which wait for them", () => {
    const nonces = createNonces();
    const [a, b, c, d] = [5, 5, 5, 5].map((count) => take(nonces, count)) as [number, number, number, number];
    for (const nonce of [a, b, c]) nonces.done(nonce, 10n, 0);
    expect(take(nonces, 6, 11n)).toBe(6);
    expect(nonces.hasGap()).toBe(true);
    expect([take(nonces, 6, 12n), take(nonces, 6, 12n)]).toEqual([7, d + 1]);
    expect(nonces.hasGap()).toBe(false);
  });

  it("are not taken back on the word of a node that knows no later block, unless it stays so", () => {
    const nonces = createNonces();
    const [a] = [take(nonces, 5), take(nonces, 5)];
    nonces.done(a ?? 0, 10n, 0);
    expect(take(nonces, 5, 10n)).toBe(7);
    expect(nonces.take({ count: 5, block: 9n }, nonces.mark(), LAG_MS)).toBe(5);
  });

  it("are no worse for a block that no chain has reached, and believe a lower one once that word is old", () => {
    const nonces = createNonces();
    const [a = 0, b = 0] = [take(nonces, 5), take(nonces, 5), take(nonces, 5)];
    nonces.done(a, 2n ** 53n, 0);
    nonces.done(b, 102n, 0);
    expect(take(nonces, 6, 103n)).toBe(6);
    nonces.done(b, 2n ** 53n - 1n, 0);
    nonces.done(b, 103n, LAG_MS);
    const takeLater = (block: bigint) => nonces.take({ count: 6, block }, nonces.mark(), LAG_MS);
    expect([takeLater(103n), takeLater(104n)]).toEqual([8, 6]);
  });

  it("do not fall back for a node that lags behind a block already seen", () => {
    const nonces = createNonces();
    nonces.done(take(nonces, 5), 10n, 0);
    expect(take(nonces, 5, 9n)).toBe(6);
  });

  it("do not fall back for a count that was read before the last settlement ended", () => {
    const nonces = createNonces();
    const mark = nonces.mark();
    nonces.done(take(nonces, 5), 10n, 0);
    expect(take(nonces, 5, 10n, mark)).toBe(6);
  });

  it("fill the hole of a transaction that the node has lost, when nobody waits for it any more", () => {
    const nonces = createNonces();
    const [a] = [take(nonces, 0), take(nonces, 0)];
    nonces.forget(a!);
    expect(take(nonces, 0)).toBe(0);
    expect(take(nonces, 0)).toBe(2);
  });

  it("are never given to two settlements at once, whatever happens between them", () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("take" as const), lag: fc.nat(3) }) },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constantFrom("done", "giveBack", "forget" as const), pick: fc.nat() }),
      },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const nonces = createNonces();
        const held = new Set<number>();
        let chain = 0;
        for (const next of steps) {
          if ("lag" in next) {
            const nonce = take(nonces, Math.max(0, chain - next.lag));
            expect(held.has(nonce)).toBe(false);
            held.add(nonce);
            continue;
          }
          const nonce = [...held].sort((a, b) => a - b)[next.kind === "done" ? 0 : next.pick % Math.max(1, held.size)];
          if (nonce === undefined) continue;
          held.delete(nonce);
          if (next.kind === "done") nonces.done(nonce, undefined, 0);
          else if (next.kind === "giveBack") nonces.giveBack(nonce);
          else nonces.forget(nonce);
          if (next.kind === "done") chain = Math.max(chain, nonce + 1);
        }
      }),
      { seed: 200, numRuns: 2_000 },
    );
  });
});
