// A payment that a lookup finds to be older than the store's memory: for good it buys nothing and makes no new bill, since it may have
// bought something before.
import { expect, it } from "vitest";
import { createClaims } from "../src/claims.js";
import { memoryStore } from "../src/store/memory.js";
import { makeProof } from "./support/bound-proof.js";
import { handClock } from "./support/hand-clock.js";

const LIMITS = { openClaimsPerPayer: 256, unchargedRunsPerProof: 3, unchargedRunsPerPayer: 100, leaseMs: 15_000 };
const PRINT = { target: "GET /report", body: "digest", headers: "plain", retryKey: "key" };
const TRANSACTION = `0x${"ab".repeat(32)}`;

it("is refused, looked up no more, and neither settled nor claimed again", async () => {
  const clock = handClock();
  const claims = createClaims(memoryStore({}, clock), LIMITS);
  const proof = await makeProof({ overrides: { validBefore: BigInt(Math.floor(clock.now() / 1000) + 3600) } });
  const { since } = await claims.peek(proof.id);
  const claimed = await claims.claim(proof, PRINT, undefined, since);
  if (!claimed.ok) throw new Error(claimed.code);
  expect(claimed.claim.record.trace.since).toBe(since);
  await claims.unknown(claimed.claim, TRANSACTION, false);
  expect(await claims.resolve(proof.id, { outcome: "too_old" })).toMatchObject({ changed: true });
  await clock.advance(60_000);
  expect(await claims.take(proof.id, "background")).toBeUndefined();
  expect(await claims.take(proof.id, "request")).toBeUndefined();
  expect(await claims.resolve(proof.id, { outcome: "settled", transaction: TRANSACTION })).toMatchObject({
    changed: false,
    record: { settlement: "refused", delivery: "none", refusal: { code: "payment_too_old" } },
  });
  expect(await claims.claim(proof, PRINT, undefined, since)).toEqual({ ok: false, code: "lost" });
});
