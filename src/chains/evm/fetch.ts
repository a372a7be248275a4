// The bytes of a transaction that the chain has, by its hash. A node tells members and not bytes: they are written again, and
// only bytes whose hash is the one asked for are believed.
import type { ErrorCode } from "../../errors.js";
import { readKnown, readTypeTwo } from "./answers.js";
import type { Hex } from "./hex.js";
import type { RpcAnswer, RpcCall } from "./rpc.js";
import {
  hasAccessList,
  otherType,
  type ReadTransaction,
  readTransaction,
  type Unread,
  writeTransaction,
} from "./transaction.js";

/** Asks for a transaction; `readFetched` reads the answer. */
export const transactionCall = (hash: Hex): RpcCall => ({ method: "eth_getTransactionByHash", params: [hash] });

const unread = (code: ErrorCode, got: string): Unread => ({ ok: false, code, got });
const unreadable = unread("receiver_bad_response", "no readable transaction from the chain");

/** The transaction behind the answer to `transactionCall`. */
export async function readFetched(answer: RpcAnswer | undefined, hash: Hex): Promise<ReadTransaction> {
  const known = readKnown(answer);
  if (known === undefined) return unreadable;
  if (known === null) return unread("payment_not_seen", hash);
  if (known.hash !== hash) return unread("receiver_bad_response", "another transaction than the one asked for");
  if (known.type !== 2n) return otherType(Number(known.type ?? 0n));
  const members = readTypeTwo(answer);
  if (!members) return unreadable;
  if (members.accessList.length > 0) return hasAccessList;
  const { to, input: data, yParity = members.v } = members;
  if (yParity === undefined) return unreadable;
  if (to === null) return unread("payment_rejected", "the creation of a contract");
  const read = await readTransaction(writeTransaction({ ...members, to, data }, { ...members, yParity }));
  // Invariant: never trust the node: what it tells must be what was signed.
  if (!read.ok || read.transaction.hash !== hash) {
    return unread("receiver_bad_response", "a transaction whose hash is another one");
  }
  return read;
}
