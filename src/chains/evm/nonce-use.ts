// Finds the transaction that used an account's nonce, whoever signed it and whatever its hash is: by a binary search over the
// account's count at each height, and where a node has forgotten old state, by reading the blocks themselves. The answer is of
// one node at one moment; whether it is final is for others to judge.
import { type Member, readMembers, readQuantity } from "./answers.js";
import { lower } from "./chain.js";
import { toQuantity } from "./hex.js";
import type { Rpc, RpcAnswer, RpcCall, RpcOptions } from "./rpc.js";

export interface NonceOwner {
  readonly sender: string;
  readonly nonce: number;
}

export type NonceUse =
  | { readonly found: "transaction"; readonly transaction: Member; readonly height: bigint }
  /** Not seen in the blocks below `next`. `isWhole`: and that is all of them, so it was used before, or the node is in motion. */
  | { readonly found: "nothing"; readonly next: bigint; readonly isWhole: boolean }
  | { readonly found: "failed"; readonly message: string };

/** Blocks that one call reads where there is no state, in requests of so many. */
const MAX_BLOCKS = 400;
const BLOCKS_PER_REQUEST = 10;

/**
 * The transaction with this sender and nonce between two heights. `head` is a block at which the account's count is known to be
 * beyond the nonce; what was used below `first` is not found by reading blocks.
 */
export async function findNonceUse(
  rpc: Rpc,
  owner: NonceOwner,
  first: bigint,
  head: bigint,
  options: RpcOptions,
): Promise<NonceUse> {
  const range = await narrow(rpc, owner, first, head, options);
  return "message" in range ? { found: "failed", message: range.message } : readBlocks(rpc, owner, range, options);
}

interface Range {
  readonly from: bigint;
  readonly to: bigint;
}

/** Halves the range until the block is known, or until the node has no state for the middle any more. */
async function narrow(
  rpc: Rpc,
  owner: NonceOwner,
  first: bigint,
  head: bigint,
  options: RpcOptions,
): Promise<Range | { readonly message: string }> {
  let from = first;
  let to = head;
  // Heights below are known to have an older count, or to have no state: only the former need not be read.
  let blind = first;
  while (blind < to) {
    const middle = (blind + to) / 2n;
    const reply = await rpc.batch([countAt(owner, middle)], options);
    if (!reply.ok) return reply;
    const count = readQuantity(reply.answers[0]);
    if (count === undefined) blind = middle + 1n;
    else if (count > BigInt(owner.nonce)) to = middle;
    else from = blind = middle + 1n;
  }
  return { from, to };
}

const countAt = ({ sender }: NonceOwner, height: bigint): RpcCall => ({
  method: "eth_getTransactionCount",
  params: [lower(sender), toQuantity(height)],
});

/** Forwards: the only block that is left, or as many as one call may read. */
async function readBlocks(rpc: Rpc, owner: NonceOwner, { from, to }: Range, options: RpcOptions): Promise<NonceUse> {
  const last = to - from < BigInt(MAX_BLOCKS) ? to : from + BigInt(MAX_BLOCKS) - 1n;
  for (let at = from; at <= last; at += BigInt(BLOCKS_PER_REQUEST)) {
    const end = at + BigInt(BLOCKS_PER_REQUEST) - 1n < last ? at + BigInt(BLOCKS_PER_REQUEST) - 1n : last;
    const heights = Array.from({ length: Number(end - at) + 1 }, (_, index) => at + BigInt(index));
    const reply = await rpc.batch(heights.map(fullBlock), options);
    if (!reply.ok) return { found: "failed", message: reply.message };
    for (const [index, height] of heights.entries()) {
      const members = readMembers(reply.answers[index]);
      if (!members) return { found: "failed", message: `the chain gave no readable block ${height}` };
      const transaction = members.find((one) => isOf(one, owner));
      if (transaction) return { found: "transaction", transaction, height };
    }
  }
  return { found: "nothing", next: last + 1n, isWhole: last === to };
}

const fullBlock = (height: bigint): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [toQuantity(height), true],
});

const isOf = ({ from, nonce }: Member, owner: NonceOwner): boolean =>
  from === lower(owner.sender) && nonce === BigInt(owner.nonce);

/** Asks for the block that the node would mine now; `readWaiting` reads the answer. */
export const PENDING_BLOCK: RpcCall = { method: "eth_getBlockByNumber", params: ["pending", true] };

/** The transaction with this sender and nonce among those that wait, as far as the node shows them. */
export const readWaiting = (answer: RpcAnswer | undefined, owner: NonceOwner): Member | undefined =>
  readMembers(answer)?.find((one) => isOf(one, owner));
