// Where a transaction stands: in which block of the canonical chain, and how many blocks stand on it. A receipt alone may be of
// a block that is no longer part of the chain, so the block at its height must be the very block that the receipt names.
import { type Block, type Receipt, readBlock, readReceipt } from "./answers.js";
import { type Hex, toQuantity } from "./hex.js";
import type { Rpc, RpcCall, RpcOptions } from "./rpc.js";

export type Standing =
  | {
      readonly state: "mined";
      readonly receipt: Receipt;
      readonly block: Block;
      /** The node's newest block. */
      readonly head: Block;
      /** Blocks that stand on it, its own included; 0 where the node's head lags behind it. */
      readonly blocks: number;
    }
  /** The chain has it in no block (any more): no receipt, or one of a block that another one has replaced. */
  | { readonly state: "absent" }
  /** The node gave no answer to build upon: this says nothing of the transaction. */
  | { readonly state: "unreadable"; readonly message: string };

/** Heights that one look may follow a transaction to, while a reorganisation moves it. */
const MAX_MOVES = 3;

/** Asks for the receipt; null = in no block. */
export const receiptCall = (hash: Hex): RpcCall => ({ method: "eth_getTransactionReceipt", params: [hash] });
/** Asks for a block without its transactions. */
export const blockCall = (block: bigint | "latest" | "finalized"): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [typeof block === "bigint" ? toQuantity(block) : block, false],
});

/** Looks at a transaction that a receipt has shown at this height. One HTTP request unless it has moved since. */
export async function standingOf(rpc: Rpc, hash: Hex, height: bigint, options: RpcOptions): Promise<Standing> {
  let at = height;
  for (let move = 0; move < MAX_MOVES; move++) {
    const reply = await rpc.batch([receiptCall(hash), blockCall(at), blockCall("latest")], options);
    if (!reply.ok) return { state: "unreadable", message: reply.message };
    const receipt = readReceipt(reply.answers[0]);
    const [block, head] = reply.answers.slice(1).map(readBlock);
    if (receipt === null) return { state: "absent" };
    if (!receipt || !head) return { state: "unreadable", message: "the chain gave no readable receipt or block" };
    if (receipt.blockNumber !== at) {
      at = receipt.blockNumber;
      continue;
    }
    // Invariant: a block that cannot be read, or is not the one asked for, never makes what was mined look unmined.
    const isRead = receipt.transactionHash === hash && receipt.blockHash !== undefined && block?.number === at;
    if (!isRead || !block.hash)
      return { state: "unreadable", message: "the chain gave no readable block of the receipt" };
    // Invariant: a receipt of another block than the canonical one at its height is evidence of nothing.
    if (block.hash !== receipt.blockHash) return { state: "absent" };
    const blocks = head.number < at ? 0 : Number(head.number - at) + 1;
    return { state: "mined", receipt, block, head, blocks };
  }
  return { state: "unreadable", message: "the chain is being reorganised" };
}
