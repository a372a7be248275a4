// Each transition of a proof's record by itself, as its holder or a lookup writes it: what it makes of the record, and that
// nobody who has lost the fence, or looked at an earlier settlement, writes anything.
import { describe, expect, it } from "vitest";
import type { Keep } from "../src/changes.js";
import { type Claim, type Claims, createClaims } from "../src/claims.js";
import type { BoundProof } from "../src/proof.js";
import type { Asked } from "../src/resolutions.js";
import { atOnceOf, memoryStore } from "../src/store/memory.js";
import { makeProof } from "./support/bound-proof.js";
import { handClock } from "./support/hand-clock.js";

const LEASE_MS = 15_000;
const LIMITS = { openClaimsPerPayer: 256, unchargedRunsPerProof: 3, unchargedRunsPerPayer: 100, leaseMs: LEASE_MS };
const PRINT = { target: "GET /report", body: "digest", headers: "plain", retryKey: "key" };
const TRANSACTION = `0x${"ab".repeat(32)}`;
const PAID = { transaction: TRANSACTION, height: 7 };
const ELSEWHERE = { transaction: `0x${"cd".repeat(32)}`, height: 9 };
const KEEP: Keep = { answer: { status: 200, headers: [], body: new Uint8Array() }, ms: 60_000 };
const BEGUN = { settlementId: "first", ms: LEASE_MS, keep: undefined, signed: "signature" };
const receiver: Asked = { name: "scripted", finality: async () => ({ outcome: "gone" }) };

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing was written");
  return value;
}

async function createBook() {
  const clock = handClock();
  const store = memoryStore({}, clock);
  const claims = createClaims(store, LIMITS, atOnceOf(store), receiver);
  const proof = await makeProof({ overrides: { validBefore: BigInt(Math.floor(clock.now() / 1000) + 3600) } });
  const record = async () => present((await claims.peek(proof.id)).record);
  return { clock, claims, proof, record };
}

async function claim(claims: Claims, proof: BoundProof): Promise<Claim> {
  const { since } = await claims.peek(proof.id);
  const result = await claims.claim(proof, PRINT, undefined, since);
  if (!result.ok) throw new Error(result.code);
  return result.claim;
}

/** As far as the delivery of the answer. */
async function sell(claims: Claims, proof: BoundProof): Promise<Claim> {
  const settling = present(await claims.settling(await claim(claims, proof), BEGUN));
  return present(await claims.settled(settling, PAID, undefined, false));
}

const CHANGES: Readonly<Record<string, (claims: Claims, claim: Claim) => Promise<unknown>>> = {
  renew: (claims, claim) => claims.renew(claim),
  release: (claims, claim) => claims.release(claim, false),
  settling: (claims, claim) => claims.settling(claim, BEGUN),
  sent: (claims, claim) => claims.sent(claim, TRANSACTION, undefined),
  settled: (claims, claim) => claims.settled(claim, PAID, KEEP, false),
  refused: (claims, claim) => claims.refused(claim, "insufficient_funds", "poor"),
  unknown: (claims, claim) => claims.unknown(claim, TRANSACTION, true),
  keep: (claims, claim) => claims.keep(claim, KEEP),
  delivered: (claims, claim) => claims.delivered(claim),
  undelivered: (claims, claim) => claims.undelivered(claim),
  withdraw: (claims, claim) => claims.withdraw(claim),
};

describe("whose fence is lost changes nothing", () => {
  it.each(Object.entries(CHANGES))("by %s, once another one has claimed", async (_name, change) => {
    const { clock, claims, proof } = await createBook();
    const stale = await claim(claims, proof);
    clock.advance(LEASE_MS + 1);
    await claim(claims, proof);
    const before = await claims.peek(proof.id);
    expect((await change(claims, stale)) || undefined).toBeUndefined();
    expect(await claims.peek(proof.id)).toEqual(before);
  });

  it.each(Object.entries(CHANGES))("by %s, once another one delivers", async (_name, change) => {
    const { clock, claims, proof } = await createBook();
    const stale = await sell(claims, proof);
    clock.advance(LEASE_MS + 1);
    expect(await claims.redeliver(proof.id, PRINT, "run")).toMatchObject({ fence: stale.fence + 1 });
    const before = await claims.peek(proof.id);
    expect((await change(claims, stale)) || undefined).toBeUndefined();
    expect(await claims.peek(proof.id)).toEqual(before);
  });
});

describe("a claim", () => {
  it("that was renewed stands for one more lease from then on", async () => {
    const { clock, claims, proof, record } = await createBook();
    const first = await claim(claims, proof);
    clock.advance(LEASE_MS - 1);
    expect(await claims.renew(first)).toBeDefined();
    clock.advance(LEASE_MS - 1);
    await expect(claim(claims, proof)).rejects.toThrow("lost");
    expect(await record()).toMatchObject({ settlement: "claimed", fence: first.fence });
  });

  it("whose lease is out is renewed no more: somebody else may be about to claim", async () => {
    const { clock, claims, proof } = await createBook();
    const first = await claim(claims, proof);
    clock.advance(LEASE_MS + 1);
    expect(await claims.renew(first)).toBeUndefined();
  });

  it("that was released is free at once, and bound anew", async () => {
    const { claims, proof, record } = await createBook();
    const first = await claim(claims, proof);
    await claims.release(first, null);
    expect(await record()).toMatchObject({ settlement: "released", uncharged: 0 });
    expect(await claim(claims, proof)).toMatchObject({ fence: first.fence + 1 });
  });
});

/** What the holder of a settlement may have come to when he lets go of it. Nothing of it may be sold again. */
describe("a proof is not claimed again", () => {
  it("while it is settled, nor when the time for that is over", async () => {
    const { clock, claims, proof, record } = await createBook();
    await claims.settling(await claim(claims, proof), BEGUN);
    expect(await record()).toMatchObject({ settlement: "settling", settlementId: "first", sentBy: "scripted" });
    clock.advance(LEASE_MS + 1);
    await expect(claim(claims, proof)).rejects.toThrow("lost");
    expect(await claims.take(proof.id, "request")).toMatchObject({ record: { settlement: "unknown" } });
  });

  it("when it was refused, until a lookup has said that nobody else has paid with it", async () => {
    const { claims, proof, record } = await createBook();
    await claims.refused(await claim(claims, proof), "insufficient_funds", "poor");
    await expect(claim(claims, proof)).rejects.toThrow("lost");
    expect(await record()).toMatchObject({ settlement: "refused", refusal: { code: "insufficient_funds" } });
  });

  it("when nobody knows what became of it, and its transaction is remembered", async () => {
    const { claims, proof, record } = await createBook();
    const settling = present(await claims.settling(await claim(claims, proof), BEGUN));
    const sent = present(await claims.sent(settling, TRANSACTION, undefined));
    expect((await record()).trace.transaction).toBe(TRANSACTION);
    await claims.unknown(sent, undefined, false);
    await expect(claim(claims, proof)).rejects.toThrow("lost");
    expect(await record()).toMatchObject({ settlement: "unknown", trace: { transaction: TRANSACTION } });
  });

  it("when it has expired", async () => {
    const { claims, proof, record } = await createBook();
    await claims.unknown(await claim(claims, proof), TRANSACTION, false);
    expect(await claims.resolve(proof.id, { outcome: "expired" })).toMatchObject({ changed: true });
    await expect(claim(claims, proof)).rejects.toThrow("lost");
    expect(await record()).toMatchObject({ settlement: "expired" });
  });

  it("when it is settled, and it is watched until that is final", async () => {
    const { clock, claims, proof, record } = await createBook();
    await sell(claims, proof);
    expect(await record()).toMatchObject({ settlement: "settled", final: false, trace: PAID });
    clock.advance(LEASE_MS + 1);
    await expect(claim(claims, proof)).rejects.toThrow("lost");
  });
});

describe("a delivery", () => {
  it("that is over is given by nobody else", async () => {
    const { claims, proof, record } = await createBook();
    await claims.delivered(await sell(claims, proof));
    expect(await claims.redeliver(proof.id, PRINT, "kept")).toBeUndefined();
    expect(await record()).toMatchObject({ delivery: "delivered", deliveries: [expect.any(String)] });
  });

  it("whose client has gone may be collected at once", async () => {
    const { claims, proof } = await createBook();
    await claims.undelivered(await sell(claims, proof));
    expect(await claims.redeliver(proof.id, PRINT, "kept")).toMatchObject({
      record: { deliveries: [expect.any(String), expect.any(String)] },
    });
  });

  it("whose process has died may be collected when its lease is out", async () => {
    const { clock, claims, proof } = await createBook();
    await sell(claims, proof);
    expect(await claims.redeliver(proof.id, PRINT, "kept")).toBeUndefined();
    clock.advance(LEASE_MS + 1);
    expect(await claims.take(proof.id, "background")).toMatchObject({ record: { delivery: "none" } });
  });

  it("whose handler failed does not count", async () => {
    const { claims, proof, record } = await createBook();
    await claims.withdraw(await sell(claims, proof));
    expect(await record()).toMatchObject({ delivery: "none", deliveries: [] });
  });

  it("by another run is for the headers of who collects, and its answer too", async () => {
    const { claims, proof, record } = await createBook();
    await claims.undelivered(await sell(claims, proof));
    await claims.redeliver(proof.id, { ...PRINT, headers: "other" }, "run");
    expect(await record()).toMatchObject({ runs: 2, print: { headers: "other", target: PRINT.target } });
  });
});

describe("a settlement that was taken back", () => {
  async function reorganised() {
    const book = await createBook();
    const { clock, claims, proof } = book;
    await claims.delivered(await sell(claims, proof));
    clock.advance(60_000);
    const taken = present(await claims.take(proof.id, "background"));
    const begun = present(await claims.reorganise(taken, "again", LEASE_MS));
    return { ...book, taken, begun };
  }

  it("is not sent once more by who looked before it was sent again", async () => {
    const { claims, taken, begun, record } = await reorganised();
    // The same bytes are mined again: nothing but the fence tells the two settlements apart.
    expect(await claims.resettle(begun, PAID)).toBe(true);
    const before = await record();
    expect(await claims.reorganise(taken, "late", LEASE_MS)).toBeUndefined();
    expect(await claims.confirm(taken, { outcome: "lost" })).toMatchObject({ changed: false });
    expect(await record()).toEqual(before);
  });

  it.each([PAID, undefined])("is decided by the last who sends it again, and by nobody before him", async (late) => {
    const { clock, claims, begun, proof, record } = await reorganised();
    clock.advance(LEASE_MS + 60_000);
    const taken = present(await claims.take(proof.id, "background"));
    const last = present(await claims.reorganise(taken, "last", LEASE_MS));
    expect(await claims.resettle(begun, late)).toBe(false);
    expect(await record()).toMatchObject({ settlement: "settling", settlementId: "last" });
    expect(await claims.resettle(last, PAID)).toBe(true);
    expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered" });
  });

  it("that a lookup has found elsewhere meanwhile is not written over by who sends it again", async () => {
    const { clock, claims, begun, proof, record } = await reorganised();
    clock.advance(LEASE_MS + 60_000);
    const taken = present(await claims.take(proof.id, "background"));
    expect(await claims.confirm(taken, { outcome: "settled", ...ELSEWHERE })).toMatchObject({ changed: true });
    const found = await record();
    expect(found).toMatchObject({ settlement: "settled", delivery: "delivered", trace: ELSEWHERE });
    for (const late of [PAID, undefined]) expect(await claims.resettle(begun, late)).toBe(false);
    expect(await record()).toEqual(found);
  });

  it("that was looked at in vain meanwhile is settled by who sends it again", async () => {
    const { clock, claims, begun, proof, record } = await reorganised();
    clock.advance(LEASE_MS + 60_000);
    present(await claims.take(proof.id, "background"));
    expect((await record()).settlement).toBe("unknown");
    expect(await claims.resettle(begun, undefined)).toBe(false);
    expect(await claims.resettle(begun, PAID)).toBe(true);
    expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered" });
  });

  it("and does not stand yet stays watched where nobody can tell", async () => {
    const { claims, begun, proof, record } = await reorganised();
    await claims.resettle(begun, undefined);
    const before = await record();
    expect(await claims.confirm({ id: proof.id, record: before }, { outcome: "untold" })).toMatchObject({
      changed: false,
    });
    expect(await record()).toEqual(before);
    expect([before.settlement, before.final, await claims.signed(proof.id)]).toEqual(["unknown", false, "signature"]);
  });

  it("is lost by final evidence alone, and told so", async () => {
    const { claims, begun, proof, record } = await reorganised();
    await claims.resettle(begun, undefined);
    const taken = { id: proof.id, record: await record() };
    expect(await claims.confirm(taken, { outcome: "gone" })).toMatchObject({ changed: false });
    expect(await claims.confirm(taken, { outcome: "lost" })).toMatchObject({ changed: true });
    expect(await record()).toMatchObject({ settlement: "expired", delivery: "delivered" });
  });
});

describe("a settlement that stands", () => {
  async function seen() {
    const book = await createBook();
    await book.claims.delivered(await sell(book.claims, book.proof));
    book.clock.advance(60_000);
    return { ...book, taken: present(await book.claims.take(book.proof.id, "background")) };
  }

  it("is watched no longer where nobody can tell, and what could send it again is forgotten", async () => {
    const { claims, taken, proof, record } = await seen();
    expect(await claims.confirm(taken, { outcome: "untold" })).toMatchObject({ changed: true });
    expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered" });
    expect(await record()).not.toHaveProperty("final");
    expect(await claims.signed(proof.id)).toBeUndefined();
  });

  it.each([ELSEWHERE, { ...PAID, height: 8 }])("elsewhere than it was seen is looked for there: %j", async (there) => {
    const { claims, taken, record } = await seen();
    expect(await claims.confirm(taken, { outcome: "settled", ...PAID })).toMatchObject({ changed: false });
    expect(await claims.confirm(taken, { outcome: "settled", ...there })).toMatchObject({ changed: true });
    expect(await record()).toMatchObject({ settlement: "settled", delivery: "delivered", final: false, trace: there });
  });
});

it("a network that this process does not know is for another one to look at", async () => {
  const clock = handClock();
  const store = memoryStore({}, clock);
  const mine = createClaims(store, LIMITS, atOnceOf(store), { ...receiver, networks: ["eip155:1"] });
  const proof = await makeProof();
  await mine.unknown(await claim(mine, proof), TRANSACTION, false);
  expect(await mine.take(proof.id, "background")).toBeUndefined();
  const other = createClaims(store, LIMITS, atOnceOf(store), { ...receiver, networks: ["eip155:84532"] });
  expect(await other.take(proof.id, "background")).toMatchObject({ record: { settlement: "unknown" } });
});
