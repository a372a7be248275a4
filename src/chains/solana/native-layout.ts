// The instructions of a buyer's own SOL transfer, held against what may stand in one: exactly one transfer, compute budget,
// Memo and Lighthouse, in any order, because the buyer pays for all of it himself. Whoever reads this layout knows all that
// the transaction moves to the payee: if it has succeeded, the money has moved.
import { readComputeLimit, readComputePrice } from "./instructions.js";
import { nameOf } from "./layout.js";
import { programOf } from "./programs.js";
import { type Refused, refused } from "./reasons.js";
import type { Instruction, Transaction } from "./transaction.js";

export interface NativeLayout {
  readonly ok: true;
  /** Index of the transfer among the instructions. */
  readonly at: number;
  /** Index of the transfer's recipient among the keys; its sender is key 0. */
  readonly recipient: number;
  readonly lamports: bigint;
  readonly memos: readonly Uint8Array[];
}

/** As in a token payment: limit, price, transfer, and four of Memo and Lighthouse. */
const MOST = 7;
const MOST_MEMOS = 2;

/** Reads the layout or names the first instruction that breaks it. */
export function readNativeLayout(transaction: Transaction): NativeLayout | Refused {
  const { instructions } = transaction;
  if (instructions.length > MOST) return refused("instruction_count", `at most ${MOST}`, String(instructions.length));
  let move: (Move & { readonly at: number }) | undefined;
  const memos: Uint8Array[] = [];
  const budget = { limits: 0, prices: 0 };
  for (const [at, instruction] of instructions.entries()) {
    switch (programOf(transaction.keys[instruction.program])) {
      case "memo":
        memos.push(instruction.data);
        break;
      case "lighthouse":
        break;
      case "computeBudget": {
        const unread = countBudget(transaction, instruction, budget);
        if (unread) return unread;
        break;
      }
      case "system": {
        // Invariant: one system instruction. A durable nonce would be another, and with one the bytes would never expire.
        const read = readMove(transaction, instruction);
        if (!read.ok) return read;
        if (move) return refused("unknown_optional", "one transfer", "a second one");
        move = { ...read, at };
        break;
      }
      default:
        return refused(
          "unknown_optional",
          "a System transfer, compute budget, Memo or Lighthouse",
          nameOf(transaction, instruction),
        );
    }
  }
  if (!move) return refused("no_transfer", "one System transfer", "none");
  if (memos.length > MOST_MEMOS) return refused("memo_count", `at most ${MOST_MEMOS}`, String(memos.length));
  return { ...move, memos };
}

/** The chain refuses a second instruction of a kind; here it has a name before anything is asked. */
function countBudget(
  transaction: Transaction,
  instruction: Instruction,
  budget: { limits: number; prices: number },
): Refused | undefined {
  if (readComputeLimit(instruction.data) !== undefined) {
    budget.limits += 1;
    return budget.limits > 1 ? refused("compute_limit", "one SetComputeUnitLimit at most", "a second one") : undefined;
  }
  if (readComputePrice(instruction.data) !== undefined) {
    budget.prices += 1;
    return budget.prices > 1 ? refused("compute_price", "one SetComputeUnitPrice at most", "a second one") : undefined;
  }
  return refused("unknown_optional", "SetComputeUnitLimit or SetComputeUnitPrice", nameOf(transaction, instruction));
}

type Move = Pick<NativeLayout, "ok" | "recipient" | "lamports">;

const TRANSFER = 2;

/** System's Transfer: `02000000` and a u64, from the one signer to somebody. */
function readMove(transaction: Transaction, instruction: Instruction): Move | Refused {
  const { accounts, data } = instruction;
  const [from, recipient, ...more] = accounts;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length !== 12 || view.getUint32(0, true) !== TRANSFER || recipient === undefined || more.length > 0) {
    return refused("no_transfer", "System's Transfer with 2 accounts", nameOf(transaction, instruction));
  }
  if (from !== 0) return refused("signature_invalid", "the payer as sender of the transfer", "another account");
  return { ok: true, recipient, lamports: view.getBigUint64(4, true) };
}
