// One receiver among several: what it is asked for, how it has done lately, and which of its start-up checks are still owed.
import { readyBy } from "../answered.js";
import type { Clock } from "../clock.js";
import type { Requirement, TransferMethod } from "../requirement.js";
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
  /** Are no checks owed for this network? Where some are, they are made now, and nobody waits for them. */
  isChecked(network: string): boolean;
}

export interface MemberSettings extends CircuitSettings {
  readonly clock: Clock;
  readonly logger: Logger;
}

const CHECK_MS = 10_000;

export function createMember(receiver: Receiver, at: number, settings: MemberSettings): Member {
  const { clock, logger, pauseMs } = settings;
  const label = `failover[${at}] (${receiver.name})`;
  const { networks, methods = ["eip3009"] } = receiver;
  /** The failed checks of each network that the log knows of. */
  const told = new Map<string, string>();
  const owed = new Map<string, { readonly requirements: readonly Requirement[]; readonly tryAt: number }>();

  async function check(requirements: readonly Requirement[], signal: AbortSignal): Promise<Readiness> {
    const result = await readyBy(receiver, requirements, signal).catch(
      (error: unknown): Readiness => ({ state: "unreachable", message: String(error) }),
    );
    for (const network of new Set(requirements.map((one) => one.network))) {
      if (result.state === "ready") owed.delete(network);
      else owed.set(network, { requirements, tryAt: clock.now() + pauseMs });
    }
    if (result.state !== "misconfigured") return result;
    return { ...result, problems: result.problems.map((one) => ({ ...one, check: `${label}: ${one.check}` })) };
  }

  async function checkLate(network: string, requirements: readonly Requirement[]): Promise<void> {
    // One at a time; one that never ends (on Workers) is overtaken by the next.
    owed.set(network, { requirements, tryAt: clock.now() + CHECK_MS + pauseMs });
    const result = await check(requirements, AbortSignal.timeout(CHECK_MS));
    if (result.state === "ready") {
      logger.info("a receiver has passed its start-up checks", { receiver: label });
      told.delete(network);
    }
    // The paywall is open by then. Invariant: nothing is sold over a receiver that is known not to fit.
    // What the chain alone can mend is checked again after the pause, as what cannot be reached.
    if (result.state !== "misconfigured") return;
    const lapses = result.problems.every(({ passing }) => passing);
    if (!lapses) owed.set(network, { requirements, tryAt: Number.POSITIVE_INFINITY });
    // By the names of the checks: a balance in the text changes each time.
    const failing = result.problems.map((one) => one.check).join("|");
    if (told.get(network) === failing) return;
    told.set(network, failing);
    const until = lapses ? " until the chain mends it" : "";
    logger.error(`a receiver is misconfigured and is left out${until}`, { receiver: label, problems: result.problems });
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
    isChecked(network) {
      const late = owed.get(network);
      if (!late) return true;
      if (clock.now() >= late.tryAt) void checkLate(network, late.requirements);
      return false;
    },
  };
}

/** Those that do well come first: nobody's time is spent on one that fails while another one is up. */
export const inOrder = (members: readonly Member[], isLater: (member: Member) => boolean): readonly Member[] => [
  ...members.filter((one) => !isLater(one)),
  ...members.filter(isLater),
];
