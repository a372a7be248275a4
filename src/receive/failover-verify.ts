// Verification by the first of several receivers that gives a verdict. It changes nothing anywhere, so one that does not answer
// in its share of the time is left behind.
import { verifyBy } from "../answered.js";
import type { Clock } from "../clock.js";
import type { BoundProof } from "../proof.js";
import { inTime } from "../time-limit.js";
import { inOrder, inTurn, type Member } from "./failover-member.js";
import type { Verification, VerifyContext } from "./receiver.js";

type Unavailable = Extract<Verification, { outcome: "unavailable" }>;

const unreachable = (message: string): Unavailable => ({
  outcome: "unavailable",
  code: "receiver_unreachable",
  message,
});

/**
 * Is nobody there, or nobody who lets us in? Invariant: an answer without a verdict leaves nobody out. What is odd may be the
 * proof, and whoever sends such a proof would shut the receiver for every other buyer.
 */
const isSilent = ({ code, answered }: Unavailable): boolean =>
  !answered && (code === "receiver_unreachable" || code === "receiver_auth");

/** @param members in order; they serve the proof's requirement */
export async function verifyByFirst(
  members: readonly Member[],
  proof: BoundProof,
  context: VerifyContext,
  { clock, verifyMs }: { readonly clock: Clock; readonly verifyMs: number },
): Promise<Verification> {
  let last = unreachable("no receiver takes payments of this kind right now");
  const { signal, resource } = context;
  const late = (): Verification => unreachable("no verdict in time");
  const patience = { clock, ms: verifyMs, outer: signal, late };
  const { requirement } = proof;
  const able = members.filter(({ isChecked }) => isChecked(requirement.network, requirement));
  const line = inOrder(able, ({ verifying }) => verifying.isOdd());
  for (const { receiver, label, verifying, verdicts } of inTurn(line, (one) => one.verifying.admits())) {
    if (signal.aborted) break;
    const verdict = await inTime(patience, (own) =>
      // What another one took for a good signature is no reason for this one not to look.
      verifyBy(receiver, proof, { resource, signal: own, signatureKnown: false }),
    );
    if (verdict.outcome !== "unavailable") {
      verifying.succeeded();
      verdicts.given();
      return verdict;
    }
    if (isSilent(verdict)) verifying.failed();
    else {
      verifying.answered();
      verdicts.missing(verdict.message);
    }
    last = { ...verdict, message: `${label}: ${verdict.message}` };
  }
  return last;
}
