// Takes a payment in SOL: the buyer's own bytes are sent as they are, or what is on the chain already is waited for. Judged
// again first, because what nobody had seen at verification may be public by now, and then only its maker may show it.
// Only what was announced can ever be found by a lookup, so the moment of the announcement decides whose it is.
import { reasonOf } from "../../errors.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { announce, broadcast, readExpiry } from "./confirm.js";
import { judgeNative, type NativeJudgement, type NativeProof, readNative } from "./native-judge.js";
import { levelFor } from "./native-level.js";
import type { NativeTransfer } from "./native-static.js";
import { readStatuses } from "./statuses.js";

type Good = Extract<NativeJudgement, { transfer: NativeTransfer }>;

/** Settles a payment. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleNative(
  chain: SolanaChain,
  proof: NativeProof,
  context: SettleContext,
): Promise<Settlement> {
  const { deadlineAt, sending } = context;
  const { version, requirement } = proof;
  const read = await readNative(chain, proof);
  if (!read.ok) return unsettled(read.verdict, version);
  const { payer, signature: id, lamports } = read.transfer;
  // Invariant: announced first is only what its secret was shown for: it is its maker's whatever comes, so a lookup may find
  // it should this process die. Anything else may be a stranger's until the chain is seen not to know it.
  const unannounced = read.isMaker ? await announce(sending, id) : undefined;
  if (unannounced) return unannounced;
  const judgement = await judgeNative(chain, proof, read, { deadlineAt });
  if (judgement.outcome === "unavailable" || judgement.outcome === "invalid") return unsettled(judgement, version);
  // Invariant: what was mined before the store's memory begins may have been used before it began.
  if (judgement.outcome === "public" && judgement.minedAt < (context.since ?? 0)) {
    return { outcome: "refused", code: "payment_too_old", reason: reasonOf("payment_too_old", version) };
  }

  // What was made public may be more than the price; it is the seller's then, and the receipt says so.
  const more = lamports > requirement.amount ? { received: lamports } : {};
  const level = levelFor(requirement.confirmations);
  if (isEnough(judgement, level)) return { outcome: "settled", transaction: id, payer, ...more };
  const bound = await boundLife(chain, judgement, deadlineAt);
  if (!bound.ok) return { outcome: "unavailable", message: bound.message };
  if (!read.isMaker && (await isSeen(chain, id, deadlineAt))) {
    const code = "payment_unreferenced";
    return { outcome: "refused", code, reason: reasonOf(code, version) };
  }
  const sent = { id, wire: proof.transaction, level, expiry: bound.expiry, payer } as const;
  const settlement = await broadcast(chain, sent, context);
  return settlement.outcome === "settled" ? { ...settlement, ...more } : settlement;
}

/** The outcome of a payment that is not good (any more): nothing was sent. */
function unsettled(verdict: Exclude<NativeJudgement, Good>, version: 1 | 2): Settlement {
  if (verdict.outcome === "unavailable") return { outcome: "unavailable", message: verdict.message };
  const { code, reason = reasonOf(code, version) } = verdict;
  return { outcome: "refused", code, reason };
}

const RANK = { processed: 0, confirmed: 1, finalized: 2 } as const;

const isEnough = (judgement: Good, level: "confirmed" | "finalized"): boolean =>
  judgement.outcome === "public" && RANK[judgement.level] >= RANK[level];

/** No slow node may hold up a sale for longer. */
const LAST_LOOK_MS = 1_000;

/** Whether any node has heard of it by now: the one that judged may have been behind whoever copied it. */
async function isSeen({ rpc, now }: SolanaChain, id: string, deadlineAt: number): Promise<boolean> {
  const options = { deadlineAt: Math.min(deadlineAt, now() + LAST_LOOK_MS) };
  const looks = await Promise.all(rpc.each.map((node) => readStatuses(node, [id], options)));
  return looks.some((look) => look.ok && look.statuses[0] !== null);
}

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
