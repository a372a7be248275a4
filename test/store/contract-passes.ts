// What passes need of a store, as one list of tests on every store: no more uses than were sold, whoever races, and the store's
// own time. PASS_ROUNDS=1000 is the long form of the race.
import { describe, expect, it } from "vitest";
import { systemClock as clock } from "../../src/clock.js";
import { type Commits, createCommits } from "../../src/commits.js";
import { giveUseBack, type NewPass, storePass, takeUse, type Use } from "../../src/passes.js";
import { atOnceOf } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import type { StoreUnderTest } from "./contract.js";

const ROUNDS = Number(process.env.PASS_ROUNDS ?? 50);
const HOUR = 3_600_000;

const SOLD: NewPass = {
  proofId: "proof-1",
  network: "eip155:84532",
  asset: "0xasset",
  payTo: "0xseller",
  amount: "10000",
  received: null,
  payer: "0xpayer",
  transaction: "0xtx",
  token: "digest-1",
  place: "here",
  uses: 10,
  ms: HOUR,
};
const FIRST = { first: true, anew: false };
const ANEW = { first: false, anew: true };

const opened = (store: Store): Commits => createCommits(store, atOnceOf(store));
const take = (commits: Commits, token = "digest-1", place = "here", covered = true) =>
  takeUse({ commits, clock }, token, place, () => covered);
/** The codes of so many tries, one after the other. */
async function tries(commits: Commits, count: number, token?: string): Promise<string[]> {
  const codes: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const taken = await take(commits, token);
    codes.push(taken.ok ? "ok" : taken.code);
  }
  return codes;
}

/** `another`: the same data, opened as another process has it. */
export interface PassStore extends StoreUnderTest {
  another?(): Promise<Store>;
}

export function describePasses(name: string, make: () => Promise<PassStore>): void {
  describe(`passes in the ${name} store`, () => {
    it(
      `40 claims race for the 10 uses of a pass: exactly 10, ${ROUNDS} rounds`,
      async () => {
        const { store, another } = await make();
        const others = another ? await Promise.all([1, 2, 3].map(() => another())) : [store, store, store];
        const everywhere = [store, ...others].map(opened);
        const counts = new Map<string, number>();
        for (let round = 0; round < ROUNDS; round += 1) {
          const token = `digest-${round}`;
          await storePass(everywhere[0] as Commits, { ...SOLD, proofId: `proof-${round}`, token }, FIRST);
          const claims = Array.from({ length: 40 }, (_, at) => take(everywhere[at % 4] as Commits, token));
          const codes = (await Promise.all(claims)).map((taken) => (taken.ok ? "ok" : taken.code));
          const outcome = `${codes.filter((code) => code === "ok").length} of ${codes.length}, else ${[...new Set(codes)].sort()}`;
          counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
        }
        expect([...counts]).toEqual([["10 of 40, else ok,pass_used_up", ROUNDS]]);
      },
      60_000 + ROUNDS * 2000,
    );

    it("a use that is given back is there once more, however many give back and take at once", async () => {
      const { store, another } = await make();
      const [one, two] = [opened(store), opened(another ? await another() : store)];
      await storePass(one, { ...SOLD, uses: 2 }, FIRST);
      const taken = await Promise.all([take(one), take(two), take(one)]);
      const uses = taken.flatMap((each): Use[] => (each.ok ? [each.use] : []));
      expect(uses.map(({ record }) => record.left).sort()).toEqual([0, 1]);
      await Promise.all(uses.map((use, at) => giveUseBack({ commits: at === 0 ? one : two, clock }, use)));
      expect(await tries(one, 3)).toEqual(["ok", "ok", "pass_used_up"]);
    });

    it("no more uses are ever given back than were sold", async () => {
      const { store } = await make();
      const commits = opened(store);
      await storePass(commits, { ...SOLD, uses: 2 }, FIRST);
      let runs = 0;
      for (;;) {
        const taken = await take(commits);
        if (!taken.ok) break;
        runs += 1;
        await giveUseBack({ commits, clock }, taken.use);
      }
      expect(runs).toBe(4);
    });

    it("ends by the store's time, says so for a while, and is then forgotten", async () => {
      const { store, advance } = await make();
      const commits = opened(store);
      await storePass(commits, { ...SOLD, uses: undefined }, FIRST);
      await advance(HOUR - 60_000);
      expect(await tries(commits, 1)).toEqual(["ok"]);
      await advance(60_001);
      expect(await tries(commits, 1)).toEqual(["pass_expired"]);
      await advance(600_000);
      expect(await tries(commits, 1)).toEqual(["pass_unknown"]);
    });

    it("opens what it was sold for, where it was sold, and is told apart from one that nobody knows", async () => {
      const { store } = await make();
      const commits = opened(store);
      await storePass(commits, SOLD, FIRST);
      expect(await take(commits, "digest-2")).toEqual({ ok: false, code: "pass_unknown" });
      expect(await take(commits, "digest-1", "there")).toEqual({ ok: false, code: "pass_elsewhere" });
      expect(await take(commits, "digest-1", "here", false)).toEqual({ ok: false, code: "pass_elsewhere" });
      expect(await take(commits)).toMatchObject({ ok: true, use: { record: { left: 9 } } });
    });

    it("a new token takes the place of the old one, on the same uses and the same time", async () => {
      const { store, advance } = await make();
      const commits = opened(store);
      const { endsAt } = (await storePass(commits, { ...SOLD, uses: 3 }, FIRST)) ?? {};
      expect(await tries(commits, 2)).toEqual(["ok", "ok"]);
      await advance(1000);
      const anew = { ...SOLD, uses: 3, token: "digest-2" };
      expect(await storePass(commits, anew, FIRST)).toBeUndefined();
      expect(await storePass(commits, anew, ANEW)).toMatchObject({ left: 1, endsAt });
      expect(await tries(commits, 1)).toEqual(["pass_unknown"]);
      expect(await tries(commits, 2, "digest-2")).toEqual(["ok", "pass_used_up"]);
      expect(await storePass(commits, { ...anew, token: "digest-3" }, ANEW)).toBeUndefined();
    });
  });
}
