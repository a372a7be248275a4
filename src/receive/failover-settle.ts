// Settlement by one of several receivers. Invariant: the next one is asked only when the one before has provably sent nothing;
// never a second settlement while the first may have happened.
import { settleBy } from "../answered.js";
import type { Clock } from "../clock.js";
import { findNetwork } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { Logger } from "../settings.js";
import { inOrder, inTurn, type Member } from "./failover-member.js";
import type { SettleContext, Settlement } from "./receiver.js";

interface Surroundings {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told before a member is asked. */
  asking(member: Member): void;
}

/**
 * On Solana a payment stays with whoever was asked first: its transaction names its fee payer, and lives too short for two
 * settlements one after the other.
 */
export const staysPut = (network: string): boolean => findNetwork(network)?.family === "solana";

/** @param members in order; they serve the proof's requirement */
export async function settleByOne(
  members: readonly Member[],
  proof: BoundProof,
  context: SettleContext,
  { clock, logger, asking }: Surroundings,
): Promise<Settlement> {
  const { network } = proof.requirement;
  const able = members.filter((one) => one.isChecked(network, proof.requirement));
  const line = inOrder(able, ({ verifying, settling }) => verifying.isFailing() || settling.isFailing());
  let last: Settlement = { outcome: "unavailable", message: "no receiver takes settlements right now" };
  const admits = ({ verifying, settling }: Member) => !verifying.isOpen() && settling.admits();
  const asked = new Set<Member>();
  for (const member of inTurn(line, admits)) {
    asked.add(member);
    const { receiver, label } = member;
    const own = receiver.settleMs(network);
    // Each one after it keeps its whole time, so that whoever waits for us never waits in vain.
    const later = staysPut(network) ? [] : line.filter((one) => !asked.has(one));
    const deadlineAt = context.deadlineAt - later.reduce((sum, next) => sum + next.receiver.settleMs(network), 0);
    // Invariant: past the deadline the record may be another holder's. A little less than all of its time will do.
    if (asked.size > 1 && (deadlineAt - clock.now()) * 10 < own * 9) break;
    asking(member);
    const { settlement, announced } = await askMember(member, proof, { ...context, deadlineAt });
    if (settlement.outcome !== "unavailable") return settlement;
    last = { ...settlement, message: `${label}: ${settlement.message}` };
    // What was announced has been signed, and what was answered had left: its word is not proof enough for another one.
    if (announced || settlement.answered || staysPut(network)) return last;
    logger.warn("a receiver could not settle", { receiver: label, proofId: proof.id, message: settlement.message });
  }
  return last;
}

async function askMember({ receiver, settling }: Member, proof: BoundProof, context: SettleContext) {
  let announced = false;
  const sending: SettleContext["sending"] = (transaction, expiry) => {
    announced = true;
    return context.sending(transaction, expiry);
  };
  const settlement = await settleBy(receiver, proof, { ...context, sending });
  settling[weight(settlement)]();
  return { settlement, announced };
}

/**
 * What it says of the member. Invariant: an orderly answer that decides nothing leaves nobody out: what is odd may be the payment,
 * and whoever makes such payments would shut settlement for every other buyer.
 */
function weight(settlement: Settlement): "succeeded" | "answered" | "failed" {
  if (settlement.outcome === "unavailable") return settlement.crowded ? "answered" : "failed";
  // What was sent and failed on the chain says nothing against who sent it.
  if (settlement.outcome !== "unknown" || settlement.transaction !== undefined || settlement.reverted)
    return "succeeded";
  return settlement.unanswered ? "failed" : "answered";
}
