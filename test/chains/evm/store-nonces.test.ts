// Account nonces out of the store that the processes of a seller share: each has one holder, none stays out, and what a dead process
// leaves behind blocks nobody for long.
import { beforeEach, describe, expect, it } from "vitest";
import { createStoreNonces } from "../../../src/chains/evm/store-nonces.js";
import { memoryStore } from "../../../src/store/memory.js";
import type { CommitResult, Store } from "../../../src/store/store.js";
import { dice } from "../../support/dice.js";
import { handClock } from "../../support/hand-clock.js";

const NETWORK = "eip155:84532";
const SETTLER = "0x00000000000000000000000000000000000000AA";
const LOST_MS = 2 * 60_000;

let clock = handClock();
let store: Store;
beforeEach(() => {
  clock = handClock();
  store = memoryStore({}, clock);
});

/** One process, whose commits meet what the test says first. */
const processWith = (answers: CommitResult[] = [], counts = { commits: 0 }) => {
  const commit: Store["commit"] = async (transaction) => {
    counts.commits += 1;
    return answers.shift() ?? store.commit(transaction);
  };
  return createStoreNonces({ ...store, commit });
};
const open = () => {
  const ledger = createStoreNonces(store);
  return {
    take: (next: number, block = 1n) => ledger.take(NETWORK, SETTLER, next, block),
    giveBack: (nonce: number) => ledger.giveBack(NETWORK, SETTLER, nonce),
    done: (nonce: number, block?: bigint) => ledger.done(NETWORK, SETTLER, nonce, block),
    left: (nonce: number) => ledger.left?.(NETWORK, SETTLER, nonce),
    gaps: () => ledger.gaps(NETWORK, SETTLER),
  };
};
const row = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

describe("nonces in a shared store", () => {
  it("are given to four processes at once, each to one of them and none left out", async () => {
    const processes = row(0, 4).map(open);
    const taken = await Promise.all(row(0, 200).map((at) => processes[at % 4]?.take(7)));
    expect(taken.sort((a = 0, b = 0) => a - b)).toEqual(row(7, 200));
  });

  it("are written once for all that one process wants at the same time", async () => {
    const counts = { commits: 0 };
    const ledger = processWith([], counts);
    await Promise.all(row(0, 50).map(() => ledger.take(NETWORK, SETTLER, 0, 1n)));
    expect(counts.commits).toBeLessThanOrEqual(2);
  });

  it("are read again after a conflict, and refused after a hundred of them", async () => {
    const ledger = processWith(["conflict", "conflict"]);
    expect(await ledger.take(NETWORK, SETTLER, 3, 1n)).toBe(3);
    const never = createStoreNonces({ ...store, commit: async () => "conflict" });
    await expect(never.take(NETWORK, SETTLER, 3, 1n)).rejects.toThrow("100 conflicts");
  });

  it("are refused while the store is not there, and the next one goes on", async () => {
    let isDown = true;
    const read: Store["read"] = (...args) => (isDown ? Promise.reject(new Error("gone")) : store.read(...args));
    const ledger = createStoreNonces({ ...store, read });
    await expect(ledger.take(NETWORK, SETTLER, 3, 1n)).rejects.toThrow("gone");
    isDown = false;
    expect(await ledger.take(NETWORK, SETTLER, 3, 1n)).toBe(3);
  });

  it("are never guessed where the store holds something else", async () => {
    const write = { key: `nonces:${NETWORK}:${SETTLER}`, version: 0, value: "x", expiresAt: clock.now() + 1_000 };
    await store.commit({ writes: [write] });
    await expect(open().take(3)).rejects.toThrow();
  });

  it("are refused where thousands are on their way, and given again when the chain has counted on", async () => {
    const { take } = open();
    await Promise.all(row(0, 2_000).map(() => take(0)));
    await expect(take(0)).rejects.toThrow("2000 transactions");
    expect(await take(1_500)).toBe(2_000);
  });

  it("that come back are given before any new one, and stand as gaps until then", async () => {
    const { take, giveBack, gaps } = open();
    for (const nonce of row(0, 4)) expect(await take(0)).toBe(nonce);
    await giveBack(1);
    expect(await gaps()).toEqual([1]);
    expect([await take(0), await take(0)]).toEqual([1, 4]);
    expect(await gaps()).toEqual([]);
  });

  it("below the chain's count are nobody's, and a node that lags behind brings none of them back", async () => {
    const { take, done } = open();
    await take(0, 10n);
    await done(0, 12n);
    expect(await take(0, 11n)).toBe(1);
    await done(1, 13n);
    expect(await take(5, 14n)).toBe(5);
    expect(await take(2, 12n)).toBe(6);
  });

  it("go down with the chain where nobody is at work: it was reorganised", async () => {
    const { take, done } = open();
    await take(0, 10n);
    await done(0, 12n);
    expect(await take(0, 12n)).toBe(0);
  });

  it("that a reorganisation takes back are given first while others are at work, whose transactions wait for them", async () => {
    const { take, done, gaps } = open();
    for (const nonce of row(0, 4)) expect(await take(0, 10n)).toBe(nonce);
    for (const nonce of row(0, 3)) await done(nonce, 12n);
    // A node that knows no later block than theirs may lag behind it.
    expect(await take(1, 12n)).toBe(4);
    expect(await take(1, 13n)).toBe(1);
    expect(await gaps()).toEqual([2]);
    expect([await take(1, 13n), await take(1, 14n)]).toEqual([2, 5]);
  });

  it("of transactions that nobody waits for any more are the chain's to count", async () => {
    const { take, left } = open();
    expect(await take(0, 10n)).toBe(0);
    expect(await take(0, 10n)).toBe(1);
    await left(0);
    // Somebody is at work on the other one: both stay taken.
    expect(await take(0, 11n)).toBe(2);
    await left(1);
    await left(2);
    expect(await take(0, 12n)).toBe(0);
  });

  it("of a holder that has died are free after two minutes by the store's clock", async () => {
    const { take } = open();
    expect(await take(0)).toBe(0);
    clock.advance(LOST_MS);
    expect(await take(0)).toBe(1);
    clock.advance(1);
    expect(await take(0)).toBe(0);
  });

  it("are no worse for a block that no chain has reached, and believe a lower one once that word is old", async () => {
    const { take, done } = open();
    expect([await take(5), await take(5), await take(5)]).toEqual([5, 6, 7]);
    await done(5, 2n ** 53n);
    await done(6, 102n);
    expect(await take(6, 103n)).toBe(6);
    await done(6, 2n ** 53n - 1n);
    clock.advance(16_000);
    await done(6, 103n);
    expect([await take(6, 103n), await take(6, 104n)]).toEqual([8, 6]);
  });

  it("of another network or another key are others", async () => {
    const ledger = createStoreNonces(store);
    expect(await ledger.take(NETWORK, SETTLER, 4, 1n)).toBe(4);
    expect(await ledger.take("eip155:8453", SETTLER, 4, 1n)).toBe(4);
    expect(await ledger.take(NETWORK, `0x${"0".repeat(38)}BB`, 4, 1n)).toBe(4);
  });

  it.each(row(1, 20))("are held by one at a time whatever happens to them (seed %i)", async (seed) => {
    const roll = dice(seed);
    const processes = row(0, 3).map(open);
    const held = new Set<number>();
    let [count, block] = [0, 1n];
    for (let step = 0; step < 200; step += 1) {
      const one = processes[roll(3)];
      const lowest = Math.min(...held);
      if (!one) return;
      if (held.size === 0 || roll(3) > 0) {
        const lag = roll(2);
        const nonce = await one.take(Math.max(0, count - lag), block - BigInt(lag));
        expect(held).not.toContain(nonce);
        expect(nonce).toBeGreaterThanOrEqual(count);
        held.add(nonce);
      } else if (roll(3) === 0) {
        const last = Math.max(...held);
        await one.giveBack(last);
        held.delete(last);
      } else if (lowest === count) {
        count += 1;
        block += 1n;
        await one.done(lowest, block);
        held.delete(lowest);
      }
    }
  });
});
