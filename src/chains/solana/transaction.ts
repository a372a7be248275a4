// A Solana transaction from its wire bytes: legacy and v0 messages. Whatever the input, the answer is a value; what the
// chain's own loader refuses for its form (counts, indexes, duplicate keys) is refused here. Says nothing about meaning.
import { LRUCache } from "lru-cache";
import { sha256 } from "../../hash.js";
import { byteKey, Cursor, fromBase64 } from "./bytes.js";

/** The network's packet size: no transaction is larger. */
export const MAX_TRANSACTION_BYTES = 1232;
const MAX_BASE64 = Math.ceil(MAX_TRANSACTION_BYTES / 3) * 4;

export interface Instruction {
  /** Index of the program among the keys. */
  readonly program: number;
  /** Indexes of the accounts among the keys, then the looked-up ones. */
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** An address lookup table, and which of its entries the transaction loads. */
export interface Lookup {
  readonly table: Uint8Array;
  readonly writable: readonly number[];
  readonly readonly: readonly number[];
}

export interface Transaction {
  readonly version: "legacy" | 0;
  /** One for each required signer, in the order of the keys; 64 zero bytes where none has been made. */
  readonly signatures: readonly Uint8Array[];
  /** The bytes that are signed, version byte included. */
  readonly message: Uint8Array;
  readonly header: {
    readonly requiredSignatures: number;
    readonly readonlySigned: number;
    readonly readonlyUnsigned: number;
  };
  /** The keys written out in the message; the first is the fee payer. */
  readonly keys: readonly Uint8Array[];
  readonly recentBlockhash: Uint8Array;
  readonly instructions: readonly Instruction[];
  readonly lookups: readonly Lookup[];
}

export type DecodedTransaction =
  | { readonly ok: true; readonly transaction: Transaction }
  | { readonly ok: false; readonly problem: string };

/** A payment is read to identify it, to verify it and to settle it: one reading serves all. Nobody changes what was read. */
const recent = new LRUCache<string, DecodedTransaction>({ max: 100 });

/** Reads a serialized transaction from standard base64. Never throws. */
export function decodeTransaction(base64: string): DecodedTransaction {
  if (typeof base64 !== "string") return { ok: false, problem: "the transaction is not text" };
  if (base64.length > MAX_BASE64) return { ok: false, problem: `more than ${MAX_TRANSACTION_BYTES} bytes` };
  const known = recent.get(base64);
  if (known) return known;
  const decoded = decode(base64);
  if (decoded.ok) recent.set(base64, decoded);
  return decoded;
}

function decode(base64: string): DecodedTransaction {
  const bytes = fromBase64(base64);
  if (!bytes) return { ok: false, problem: "the transaction is not standard, padded base64" };
  if (bytes.length > MAX_TRANSACTION_BYTES) return { ok: false, problem: `more than ${MAX_TRANSACTION_BYTES} bytes` };

  const cursor = new Cursor(bytes);
  const signatures = cursor.list(() => cursor.take(64));
  const transaction = readMessage(cursor, signatures);
  const problem = cursor.problem ?? findFlaw(transaction);
  return problem === undefined ? { ok: true, transaction } : { ok: false, problem };
}

/**
 * The identity of a payment: SHA-256 of the message, in hex. Never of the wire bytes, in which the fee payer's empty
 * signature slot is anybody's to fill (faults A20).
 */
export function messageHash(message: Uint8Array): string | Promise<string> {
  return sha256(message);
}

function readMessage(cursor: Cursor, signatures: readonly Uint8Array[]): Transaction {
  const message = cursor.rest();
  const versioned = cursor.peek() >= 0x80;
  if (versioned && cursor.byte() !== 0x80) cursor.fail("a message version that is neither legacy nor 0");
  const header = {
    requiredSignatures: cursor.byte(),
    readonlySigned: cursor.byte(),
    readonlyUnsigned: cursor.byte(),
  };
  const keys = cursor.list(() => cursor.take(32));
  const recentBlockhash = cursor.take(32);
  const index = () => cursor.byte();
  const instructions = cursor.list(() => ({
    program: cursor.byte(),
    accounts: cursor.list(index),
    data: cursor.take(cursor.length()),
  }));
  const readLookup = () => ({ table: cursor.take(32), writable: cursor.list(index), readonly: cursor.list(index) });
  const lookups = versioned ? cursor.list(readLookup) : [];
  if (cursor.left > 0) cursor.fail("bytes after the end of the message");
  return {
    version: versioned ? 0 : "legacy",
    signatures,
    message,
    header,
    keys,
    recentBlockhash,
    instructions,
    lookups,
  };
}

/** What makes the chain's loader refuse the transaction before any program runs. */
function findFlaw({ signatures, header, keys, instructions, lookups }: Transaction): string | undefined {
  const { requiredSignatures, readonlySigned, readonlyUnsigned } = header;
  if (signatures.length !== requiredSignatures) {
    return `${signatures.length} signatures where the header requires ${requiredSignatures}`;
  }
  if (readonlySigned >= requiredSignatures) return "no writable signer, so nobody who could pay the fee";
  if (requiredSignatures + readonlyUnsigned > keys.length) return "the header counts more keys than there are";
  // Invariant: one key has one index. An account under two indexes would be missed by a check of indexes.
  if (new Set(keys.map(byteKey)).size !== keys.length) return "a key is listed twice";
  const looked = lookups.reduce((sum, { writable, readonly }) => sum + writable.length + readonly.length, 0);
  if (keys.length + looked > 256) return "more than 256 keys";
  if (lookups.some(({ writable, readonly }) => writable.length + readonly.length === 0)) return "an empty lookup";
  for (const { program, accounts } of instructions) {
    if (program === 0) return "the fee payer is called as a program";
    if (program >= keys.length) return "a program that is not among the keys";
    if (accounts.some((account) => account >= keys.length + looked)) return "an account that is not among the keys";
  }
  return undefined;
}
