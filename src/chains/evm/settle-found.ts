// What the chain shows of an authorization's use, and what that makes of its settlement: paid, by whomever, or not, or not known.
import { reasonOf } from "../../errors.js";
import type { AuthorizationProof } from "../../proof.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import type { Receipt } from "./answers.js";
import { type EvmChain, paymentOf } from "./chain.js";
import { provesPayment } from "./evidence.js";
import type { Hex } from "./hex.js";
import { isBefore } from "./mined.js";
import { type Found, findPayment } from "./search.js";
import { standingOf } from "./standing.js";

/** One settlement under way. */
export interface Job {
  readonly chain: EvmChain;
  readonly proof: AuthorizationProof;
  readonly context: SettleContext;
  /** The last transaction whose bytes left. */
  sent: Hex | undefined;
  /** Why the last attempt came to nothing. */
  trouble: string;
}

/** The outcome where nothing is proven: whether bytes left decides. */
export function unproven({ sent }: Job, message: string): Settlement {
  return sent ? { outcome: "unknown", transaction: sent, message } : { outcome: "unavailable", message };
}

/** A receipt without the paired logs is not a payment; perhaps an outsider's transaction was the payment. */
export async function whenMined(job: Job, receipt: Receipt): Promise<Settlement> {
  const payment = paymentOf(job.proof.requirement, job.proof.authorization.from, job.proof.authorization.nonce);
  if (provesPayment(receipt, payment)) return settled(job, receipt.transactionHash, receipt.blockNumber);
  const found = await search(job);
  if (found.found === "paid") return whenPaid(job, found);
  const facts = { network: job.chain.network, transaction: receipt.transactionHash, status: receipt.status };
  job.chain.logger?.error("a settlement was mined without the exact transfer", facts);
  const word = receipt.status === "0x1" ? "succeeded without the exact transfer" : "reverted";
  return { ...unproven(job, `the transaction ${word}`), ...(receipt.status !== "0x1" && { reverted: true }) };
}

/** The authorization is used already. Whoever submitted it has paid for us, if the exact money came (faults A6). */
export async function whenUsed(job: Job): Promise<Settlement> {
  const found = await search(job);
  switch (found.found) {
    case "paid":
      return whenPaid(job, found);
    case "canceled":
      if (job.sent) return unproven(job, "the payer has canceled the authorization");
      return {
        outcome: "refused",
        code: "settlement_refused",
        reason: reasonOf("settlement_refused", job.proof.version),
      };
    case "unpaid":
      return {
        outcome: "unknown",
        transaction: found.transaction,
        message: "the authorization was used by a transaction that does not move the exact amount to the payee",
      };
    default: {
      // Used on the chain, by whom is not known: money may have moved, so this is never `unavailable`.
      const message = found.found === "failed" ? found.message : "the transaction that used it was not found";
      const about = job.sent && { transaction: job.sent };
      return { outcome: "unknown", ...about, message: `the authorization is used: ${message}` };
    }
  }
}

/**
 * Invariant: what was mined before the store's memory begins may have been used before it began, and must not be sold again. What
 * this settlement has sent is younger than that; what stands in its place, and made it revert, need not be: a node that was behind
 * may have judged.
 */
async function whenPaid(job: Job, { transaction, block }: Extract<Found, { found: "paid" }>): Promise<Settlement> {
  const { chain, proof, context, sent } = job;
  if (transaction === sent || context.since === undefined) return settled(job, transaction, block);
  const standing = await standingOf(chain.rpc, transaction, block, { deadlineAt: context.deadlineAt });
  if (standing.state !== "mined") {
    // Without its id: what a record names was sent by us, and its age is not asked for.
    const message = `the age of the transaction that used it cannot be told (${transaction})`;
    return { outcome: "unknown", ...(sent && { transaction: sent }), message };
  }
  // An outsider may have sent it a moment ago, in this store's first seconds, and has paid for us then: it has to be surely older.
  if (!isBefore(standing.block, context.since)) return settled(job, transaction, block);
  // Also after something was sent: it is in a block, in vain, and the authorization can be used no more.
  return { outcome: "refused", code: "payment_too_old", reason: reasonOf("payment_too_old", proof.version) };
}

/** Asked again while the node that answers may lag behind the one that showed the use (faults F90). */
async function search({ chain, proof, context }: Job): Promise<Found> {
  const { authorization, requirement } = proof;
  const payment = paymentOf(requirement, authorization.from, authorization.nonce);
  for (;;) {
    const found = await findPayment(chain, payment, authorization.validBefore, { deadlineAt: context.deadlineAt });
    const wait = Math.max(250, Math.floor(chain.blockMs / 4));
    if (found.found !== "nothing" && found.found !== "failed") return found;
    if (chain.now() + wait >= context.deadlineAt) return found;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

const settled = ({ proof }: Job, transaction: Hex, block: bigint): Settlement => ({
  outcome: "settled",
  transaction,
  payer: proof.authorization.from,
  height: Number(block),
});
