// A signed transaction of type 2 (EIP-1559), read from its exact bytes: one spelling, low s, and its sender recovered. All
// other types are refused by name. What it moves, and whether that pays for anything, is decided by others.
import type { ErrorCode } from "../../errors.js";
import { addressOf, loadBackend } from "./backend.js";
import { fromBytes, type Hex, toBytes, word } from "./hex.js";
import { type Item, numberBytes, readList, readNumber, writeList, writeString } from "./rlp.js";
import { HALF_ORDER } from "./signature.js";

/** The signed members; the access list is empty. Amounts are wei. */
export interface TransactionFields {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
  /** Lower case. */
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
}

export interface TransactionSignature {
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

export interface SignedTransaction extends TransactionFields {
  readonly raw: Hex;
  readonly hash: Hex;
  /** Who signed it, lower case. */
  readonly sender: Hex;
}

/** Bytes that are no transaction, or none of the kind that is taken. */
export interface Unread {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly expected?: string;
  readonly got?: string;
}

export type ReadTransaction = { readonly ok: true; readonly transaction: SignedTransaction } | Unread;

/** What each type is called, for whoever sent another one than 2. */
const TYPE_NAMES: Readonly<Record<number, string>> = {
  0: "a legacy transaction",
  1: "type 1 (EIP-2930)",
  3: "type 3 (EIP-4844)",
  4: "type 4 (EIP-7702)",
};

/** Another type than 2, said by its name. */
export const otherType = (type: number): Unread => ({
  ok: false,
  code: "payment_rejected",
  expected: "a transaction of type 2 (EIP-1559)",
  got: TYPE_NAMES[type] ?? `type ${type}`,
});

/** A transfer needs none, and without one the members have one form. Source: design §6. */
export const hasAccessList: Unread = {
  ok: false,
  code: "payment_rejected",
  expected: "a transaction with an empty access list",
  got: "an access list",
};

const malformed = (got: string): Unread => ({ ok: false, code: "payment_malformed", got });

/** Reads the bytes of a signed transaction. */
export async function readTransaction(bytes: Uint8Array): Promise<ReadTransaction> {
  const [type] = bytes;
  if (type === undefined) return malformed("no bytes of a transaction");
  // The bytes of a legacy transaction are a list, those of all others begin with their type.
  if (type >= 0xc0 && readList(bytes)) return otherType(0);
  if (type !== 2) return type > 0 && type in TYPE_NAMES ? otherType(type) : malformed("bytes that are no transaction");
  const items = readList(bytes.subarray(1));
  if (items?.length !== 12 || items.some((item, i) => item.list !== (i === ACCESS_LIST))) {
    return malformed("bytes that are no list of the members of a type 2 transaction");
  }
  if (items[ACCESS_LIST]!.content.length > 0) return hasAccessList;
  if (items[TO]!.content.length === 0) {
    return { ok: false, code: "payment_rejected", expected: "a transfer", got: "the creation of a contract" };
  }
  const members = readMembers(items);
  return typeof members === "string" ? malformed(members) : recover(bytes, members);
}

const TO = 5;
const ACCESS_LIST = 8;

type Members = TransactionFields & TransactionSignature;

/** The members, or what is wrong with them. */
function readMembers(items: readonly Item[]): Members | string {
  const content = items.map((item) => item.content);
  const [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data] = content.slice(0, ACCESS_LIST);
  if (to?.length !== 20) return "a recipient that is no address";
  const numbers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, value, ...content.slice(9)];
  if (numbers.some((bytes) => bytes === undefined || bytes.length > 32)) return "a number of more than 32 bytes";
  const at = (bytes: Uint8Array | undefined) => readNumber(bytes ?? new Uint8Array(0));
  return {
    chainId: at(chainId),
    nonce: at(nonce),
    maxPriorityFeePerGas: at(maxPriorityFeePerGas),
    maxFeePerGas: at(maxFeePerGas),
    gas: at(gas),
    to: fromBytes(to),
    value: at(value),
    data: fromBytes(data ?? new Uint8Array(0)),
    yParity: at(content[9]),
    r: at(content[10]),
    s: at(content[11]),
  };
}

/** The bytes that are signed, or, with a signature, those that are sent. */
export function writeTransaction(fields: TransactionFields, signature?: TransactionSignature): Uint8Array {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = fields;
  const number = (value: bigint) => writeString(numberBytes(value));
  const list = writeList([
    ...[chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(number),
    writeString(toBytes(to)),
    number(value),
    writeString(toBytes(data)),
    writeList([]),
    ...(signature ? [signature.yParity, signature.r, signature.s].map(number) : []),
  ]);
  const bytes = new Uint8Array(list.length + 1);
  bytes[0] = 2;
  bytes.set(list, 1);
  return bytes;
}

async function recover(bytes: Uint8Array, members: Members): Promise<ReadTransaction> {
  const { yParity, r, s, ...fields } = members;
  const raw = fromBytes(bytes);
  // Invariant: one transaction has one spelling (no leading zeros, the shortest lengths), so what was read, written again, is
  // what came, and its hash is the one under which the chain knows it.
  if (fromBytes(writeTransaction(fields, members)) !== raw) return malformed("bytes that are no canonical RLP");
  const unsigned: Unread = { ok: false, code: "signature_invalid" };
  if (yParity > 1n) return { ...unsigned, got: `a parity of ${yParity}` };
  // The malleable twin has another hash: chains refuse it, and so do we before anything is known of it.
  if (s > HALF_ORDER) return { ...unsigned, got: "a signature with a high s" };
  const { recover: recoverKey, keccak } = await loadBackend();
  const digest = keccak(writeTransaction(fields));
  const key = await recoverKey(digest, toBytes(word(r) + word(s)), yParity === 0n ? 0 : 1);
  if (!key) return { ...unsigned, got: "a signature of no key" };
  const sender = addressOf(key, keccak) as Hex;
  return { ok: true, transaction: { ...fields, raw, hash: fromBytes(keccak(bytes)), sender } };
}
