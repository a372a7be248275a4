// Whether unsigned bytes are exactly what was ordered on Solana. What may differ from what this process would write itself is the
// blockhash and the price of computing; the latter has a bound.
import { decodeAddress, encodeBase58 } from "../chains/solana/base58.js";
import { sameBytes } from "../chains/solana/bytes.js";
import { feeLamports, readComputeLimit, readComputePrice, readTransferChecked } from "../chains/solana/instructions.js";
import { nameOf } from "../chains/solana/layout.js";
import { programOf } from "../chains/solana/programs.js";
import { decodeTransaction, type Instruction, type Transaction } from "../chains/solana/transaction.js";
import { createTransferMessage, type TransferToken, tokenAccountsOf } from "../chains/solana/transfer.js";
import { formatDecimal } from "../money.js";
import { NATIVE } from "../requirement.js";
import type { BuiltOrder } from "./local-built.js";
import { LocalTransactionError } from "./local-error.js";
import type { LocalOrder } from "./local-order.js";

export interface InspectedTransfer {
  /** What is signed. */
  readonly message: Uint8Array;
  /** Lamports that its network fee is. */
  readonly fee: bigint;
}

/** @throws LocalTransactionError, `built_wrong` with what differs */
export async function inspectOnSolana(built: BuiltOrder, order: LocalOrder): Promise<InspectedTransfer> {
  const { paymentId } = built;
  const wrong = (detail: string) => new LocalTransactionError("built_wrong", detail, { paymentId });
  const decoded = decodeTransaction(built.base64);
  if (!decoded.ok) throw wrong(`expected the bytes of a transaction, got none: ${decoded.problem}`);
  const { transaction } = decoded;
  const [units, unitPrice] = [
    readBudget(transaction, 0, readComputeLimit),
    readBudget(transaction, 1, readComputePrice),
  ];
  if (units === undefined || unitPrice === undefined) throw wrong("expected a compute limit and a compute price first");
  const own = await createTransferMessage({
    ...partsOf(order),
    memo: built.reference,
    blockhash: encodeBase58(transaction.recentBlockhash),
    units,
    unitPrice,
  });
  // Invariant: what is signed is the one transfer that was ordered, byte for byte as this process would write it: no other signer,
  // fee payer, account or instruction, and the hash of the secret as its memo.
  if (!sameBytes(own, transaction.message)) throw wrong(await describe(transaction, order));
  return { message: transaction.message, fee: feeLamports({ signatures: 1, units, unitPrice }) };
}

function readBudget<T>({ keys, instructions }: Transaction, at: number, read: (data: Uint8Array) => T): T | undefined {
  const instruction = instructions[at];
  return instruction && programOf(keys[instruction.program]) === "computeBudget" ? read(instruction.data) : undefined;
}

function partsOf({ sender: from, recipient: to, asset, amount }: LocalOrder) {
  const token = tokenOf(asset);
  return { from, to, amount, ...(token && { token }) };
}

const tokenOf = ({ address: mint, decimals, tokenProgram }: LocalOrder["asset"]): TransferToken | undefined =>
  mint === NATIVE ? undefined : { mint, decimals, tokenProgram };

/** What differs, for people; that something does is decided already. */
async function describe(transaction: Transaction, order: LocalOrder): Promise<string> {
  const { header, keys, instructions, lookups } = transaction;
  const payer = keys[0];
  if (payer && !sameBytes(payer, decodeAddress(order.sender) ?? new Uint8Array(0))) {
    return `expected ${order.sender} as fee payer, got ${encodeBase58(payer)}`;
  }
  if (header.requiredSignatures !== 1) return `expected one signer, got ${header.requiredSignatures}`;
  if (lookups.length > 0) return "expected no lookup tables, got some";
  const move = instructions[2];
  if (instructions.length !== 4 || !move) {
    const names = instructions.map((one) => nameOf(transaction, one)).join(", ");
    return `expected four instructions (limit, price, transfer, memo), got ${instructions.length}: ${names}`;
  }
  return (
    (await describeMove(transaction, move, order)) ?? "it does more, or something else, than the transfer and its memo"
  );
}

async function describeMove(
  { keys }: Transaction,
  { program, accounts, data }: Instruction,
  { sender: from, recipient, asset, amount }: LocalOrder,
): Promise<string | undefined> {
  const token = tokenOf(asset);
  const called = programOf(keys[program]);
  const isToken = called === "token" || called === "token2022";
  if (token ? !isToken : called !== "system") return `expected a transfer of ${asset.symbol}, got another instruction`;
  const to = token ? (await tokenAccountsOf({ from, to: recipient, token })).destination : recipient;
  const target = keys[accounts[token ? 2 : 1] ?? -1];
  if (target && encodeBase58(target) !== to) {
    const owner = token ? ` (the token account of ${recipient})` : "";
    return `expected the recipient ${to}${owner}, got ${encodeBase58(target)}`;
  }
  const moved = token ? readTransferChecked(data)?.amount : readLamports(data);
  if (moved === undefined || moved === amount) return undefined;
  const [wanted, got] = [amount, moved].map((units) => `${formatDecimal(units, asset.decimals)} ${asset.symbol}`);
  return `expected an amount of ${wanted}, got ${got}`;
}

const readLamports = (data: Uint8Array): bigint | undefined =>
  data.length === 12 ? new DataView(data.buffer, data.byteOffset, data.byteLength).getBigUint64(4, true) : undefined;
