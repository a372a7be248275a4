// Start-up of several receivers: ready while each requirement has one that is ready; one that is misconfigured is a
// misconfiguration of the whole, because the day it is needed is the wrong day to find out.
import type { Requirement } from "../requirement.js";
import type { Member } from "./failover-member.js";
import type { Readiness, ReadinessProblem } from "./receiver.js";

export async function checkMembers(
  members: readonly Member[],
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const results = await Promise.all(
    members.map(async (member) => {
      const own = requirements.filter(member.serves);
      const idle = own.length === 0 && requirements.length > 0;
      return { member, result: idle ? undefined : await member.check(own, signal) };
    }),
  );
  const problems = [
    ...requirements.filter((one) => !members.some(({ serves }) => serves(one))).map(notServed),
    ...results.flatMap(({ result }) => (result?.state === "misconfigured" ? result.problems : [])),
  ];
  if (problems.length > 0) return { state: "misconfigured", problems };
  const ready = results.flatMap(({ member, result }) => (result?.state === "ready" ? [member] : []));
  if (ready.length > 0 && requirements.every((one) => ready.some(({ serves }) => serves(one))))
    return { state: "ready" };
  const words = results.flatMap(({ member: { label }, result }) =>
    result?.state === "unreachable" ? [`${label}: ${result.message}`] : [],
  );
  return { state: "unreachable", message: words.join("; ") };
}

const notServed = ({ network, method }: Requirement): ReadinessProblem => ({
  check: "failover",
  expected: `a receiver for ${method} on ${network}`,
  got: "none in the list",
  remedy: "Add one to failover(), or take the network or the price out.",
});
