// Verification by the first of several receivers that gives a verdict. It changes nothing anywhere, so one that does not answer
// in its share of the time is left behind.
import type { Clock } from "../clock.js";
import type { BoundProof } from "../proof.js";
import type { Member } from "./failover-member.js";
import type { Verification, VerifyContext } from "./receiver.js";

type Unavailable = Extract<Verification, { outcome: "unavailable" }>;

const unreachable = (message: string): Unavailable => ({
  outcome: "unavailable",
  code: "receiver_unreachable",
  message,
});

/** @param members in order; they serve the proof's requirement */
export async function verifyByFirst(
  members: readonly Member[],
  proof: BoundProof,
  context: VerifyContext,
  { clock, verifyMs }: { readonly clock: Clock; readonly verifyMs: number },
): Promise<Verification> {
  let last = unreachable("no receiver takes payments of this kind right now");
  const { signal, resource } = context;
  for (const { receiver, label, verifying, isChecked } of members) {
    if (signal.aborted) break;
    if (!isChecked(proof.requirement.network) || !verifying.admits()) continue;
    const verdict = await inTime(clock, verifyMs, signal, (own) =>
      // What another one took for a good signature is no reason for this one not to look.
      receiver.verify(proof, { resource, signal: own, signatureKnown: false }),
    );
    if (verdict.outcome !== "unavailable") {
      verifying.succeeded();
      return verdict;
    }
    verifying.failed();
    last = { ...verdict, message: `${label}: ${verdict.message}` };
  }
  return last;
}

async function inTime(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Verification>,
): Promise<Verification> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  let cancel = () => {};
  const late = new Promise<Verification>((resolve) => {
    const giveUp = () => resolve(unreachable("no verdict in time"));
    stop.signal.addEventListener("abort", giveUp, { once: true });
    cancel = clock.after(ms, abort);
  });
  outer.addEventListener("abort", abort, { once: true });
  try {
    const asked = ask(stop.signal).catch((error: unknown) => unreachable(`it threw: ${String(error)}`));
    return await Promise.race([asked, late]);
  } finally {
    cancel();
    outer.removeEventListener("abort", abort);
  }
}
