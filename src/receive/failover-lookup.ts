// What became of a settlement that one of several receivers may have sent. Which one it was need not be known, so it survives a
// restart: all are asked, positive evidence counts from any, and that nothing moved only from the chain or from all of them.
import { lookupBy } from "../answered.js";
import type { Clock } from "../clock.js";
import { inTime } from "../time-limit.js";
import { isTraceable } from "../traceable.js";
import type { Member } from "./failover-member.js";
import type { Again, Finality, Lookup, SettledTrace, Trace } from "./receiver.js";

/** Who asks waits for five seconds: one receiver that never answers must not use up the time of the others. */
const MEMBER_MS = 3_500;

interface Asking {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const ofMember = <Answer>(
  { clock, outer, late }: { readonly clock: Clock; readonly outer: AbortSignal; late(): Answer },
  ask: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> => inTime<Answer>({ clock, ms: MEMBER_MS, outer, late }, ask).catch(late);

/** @param againBy what a member may send once more: nothing, unless it is the one that was asked to settle */
export async function lookupByAll(
  members: readonly Member[],
  trace: Trace,
  { clock, signal }: Asking,
  againBy: (member: Member) => Again | undefined,
): Promise<Lookup> {
  const late = () => ({ outcome: "unknown", message: "the lookup failed" }) as const;
  const asked = members.filter(({ serves }) => serves(trace));
  const lookups = asked.map((member) =>
    ofMember<Lookup>({ clock, outer: signal, late }, (own) => lookupBy(member.receiver, trace, own, againBy(member))),
  );
  const found = await firstOf(lookups, ({ outcome }) => outcome === "settled");
  if (found) return found;
  const all = await Promise.all(lookups);
  if (all.some(({ outcome }) => outcome === "too_old")) return { outcome: "too_old" };
  // Invariant: the word of one receiver that it has sent nothing says nothing about the others.
  const isOver = (at: number) => all[at]?.outcome === "expired";
  if (isProven(asked, trace, isOver)) return { outcome: "expired" };
  const words = all.flatMap((one, at) => (one.outcome === "unknown" ? [`${asked[at]?.label}: ${one.message}`] : []));
  return { outcome: "unknown", message: words.join("; ") || "not every receiver knows that it is over" };
}

/** As above, for a settlement that was seen. That it is to be sent again is for the chain alone to say. */
export async function finalityByAll(
  members: readonly Member[],
  trace: SettledTrace,
  { clock, signal }: Asking,
): Promise<Finality> {
  const asked = members.filter(({ serves }) => serves(trace));
  const all = await Promise.all(
    asked.map(({ receiver }) => {
      const late = () => ({ outcome: "unknown", message: `${receiver.name} could not tell` }) as const;
      const ask = async (own: AbortSignal) =>
        (await receiver.finality?.(trace, own)) ?? ({ outcome: "untold" } as const);
      return ofMember<Finality>({ clock, outer: signal, late }, ask);
    }),
  );
  const byChain = all.filter(({ outcome }, at) => isChain(asked[at]) && outcome !== "unknown" && outcome !== "untold");
  // A node that sees it knows more than one that does not.
  const seen = byChain.find(({ outcome }) => outcome === "final" || outcome === "settled");
  const told = seen ?? byChain[0];
  if (told) return told;
  const stands = all.find(({ outcome }) => outcome === "final") ?? all.find(({ outcome }) => outcome === "settled");
  if (stands) return stands;
  if (isProven(asked, trace, (at) => all[at]?.outcome === "lost")) return { outcome: "lost" };
  if (all.every(({ outcome }) => outcome === "untold")) return { outcome: "untold" };
  return { outcome: "unknown", message: "no receiver can tell for certain" };
}

const isChain = (member: Member | undefined): boolean => member?.receiver.evidence === "chain";

/** Whoever has sent it is among all of them; the chain knows without being who, if it can be looked for there. */
const isProven = (asked: readonly Member[], trace: Trace, says: (at: number) => boolean): boolean =>
  asked.length > 0 &&
  (asked.every((_, at) => says(at)) || (isTraceable(trace) && asked.some((member, at) => isChain(member) && says(at))));

/** The first that fits, without waiting for the rest; undefined once all have come and none does. */
async function firstOf<Value>(
  all: readonly Promise<Value>[],
  fits: (value: Value) => boolean,
): Promise<Value | undefined> {
  const fitting = all.map(async (one) => {
    const value = await one;
    if (!fits(value)) throw new Error("another answer");
    return value;
  });
  return Promise.any(fitting).catch(() => undefined);
}
