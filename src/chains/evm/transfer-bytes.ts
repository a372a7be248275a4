// The bytes of a transfer before it is signed, and how it becomes a signed transaction. One spelling: what is read, written
// again, is what came.
import { keccak256 } from "../../keccak.js";
import { fromBytes, type Hex } from "./hex.js";
import { readList, readNumber } from "./rlp.js";
import { HALF_ORDER } from "./signature.js";
import { readTransaction, type SignedTransaction, type TransactionFields, writeTransaction } from "./transaction.js";

/** Order of secp256k1. */
const ORDER = HALF_ORDER * 2n + 1n;

/**
 * The members of an unsigned transaction of type 2 with an empty access list; undefined for all other bytes.
 *
 * @example readUnsigned(writeTransaction(fields)) // fields
 */
export function readUnsigned(bytes: Uint8Array): TransactionFields | undefined {
  const items = bytes[0] === 2 ? readList(bytes.subarray(1)) : undefined;
  if (items?.length !== 9 || items[5]?.content.length !== 20) return undefined;
  const [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data] = items.map((item) => item.content);
  const at = (content: Uint8Array | undefined) => readNumber(content ?? new Uint8Array(0));
  const fields: TransactionFields = {
    chainId: at(chainId),
    nonce: at(nonce),
    maxPriorityFeePerGas: at(maxPriorityFeePerGas),
    maxFeePerGas: at(maxFeePerGas),
    gas: at(gas),
    to: fromBytes(to ?? new Uint8Array(0)),
    value: at(value),
    data: fromBytes(data ?? new Uint8Array(0)),
  };
  return fromBytes(writeTransaction(fields)) === fromBytes(bytes) ? fields : undefined;
}

/** What is signed: the Keccak-256 of the unsigned bytes. */
export const digestOf = (unsigned: Uint8Array): Uint8Array => keccak256(unsigned);

/**
 * The transaction with a signature of 65 bytes: r, s, and the parity as 0 or 1 (27 and 28 are understood). A high s becomes its
 * low twin, which chains and proofs demand. Undefined where the bytes are no signature of `sender`.
 */
export async function joinSignature(
  fields: TransactionFields,
  signature: Uint8Array,
  sender: string,
): Promise<SignedTransaction | undefined> {
  const last = signature[64];
  if (signature.length !== 65 || last === undefined) return undefined;
  const r = readNumber(signature.subarray(0, 32));
  const s = readNumber(signature.subarray(32, 64));
  const parity = last >= 27 ? last - 27 : last;
  if (parity > 1 || s >= ORDER) return undefined;
  const isHigh = s > HALF_ORDER;
  const low = { r, s: isHigh ? ORDER - s : s, yParity: BigInt(isHigh ? 1 - parity : parity) };
  // Invariant: what is sent is what the recovered key signed: a signature of another key pays for nobody.
  const read = await readTransaction(writeTransaction(fields, low));
  return read.ok && read.transaction.sender === (sender.toLowerCase() as Hex) ? read.transaction : undefined;
}
