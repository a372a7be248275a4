// What the reconciler needs of a store, on every store: one of two processes takes a lookup and one sends a settlement again, a new
// process finds what a dead one has left, and the signature is kept until the settlement is final and no longer.
import { describe, expect, it } from "vitest";
import { type Claim, createClaims } from "../src/claims.js";
import type { Asked } from "../src/resolutions.js";
import { fromSigned, toSigned } from "../src/signed.js";
import { makeProof, RESOURCE } from "./support/bound-proof.js";
import { everyStore } from "./support/stores.js";

const LIMITS = { openClaimsPerPayer: 256, unchargedRunsPerProof: 3, unchargedRunsPerPayer: 100, leaseMs: 15_000 };
const PRINT = { target: "GET /report", body: null, headers: "", retryKey: null };
const TRANSACTION = `0x${"ab".repeat(32)}`;
const AT_ONCE = 20;
const receiver: Asked = { name: "scripted", finality: async () => ({ outcome: "gone" }) };

describe.each(everyStore())("on %s", (_name, skipped, open) => {
  const run = it.skipIf(skipped);

  /** Two processes with one store, and a payment whose settlement one of them has begun. */
  async function begin(ms: number) {
    const stores = await open();
    const [one, two] = stores.map((store) => createClaims(store, LIMITS, undefined, receiver));
    if (!one || !two) throw new Error("no claims");
    const proof = await makeProof();
    const { since } = await one.peek(proof.id);
    const claimed = await one.claim(proof, PRINT, undefined, since);
    if (!claimed.ok) throw new Error(claimed.code);
    const signed = toSigned({ proof, resource: RESOURCE });
    const begun = { settlementId: "first", ms, keep: undefined, signed };
    const claim = await one.settling(claimed.claim, begun);
    if (!claim) throw new Error("the fence is lost");
    return { one, two, proof, claim };
  }

  async function settled(claims: Awaited<ReturnType<typeof begin>>["one"], claim: Claim) {
    const paid = await claims.settled(claim, { transaction: TRANSACTION, height: 7 }, undefined, false);
    if (!paid) throw new Error("not settled");
    await claims.delivered(paid);
    const { record } = await claims.peek(claim.id);
    if (!record) throw new Error("no record");
    return { id: claim.id, record, paid };
  }

  run("a new process finds what a dead one was settling, and of many lookups at once one is made", async () => {
    const { one, two, proof } = await begin(1);
    await expect.poll(() => two.due(10), { timeout: 20_000 }).toEqual([proof.id]);
    const taken = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => (at % 2 ? one : two).take(proof.id, "background")),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(taken.find(Boolean)?.record).toMatchObject({ settlement: "unknown", lookups: 1 });
    const found = await two.resolve(proof.id, { outcome: "settled", transaction: TRANSACTION });
    expect(found).toMatchObject({ changed: true, record: { settlement: "settled", delivery: "none", final: false } });
    const late = await one.resolve(proof.id, { outcome: "expired" });
    expect(late).toMatchObject({ changed: false, record: { settlement: "settled" } });
  });

  run("a settlement that was taken back is sent again by one of two, as it was signed", async () => {
    const { one, two, proof, claim } = await begin(10_000);
    const taken = await settled(one, claim);
    const begun = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => (at % 2 ? one : two).reorganise(taken, `again-${at}`, 10_000)),
    );
    const [again, ...others] = begun.filter((one) => one !== undefined);
    expect(others).toEqual([]);
    expect(again?.record).toMatchObject({ settlement: "settling", delivery: "delivered", final: false });
    const shown = fromSigned((await two.signed(proof.id)) ?? "");
    expect(shown).toEqual({ proof, resource: RESOURCE });
    if (!again) throw new Error("nobody sends it again");
    // Who settled and delivered it the first time has lost the fence.
    expect(await one.undelivered(taken.paid)).toBe(false);
    expect(await two.resettle(again, { transaction: `0x${"cd".repeat(32)}`, height: 9 })).toBe(true);
    expect((await one.peek(proof.id)).record).toMatchObject({ settlement: "settled", delivery: "delivered" });
  });

  run("what could send it again is kept until it is final, and no longer", async () => {
    const { one, two, proof, claim } = await begin(10_000);
    const taken = await settled(one, claim);
    expect(await two.signed(proof.id)).toBeDefined();
    const final = { outcome: "final", transaction: TRANSACTION, height: 7 } as const;
    expect(await two.confirm(taken, final)).toMatchObject({ changed: true, record: { final: true } });
    expect(await one.signed(proof.id)).toBeUndefined();
    expect(await one.confirm(taken, { outcome: "lost" })).toMatchObject({ changed: false });
    expect((await one.peek(proof.id)).record).toMatchObject({ settlement: "settled", delivery: "delivered" });
    expect(await one.due(10)).toEqual([]);
  });
});
