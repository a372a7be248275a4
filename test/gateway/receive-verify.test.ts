// A receiver that breaks its promise never to reject: no verdict for the caller, and a line in the log for the operator.
import { expect, it } from "vitest";
import { verifyProof } from "../../src/gateway/receive/verify.js";
import { makeProof } from "../support/bound-proof.js";
import { captureLog } from "./captured-log.js";

it("is no verdict, and is told in the log without any key", async () => {
  const log = captureLog();
  const proof = await makeProof();
  const key = "ab".repeat(32);
  const verdict = await verifyProof(proof, {
    receiver: { verify: () => Promise.reject(new TypeError(`inner words with ${key}`)) },
    ...{ now: Date.now, deadlineAt: Date.now() + 10_000, since: 0, resource: undefined },
    ...{ signal: new AbortController().signal, logger: log.logger },
  });
  expect(verdict).toEqual({ outcome: "unavailable", code: "internal_error", message: "the verification broke off" });
  expect(log.of("a verification broke off")).toMatchObject([
    { proofId: proof.id, reason: expect.stringContaining("inner words") },
  ]);
  expect(log.lines.join()).not.toContain(key);
});
