// Settles a proof that is the buyer's own signed transfer: judged again, announced (`sending`), sent as it was signed, and
// believed only on a receipt of the canonical chain with as many blocks on it as the sale asks for. Nothing is ever signed here, so
// there is no second attempt: after the first byte everything unproven is `unknown`, and a lookup decides at finality.
import { MAX_TRANSACTION_AGE_MS, type TransactionProof } from "../../proof.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import { broadcast } from "./broadcast.js";
import type { EvmChain } from "./chain.js";
import { amountPaid } from "./evidence.js";
import { chainAgeOf, isBefore } from "./mined.js";
import { standingOf } from "./standing.js";
import { type Invalid, invalid, type Unavailable } from "./verdicts.js";
import { judgeTransaction, type ReadProof, readProof, unowned } from "./verify-transaction.js";

interface Job {
  readonly chain: EvmChain;
  readonly read: ReadProof;
  readonly context: SettleContext;
  /** It stood in a block when it was judged, so its age is known to be fine. */
  readonly dated: boolean;
}

/** Settles a proof. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleTransaction(
  chain: EvmChain,
  proof: TransactionProof,
  context: SettleContext,
): Promise<Settlement> {
  const read = await readProof(chain, proof);
  if (!read.ok) return unsettled(read.verdict);
  const { verdict, isPublic } = await judgeTransaction(chain, read, { deadlineAt: context.deadlineAt });
  if (verdict.outcome !== "valid") return unsettled(verdict);
  // Invariant: what was mined before the store's memory begins may have been used before it began.
  if (verdict.minedAt !== undefined && verdict.minedAt < (context.since ?? 0)) {
    return unsettled(invalid(proof, "payment_too_old"));
  }
  const job: Job = { chain, read, context, dated: verdict.minedAt !== undefined };
  // Invariant: judged, then announced, then sent. What is announced may be looked up and paid out should this process die, so by
  // then it is its buyer's, moves the price and is not old; and what has left this process has been announced.
  const unannounced = await announce(job);
  if (unannounced) return unannounced;
  if (isPublic) return awaitEvidence(job, { lost: false, foreign: false });
  if (chain.now() >= context.deadlineAt) return { outcome: "unavailable", message: "no time is left to settle" };
  return send(job);
}

/** The outcome of a proof that is not good (any more), before a byte of it was sent. */
const unsettled = (verdict: Invalid | Unavailable): Settlement =>
  verdict.outcome === "invalid"
    ? { outcome: "refused", code: verdict.code, reason: verdict.reason }
    : { outcome: "unavailable", message: verdict.message };

/** The outcome where it could not be announced. */
async function announce({ read, context }: Job): Promise<Settlement | undefined> {
  try {
    await context.sending(read.transaction.hash);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : "refused";
    return { outcome: "unavailable", message: `the settlement could not be announced: ${why}` };
  }
}

async function send(job: Job): Promise<Settlement> {
  const { chain, read, context } = job;
  const { raw, hash } = read.transaction;
  const answer = await broadcast.send(chain.rpc, { ok: true, raw, hash }, context.deadlineAt);
  if (answer.outcome === "refused" && answer.nonce === "ours") {
    // The node did not take it, but it has its bytes: they stay good until the nonce is used, by this or by another one.
    const facts = { network: chain.network, transaction: hash, answer: answer.message };
    chain.logger?.error("the node refused a buyer's transaction", facts);
    return unknown(job, `the node refused the transaction: ${answer.message}`);
  }
  // Invariant: what had reached the chain before our first byte was public, and without a secret it is nobody's.
  if (!read.owned && answer.outcome === "accepted" && answer.wasKnown) return madePublic(job);
  // A nonce that is used or waiting may be used by this very transaction: the receipt tells.
  const foreign = !read.owned && answer.outcome === "refused" && answer.nonce === "used";
  return awaitEvidence(job, { lost: answer.outcome === "lost", foreign });
}

/** Somebody else has sent it: a refusal for good, which no later lookup turns into goods. */
function madePublic({ chain, read }: Job): Settlement {
  const { proof, transaction } = read;
  const facts = { network: chain.network, transaction: transaction.hash };
  chain.logger?.warn("a transaction without a reference was public before it was sent", facts);
  return unsettled(unowned(proof));
}

function unknown({ read }: Job, message: string): Settlement {
  const { hash, nonce } = read.transaction;
  const cancel = `its sender can cancel it with another transaction of nonce ${nonce}`;
  return { outcome: "unknown", transaction: hash, message: `${message} (${cancel})` };
}

interface Broadcasted {
  /** The node's answer to the bytes never came. */
  readonly lost: boolean;
  /** Its nonce had been used before our first byte left: if by this transaction, somebody else has sent it. */
  readonly foreign: boolean;
}

/** Waits for the receipt and then for the blocks on it; what a reorganisation takes away is sent and waited for again. */
async function awaitEvidence(job: Job, { lost, foreign }: Broadcasted): Promise<Settlement> {
  const { chain, read, context } = job;
  const { raw, hash, sender, nonce } = read.transaction;
  const { deadlineAt } = context;
  let resend = lost;
  for (;;) {
    const sent = { raw, hash, settler: sender, nonce: Number(nonce), lost: resend, deadlineAt };
    const waited = await chain.receipts.wait(sent);
    if (waited.outcome === "timeout") return unknown(job, "the transaction has no receipt so far");
    if (waited.outcome === "replaced") return unknown(job, "another transaction has used its nonce");
    if (foreign) return madePublic(job);
    const settlement = await awaitBlocks(job, waited.receipt.blockNumber);
    if (settlement) return settlement;
    resend = true;
    if (!(await pause(job))) return unknown(job, "the transaction stands in no block of the chain right now");
  }
}

/** The outcome once enough blocks stand on it; undefined where it has vanished from the chain. */
async function awaitBlocks(job: Job, height: bigint): Promise<Settlement | undefined> {
  const { chain, read, context } = job;
  const { transaction, requirement, proof } = read;
  const { confirmations, amount } = requirement;
  let dated = job.dated;
  for (;;) {
    const standing = await standingOf(chain.rpc, transaction.hash, height, { deadlineAt: context.deadlineAt });
    if (standing.state === "absent") return undefined;
    if (standing.state === "mined") {
      const { receipt, blocks, block, head } = standing;
      // Invariant: what looked unmined when it was judged, and has stood in a block for long, or from before the store's memory
      // begins, was misjudged: it is refused for good. By the chain's own clock only, since one that is behind ours must not make
      // an old one of what we have just sent.
      const isOld = chainAgeOf(block, head) > MAX_TRANSACTION_AGE_MS || isBefore(block, context.since);
      if (!dated && isOld) {
        return unsettled(invalid(proof, "payment_too_old"));
      }
      dated = true;
      // A reorganisation may still undo it, so it says nothing final; but neither will more blocks make a payment of it.
      if (receipt.status !== "0x1") return unknown(job, "the transaction was reverted");
      if (blocks >= confirmations) {
        const received = amountPaid(transaction, receipt, requirement);
        if (received === undefined) return unknown(job, "the transaction succeeded without the exact transfer");
        const more = received > amount ? { received } : {};
        const about = { transaction: transaction.hash, height: Number(receipt.blockNumber) };
        return { outcome: "settled", ...about, payer: proof.payer, ...more };
      }
    }
    const waits = await pause(job);
    if (!waits) return unknown(job, `the transaction has fewer than ${confirmations} blocks on it so far`);
  }
}

/** Lets a part of a block's time pass; false where none is left. */
async function pause({ chain, context }: Job): Promise<boolean> {
  const ms = Math.min(500, Math.max(50, Math.floor(chain.blockMs / 10)));
  if (chain.now() + ms >= context.deadlineAt) return false;
  await new Promise((resolve) => setTimeout(resolve, ms));
  return true;
}
