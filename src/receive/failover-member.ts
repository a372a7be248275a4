// One receiver among several: what it is asked for, how it has done lately, and which of its start-up checks are still owed.
import { readyBy } from "../answered.js";
import type { Clock } from "../clock.js";
import { checkKeyOf, type Requirement, type TransferMethod } from "../requirement.js";
import type { Logger } from "../settings.js";
import { type Circuit, type CircuitSettings, createCircuit } from "./circuit.js";
import type { Readiness, Receiver } from "./receiver.js";

export interface Member {
  readonly receiver: Receiver;
  /** For logs and errors: where it stands in the list. */
  readonly label: string;
  readonly verifying: Circuit;
  readonly settling: Circuit;
  /** Tells the log of one that answers every verification without a verdict, as where its URL has moved. */
  readonly verdicts: { given(): void; missing(message: string): void };
  serves(of: { readonly network: string; readonly method: TransferMethod }): boolean;
  /** Its start-up checks; what cannot be checked now is owed. */
  check(requirements: readonly Requirement[], signal: AbortSignal): Promise<Readiness>;
  /** Are no checks owed for this requirement, or else for any of the network? Where some are, they are made now, and nobody waits. */
  isChecked(network: string, requirement?: Requirement): boolean;
}

export interface MemberSettings extends CircuitSettings {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A check that could not be made or was not passed: since when, and how long it rests. */
interface Owed {
  readonly requirement: Requirement;
  readonly since: number;
  readonly restMs: number;
}

const CHECK_MS = 10_000;
/** As a rule only another configuration mends a mismatch, but one odd answer looks the same: it is looked at anew. */
const MISMATCH_MS = 60_000;

export function createMember(receiver: Receiver, at: number, settings: MemberSettings): Member {
  const { clock, logger, pauseMs } = settings;
  const label = `failover[${at}] (${receiver.name})`;
  const { networks, methods = ["eip3009"] } = receiver;
  /** The failed checks of each network that the log knows of. */
  const told = new Map<string, string>();
  const owed = new Map<string, Owed>();
  const owe = (requirements: readonly Requirement[], restMs: number) => {
    for (const one of requirements) owed.set(checkKeyOf(one), { requirement: one, since: clock.now(), restMs });
  };

  async function check(requirements: readonly Requirement[], signal: AbortSignal): Promise<Readiness> {
    const result = await readyBy(receiver, requirements, signal).catch(
      (error: unknown): Readiness => ({ state: "unreachable", message: String(error) }),
    );
    if (result.state === "ready") for (const one of requirements) owed.delete(checkKeyOf(one));
    else owe(requirements, pauseMs);
    if (result.state !== "misconfigured") return result;
    return { ...result, problems: result.problems.map((one) => ({ ...one, check: `${label}: ${one.check}` })) };
  }

  async function checkLate(network: string, requirements: readonly Requirement[]): Promise<void> {
    // One at a time; one that never ends (on Workers) is overtaken by the next.
    owe(requirements, CHECK_MS + pauseMs);
    const result = await check(requirements, AbortSignal.timeout(CHECK_MS));
    if (result.state === "ready") {
      logger.info("a receiver has passed its start-up checks", { receiver: label });
      told.delete(network);
    }
    // The paywall is open by then. Invariant: nothing is sold over a receiver that is known not to fit.
    // What the chain alone can mend is checked again after the pause, as what cannot be reached.
    if (result.state !== "misconfigured") return;
    if (!result.problems.every(({ passing }) => passing)) owe(requirements, MISMATCH_MS);
    // By the names of the checks: a balance in the text changes each time.
    const failing = result.problems.map((one) => one.check).join("|");
    if (told.get(network) === failing) return;
    told.set(network, failing);
    const facts = { receiver: label, problems: result.problems };
    logger.error("a receiver is misconfigured and is left out until a later check passes", facts);
  }

  let oddInARow = 0;
  const verdicts = {
    given() {
      oddInARow = 0;
    },
    missing(message: string) {
      oddInARow += 1;
      if (oddInARow !== settings.failures) return;
      logger.warn("a receiver answers verifications without a verdict and is asked after the others", {
        receiver: label,
        message,
      });
    },
  };

  /** Who settles now, and at what price, is the seller's affair: that another one takes over is said once, and so is its end. */
  const tell = (verb: string) => (open: boolean) => {
    const facts = { receiver: label, verb };
    if (open) logger.warn(`a receiver fails and is left out; the next one takes over`, { ...facts, pauseMs });
    else logger.warn("a receiver that was left out works again", facts);
  };

  return {
    receiver,
    label,
    verifying: createCircuit(settings, clock.now, tell("verify")),
    settling: createCircuit(settings, clock.now, tell("settle")),
    verdicts,
    serves: ({ network, method }) => (networks?.includes(network) ?? true) && methods.includes(method),
    check,
    isChecked(network, requirement) {
      const key = requirement && checkKeyOf(requirement);
      const late = [...owed].filter(([of, one]) => one.requirement.network === network && (key ?? of) === of);
      // However far the clock is set back, none rests for longer than twice its time.
      const due = late.filter(([, { since, restMs }]) => Math.abs(clock.now() - since) >= restMs);
      const again = due.map(([, one]) => one.requirement);
      if (again.length > 0) void checkLate(network, again);
      return late.length === 0;
    },
  };
}

/** Those that do well come first: nobody's time is spent on one that fails while another one is up. */
export const inOrder = (members: readonly Member[], isLater: (member: Member) => boolean): readonly Member[] => [
  ...members.filter((one) => !isLater(one)),
  ...members.filter(isLater),
];

/**
 * One after the other, as they are needed. Invariant: a circuit leaves a member out only while another one is left to ask: what
 * opens it may be one buyer's payments, and a list is never worse for all others than its members alone.
 */
export function* inTurn(line: readonly Member[], admits: (member: Member) => boolean): Generator<Member> {
  const leftOut: Member[] = [];
  for (const one of line) {
    if (admits(one)) yield one;
    else leftOut.push(one);
  }
  yield* leftOut;
}
