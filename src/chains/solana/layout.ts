// The instructions of a payment, held against the one layout that is allowed: limit, price, TransferChecked, then nothing
// but Memo and Lighthouse. Steps 6 to 10 of protocol §4.3.
import { encodeBase58 } from "./base58.js";
import {
  feeLamports,
  readComputeLimit,
  readComputePrice,
  readTransferChecked,
  type TransferChecked,
} from "./instructions.js";
import { type Program, programOf } from "./programs.js";
import { type Reason, type Refused, refused } from "./reasons.js";
import type { StaticTerms } from "./terms.js";
import type { Instruction, Transaction } from "./transaction.js";

/** What a transaction of the allowed layout does. */
export interface Layout {
  readonly ok: true;
  readonly units: number;
  readonly unitPrice: bigint;
  /** What the fee payer loses if the transaction lands. */
  readonly feeLamports: bigint;
  readonly tokenProgram: "token" | "token2022";
  readonly transfer: TransferChecked;
  /** Indexes of the transfer's accounts. */
  readonly source: number;
  readonly mint: number;
  readonly destination: number;
  readonly authority: number;
  readonly memos: readonly Uint8Array[];
}

type Caps = Pick<StaticTerms, "maxComputeUnits" | "maxUnitPrice" | "maxTotalFeeLamports">;

const UNKNOWN: readonly Reason[] = ["unknown_fourth", "unknown_fifth", "unknown_sixth", "unknown_seventh"];
const [FEWEST, MOST] = [3, 3 + UNKNOWN.length];

/**
 * Reads the layout or names the first instruction that breaks it. The order itself keeps out a durable nonce (it would
 * have to be first) and a second limit or price (they would stand where only Memo and Lighthouse may).
 */
export function readLayout(transaction: Transaction, caps: Caps): Layout | Refused {
  const { instructions, header } = transaction;
  const [limit, price, move, ...others] = instructions;
  if (!limit || !price || !move || instructions.length > MOST) {
    return refused("instruction_count", `${FEWEST} to ${MOST}`, String(instructions.length));
  }
  const program = (instruction: Instruction) => programOf(transaction.keys[instruction.program]);
  const describe = (instruction: Instruction) => nameOf(transaction, instruction);

  const units = program(limit) === "computeBudget" ? readComputeLimit(limit.data) : undefined;
  if (units === undefined) return refused("compute_limit", "SetComputeUnitLimit first", describe(limit));
  // Invariant: caps are asked as `!(x <= cap)`, so that a cap that is not there refuses (faults A24).
  if (!(units <= caps.maxComputeUnits)) {
    return refused("compute_limit_too_high", `at most ${caps.maxComputeUnits} units`, String(units));
  }
  const unitPrice = program(price) === "computeBudget" ? readComputePrice(price.data) : undefined;
  if (unitPrice === undefined) return refused("compute_price", "SetComputeUnitPrice second", describe(price));
  if (!(unitPrice <= caps.maxUnitPrice)) {
    return refused("compute_price_too_high", `at most ${caps.maxUnitPrice} micro-lamports a unit`, String(unitPrice));
  }
  const fee = feeLamports({ signatures: header.requiredSignatures, units, unitPrice });
  if (!(fee <= caps.maxTotalFeeLamports)) {
    return refused(
      "compute_price_too_high",
      `a fee of at most ${caps.maxTotalFeeLamports} lamports`,
      `${fee} lamports`,
    );
  }

  const moved = readMove(move, program(move), describe(move));
  if (!moved.ok) return moved;
  const memos: Uint8Array[] = [];
  for (const [i, other] of others.entries()) {
    const called = program(other);
    if (called === "memo") memos.push(other.data);
    else if (called !== "lighthouse") return refused(UNKNOWN[i]!, "Memo or Lighthouse", describe(other));
  }
  return { ...moved, units, unitPrice, feeLamports: fee, memos };
}

type Move = Pick<Layout, "ok" | "tokenProgram" | "transfer" | "source" | "mint" | "destination" | "authority">;

/** The third instruction as TransferChecked with one plain authority: neither a multisig nor the accounts of a hook. */
function readMove({ accounts, data }: Instruction, program: Program | undefined, described: string): Move | Refused {
  if (program === "associatedToken") return refused("account_creation", "TransferChecked third", described);
  if (program !== "token" && program !== "token2022") return refused("no_transfer", "TransferChecked third", described);
  const transfer = readTransferChecked(data);
  const [source, mint, destination, authority, ...more] = accounts;
  const complete = source !== undefined && mint !== undefined && destination !== undefined && authority !== undefined;
  if (!transfer || !complete || more.length > 0) {
    const reason = program === "token" ? "no_token_transfer" : "no_token_2022_transfer";
    return refused(reason, "TransferChecked with 4 accounts", `${described} with ${accounts.length} accounts`);
  }
  return { ok: true, tokenProgram: program, transfer, source, mint, destination, authority };
}

/** `system 4`: the program, by name where it has one, and the first byte of the data, which mostly says what is asked. */
export function nameOf({ keys }: Transaction, { program, data }: Instruction): string {
  const key = keys[program];
  const name = programOf(key) ?? (key ? encodeBase58(key) : "a program from a lookup table");
  return data.length === 0 ? name : `${name} ${data[0]}`;
}
