// Takes a payment in SOL: the buyer's own bytes are sent as they are, or what is on the chain already is waited for. Judged
// again first, because what nobody had seen at verification may be public by now, and then only its maker may show it.
import { type ErrorCode, reasonOf } from "../../errors.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { broadcast, readExpiry } from "./confirm.js";
import { judgeNative, type NativeJudgement, type NativeProof } from "./native-judge.js";
import { levelFor } from "./native-level.js";
import type { NativeTransfer } from "./native-static.js";

type Good = Extract<NativeJudgement, { transfer: NativeTransfer }>;

/** Settles a payment. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleNative(
  chain: SolanaChain,
  proof: NativeProof,
  context: SettleContext,
): Promise<Settlement> {
  const { deadlineAt } = context;
  const { version, requirement } = proof;
  const refused = (code: ErrorCode, reason = reasonOf(code, version)): Settlement => ({
    outcome: "refused",
    code,
    reason,
  });
  const judgement = await judgeNative(chain, proof, { deadlineAt });
  if (judgement.outcome === "unavailable") return { outcome: "unavailable", message: judgement.message };
  if (judgement.outcome === "used") return refused("payment_already_used");
  if (judgement.outcome === "invalid") return refused(judgement.code, judgement.reason);

  const { payer, signature: id, lamports } = judgement.transfer;
  // What was made public may be more than the price; it is the seller's then, and the receipt says so.
  const more = lamports > requirement.amount ? { received: lamports } : {};
  const level = levelFor(requirement.confirmations);
  if (isEnough(judgement, level)) return { outcome: "settled", transaction: id, payer, ...more };
  const bound = await boundLife(chain, judgement, deadlineAt);
  if (!bound.ok) return { outcome: "unavailable", message: bound.message };
  const sent = { id, wire: proof.transaction, level, expiry: bound.expiry, payer } as const;
  const settlement = await broadcast(chain, sent, context);
  return settlement.outcome === "settled" ? { ...settlement, ...more } : settlement;
}

const RANK = { processed: 0, confirmed: 1, finalized: 2 } as const;

const isEnough = (judgement: Good, level: "confirmed" | "finalized"): boolean =>
  judgement.outcome === "public" && RANK[judgement.level] >= RANK[level];

const BEHIND_MS = 400;

/** What bounds its life: known at once where it is in no block, else as soon as its own block is confirmed. */
async function boundLife({ rpc, now }: SolanaChain, { outcome, slot }: Good, deadlineAt: number) {
  let bound = await readExpiry(rpc, slot, { deadlineAt });
  if (outcome === "new") return bound;
  while (!bound.ok && now() + BEHIND_MS < deadlineAt) {
    await new Promise((resolve) => setTimeout(resolve, BEHIND_MS));
    bound = await readExpiry(rpc, slot, { deadlineAt });
  }
  // Its own block is among those that a lookup has to search.
  return bound.ok ? { ...bound, expiry: { ...bound.expiry, slot: slot - 1 } } : bound;
}
