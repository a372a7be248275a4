// What every database of the gateway promises of account nonces: whoever asks and whatever the nodes say, each has one holder.
import { describe, expect, it } from "vitest";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import { dice } from "../../support/dice.js";
import type { MakeGround } from "./ground.js";
import { NETWORK, SENDER } from "./payments-made.js";

export function describeNonces(name: string, make: MakeGround): void {
  const take = (database: GatewayDatabase, next: number) => database.nonces.take(NETWORK, SENDER, next);

  describe(`account nonces in ${name}`, () => {
    it("are given one after the other, whatever a node that lags behind says", async () => {
      const { database } = await make();
      expect([await take(database, 5), await take(database, 5), await take(database, 6)]).toEqual([5, 6, 7]);
      expect(await take(database, 9)).toBe(9);
      expect(await take(database, 5)).toBe(10);
      expect(await database.nonces.take("eip155:1", SENDER, 5)).toBe(5);
      // One key, in whatever letters its address is written.
      expect(await database.nonces.take("eip155:1", SENDER.toLowerCase(), 5)).toBe(6);
      await expect(take(database, -1)).rejects.toThrow(RangeError);
      await expect(take(database, 1.5)).rejects.toThrow(RangeError);
    });

    it("are given again once they were given back, the lowest first", async () => {
      const { database } = await make();
      for (let at = 0; at < 5; at += 1) await take(database, 0);
      await database.nonces.giveBack(NETWORK, SENDER, 3);
      await database.nonces.giveBack(NETWORK, SENDER, 1);
      expect(await database.nonces.gaps(NETWORK, SENDER)).toEqual([1, 3]);
      expect([await take(database, 0), await take(database, 0), await take(database, 0)]).toEqual([1, 3, 5]);
      expect(await database.nonces.gaps(NETWORK, SENDER)).toEqual([]);
      await database.nonces.giveBack(NETWORK, SENDER, 5);
      expect(await database.nonces.gaps(NETWORK, SENDER)).toEqual([]);
      expect(await database.nonces.gaps("eip155:1", SENDER)).toEqual([]);
    });

    it("never come back once the chain has used them", async () => {
      const { database } = await make();
      for (let at = 0; at < 3; at += 1) await take(database, 0);
      await database.nonces.giveBack(NETWORK, SENDER, 0);
      await database.nonces.done(NETWORK, SENDER, 1);
      expect(await take(database, 0)).toBe(3);
      await database.nonces.giveBack(NETWORK, SENDER, 1);
      expect(await take(database, 0)).toBe(4);
      await database.nonces.done(NETWORK, SENDER, 0);
      expect(await take(database, 0)).toBe(5);
    });

    it("that a reorganisation takes back are given again: by a node that knows a later block, or is behind no more", async () => {
      const { database, advance } = await make();
      const done = (nonce: number, block: bigint) => database.nonces.done(NETWORK, SENDER, nonce, block);
      const takeAt = (next: number, block?: bigint) => database.nonces.take(NETWORK, SENDER, next, block);
      expect([await takeAt(5, 100n), await takeAt(5, 100n), await takeAt(5, 100n)]).toEqual([5, 6, 7]);
      await done(5, 101n);
      await done(6, 102n);
      // This node may only be behind; and so may be whoever names no block.
      expect([await takeAt(5, 102n), await takeAt(6)]).toEqual([8, 9]);
      expect(await takeAt(5, 103n)).toBe(5);
      expect([await takeAt(5, 103n), await takeAt(5, 103n)]).toEqual([6, 10]);
      await done(5, 103n);
      await done(6, 103n);
      await advance(10_000);
      expect(await takeAt(6, 102n)).toBe(11);
      await advance(6_000);
      expect(await takeAt(6, 102n)).toBe(6);
    });

    it("are no worse for a block that no chain has reached, and believe a lower one once that word is old", async () => {
      const { database, advance } = await make();
      const done = (nonce: number, block: bigint) => database.nonces.done(NETWORK, SENDER, nonce, block);
      const takeAt = (next: number, block?: bigint) => database.nonces.take(NETWORK, SENDER, next, block);
      expect([await takeAt(5, 100n), await takeAt(5, 100n), await takeAt(5, 100n)]).toEqual([5, 6, 7]);
      // Neither is heard of, so the next block is.
      await done(5, 2n ** 53n);
      await done(5, 2n ** 70n);
      await done(6, 102n);
      expect(await takeAt(6, 103n)).toBe(6);
      await done(6, 2n ** 53n - 1n);
      await advance(10_000);
      await done(6, 103n);
      // This one is waited for a while: nobody has taken anything back.
      expect(await takeAt(6, 104n)).toBe(8);
      await advance(6_000);
      await done(6, 104n);
      expect([await takeAt(6, 104n), await takeAt(6, 105n)]).toEqual([9, 6]);
    });

    it("that nobody has heard of for two minutes are given again, and those of chains that dropped what waited", async () => {
      const { database, advance } = await make();
      expect([await take(database, 3), await take(database, 3)]).toEqual([3, 4]);
      await advance(110_000);
      expect(await take(database, 3)).toBe(5);
      await advance(11_000);
      expect(await take(database, 3)).toBe(3);
      expect(await take(database, 8)).toBe(8);
      await advance(121_000);
      expect(await take(database, 6)).toBe(6);
    });

    it.each([1, 2, 3])("have one holder each and leave no gap, however takers race: seed %i", async (seed) => {
      const { database, another } = await make();
      const both = [database, await another()];
      const draw = dice(seed);
      const held = new Set<number>();
      let mined = 0;
      const taking = async (from: GatewayDatabase) => {
        const nonce = await take(from, mined);
        expect(held.has(nonce)).toBe(false);
        expect(nonce).toBeGreaterThanOrEqual(mined);
        held.add(nonce);
        return nonce;
      };
      for (let round = 0; round < 12; round += 1) {
        const taken = await Promise.all(Array.from({ length: 6 }, (_, at) => taking(both[at % 2]!)));
        const back = taken.filter(() => draw(3) === 0);
        for (const nonce of back) held.delete(nonce);
        await Promise.all(back.map((nonce, at) => both[at % 2]!.nonces.giveBack(NETWORK, SENDER, nonce)));
        // The chain takes what it has without a gap.
        for (let steps = draw(6); steps > 0 && held.has(mined); steps -= 1) {
          held.delete(mined);
          if (draw(2) === 0) await database.nonces.done(NETWORK, SENDER, mined);
          mined += 1;
        }
        const last = Math.max(mined - 1, ...held);
        const missing = Array.from({ length: last + 1 }, (_, nonce) => nonce).filter((n) => n >= mined && !held.has(n));
        const gaps = await database.nonces.gaps(NETWORK, SENDER);
        expect(gaps.filter((nonce) => nonce >= mined)).toEqual(missing);
      }
      const missing = (await database.nonces.gaps(NETWORK, SENDER)).filter((nonce) => nonce >= mined);
      for (const nonce of missing) expect(await taking(database)).toBe(nonce);
      expect(await taking(database)).toBe(mined + held.size - 1);
    });
  });
}
