// What a Solana transaction is known by, read from its bytes: the hash of its message, whoever fills its signature slots.
// For the id of a transaction on the chain the bytes are fetched, and believed only where they bear that signature.
import type { Identified } from "../../receive/receiver.js";
import { NATIVE } from "../../requirement.js";
import type { TransactionPayload } from "../../wire/payload.js";
import { decodeBase58, encodeBase58 } from "./base58.js";
import { toHex } from "./bytes.js";
import { fetchTransaction } from "./fetch.js";
import { readTransferChecked } from "./instructions.js";
import { programOf } from "./programs.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";
import { decodeTransaction, messageHash, type Transaction } from "./transaction.js";

/** A transaction has at least 67 bytes, so its base64 is longer than any signature in base58. */
const MAX_ID = 90;

/** Where the bytes behind a mere id are asked for. */
export interface Source extends RpcOptions {
  readonly rpc: SolanaRpc;
}

/**
 * Identifies the payload's transaction; verifies nothing of what it pays. Never rejects. Without a source a mere id is
 * `unsupported_scheme`.
 */
export async function identifyTransaction({ transaction }: TransactionPayload, source?: Source): Promise<Identified> {
  if (transaction.length > MAX_ID) return identifyBytes(transaction);
  const id = decodeBase58(transaction);
  if (id?.length !== 64) return malformed("neither a transaction in base64 nor the id of one in base58");
  if (!source) return { ok: false, code: "unsupported_scheme", expected: "a transaction", got: "a transaction's id" };
  const fetched = await fetchTransaction(source.rpc, transaction, source);
  if (fetched.ok) return identifyBytes(fetched.transaction);
  if (fetched.seen === false) return { ok: false, code: "payment_not_seen", got: transaction };
  return { ok: false, code: fetched.code };
}

const malformed = (got: string): Identified => ({
  ok: false,
  code: "payment_malformed",
  expected: "a legacy or v0 transaction",
  got,
});

async function identifyBytes(base64: string): Promise<Identified> {
  const decoded = decodeTransaction(base64);
  if (!decoded.ok) return malformed(decoded.problem);
  const { transaction } = decoded;
  const payer = transaction.header.requiredSignatures === 2 ? 1 : 0;
  const key = await messageHash(transaction.message);
  return {
    ok: true,
    key,
    // Slot 0 of a token payment is anybody's to fill, so it makes no proof another one (faults A20).
    canonical: `${key}|${toHex(transaction.signatures[payer]!)}`,
    payer: encodeBase58(transaction.keys[payer]!),
    asset: assetOf(transaction),
    transaction: base64,
  };
}

/** The id under which the chain knows these bytes, base64: the fee payer's signature. Undefined where they are none. */
export function idOf(base64: string): string | undefined {
  const decoded = decodeTransaction(base64);
  const [first] = decoded.ok ? decoded.transaction.signatures : [];
  return first && encodeBase58(first);
}

/** Accounts behind lookup tables are not read: such a transaction is refused later. */
function assetOf({ instructions, keys }: Transaction): string | undefined {
  const third = instructions[2];
  const program = third && programOf(keys[third.program]);
  if (third && (program === "token" || program === "token2022") && readTransferChecked(third.data)) {
    const mint = keys[third.accounts[1] ?? keys.length];
    return mint && encodeBase58(mint);
  }
  const moves = instructions.some((one) => programOf(keys[one.program]) === "system" && isTransfer(one.data));
  return moves ? NATIVE : undefined;
}

/** The system program's Transfer: a u32 of 2, then the lamports. */
const isTransfer = ([a, b, c, d, ...lamports]: Uint8Array): boolean =>
  a === 2 && b === 0 && c === 0 && d === 0 && lamports.length === 8;
