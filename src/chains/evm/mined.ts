// Judges a transaction that stands in a block: it must have succeeded, have moved at least the price, and not be old. Whatever of
// that the node does not show is nobody's verdict; never is it taken for unmined.
import { MAX_TRANSACTION_AGE_MS } from "../../proof.js";
import type { Block } from "./answers.js";
import type { EvmChain } from "./chain.js";
import { amountPaid } from "./evidence.js";
import type { RpcOptions } from "./rpc.js";
import { standingOf } from "./standing.js";
import { type Invalid, invalid, type Unavailable, unavailable, type Valid } from "./verdicts.js";
import type { ReadProof } from "./verify-transaction.js";

/** Judges what a node has shown at this height. A valid verdict always says when it was mined. */
export async function judgeMined(
  chain: EvmChain,
  { proof, requirement, transaction }: ReadProof,
  height: bigint,
  options: RpcOptions,
): Promise<(Valid & { readonly minedAt: number }) | Invalid | Unavailable> {
  const standing = await standingOf(chain.rpc, transaction.hash, height, options);
  if (standing.state === "unreadable") return unavailable("receiver_unreachable", standing.message);
  // Invariant: what a block has shown is not new, whatever is said of it a moment later.
  if (standing.state === "absent") {
    return unavailable("receiver_bad_response", "the transaction stands in no block of the chain right now");
  }
  const { receipt, block, head } = standing;
  if (receipt.status !== "0x1") return invalid(proof, "payment_rejected", { got: "a transaction that was reverted" });
  const came = amountPaid(transaction, receipt, { ...requirement, amount: 0n });
  if (came === undefined) {
    const expected = `a Transfer of ${requirement.amount} to ${requirement.payTo}`;
    return invalid(proof, "payment_rejected", { expected, got: "a receipt that does not show it" });
  }
  if (came < requirement.amount) return tooLow(proof, requirement.amount, came);
  const now = chain.now();
  const minedAt = minedAtOf(block, head, now, chain.blockMs);
  const oldest = now - MAX_TRANSACTION_AGE_MS;
  if (minedAt >= oldest) return { outcome: "valid", payer: proof.payer, minedAt };
  const facts = { expected: `mined after ${isoOf(oldest)}`, got: `mined at ${isoOf(minedAt)}` };
  return invalid(proof, "payment_too_old", facts);
}

/**
 * When it was mined, in epoch milliseconds of this server's clock, and never later than it was.
 *
 * Invariant: of its two ages, by our clock and by the chain's own, the larger one counts. So neither a server that is behind the
 * chain nor a chain that is behind the server makes an old transaction new.
 */
export function minedAtOf(block: Block, head: Block, now: number, blockMs: number): number {
  // Where the chain is seen to be ahead of us, its head may be as old as the next block is due, and so its age by the chain.
  const unseen = Number(head.timestamp) * 1000 > now ? blockMs : 0;
  return Math.min(Number(block.timestamp) * 1000, now - chainAgeOf(block, head) - unseen);
}

/** Its age by the chain's own clock, in milliseconds; 0 where the node's head lags behind it. */
export const chainAgeOf = (block: Block, head: Block): number =>
  Math.max(0, Number(head.timestamp - block.timestamp)) * 1000;

/**
 * Was it surely mined before that moment? For what we, or a service for us, may have sent a moment ago: by the chain's clock, whose
 * blocks tell whole seconds.
 */
export const isBefore = ({ timestamp }: Block, since: number | undefined): boolean =>
  since !== undefined && (Number(timestamp) + 1) * 1000 <= since;

/** Its owner is known, and it pays too little: the money is on its way or there, so no new price is asked of him for it. */
export const tooLow = (proof: ReadProof["proof"], price: bigint, came: bigint): Invalid =>
  invalid(proof, "payment_too_low", { expected: `${price}`, got: `${came}` });

const isoOf = (ms: number): string => new Date(ms).toISOString();
