// What a transaction shown as a payment is known by: its sender and account nonce, read from its bytes, which for a mere hash
// the chain is asked for. Verifies nothing but that the bytes are a transaction and who signed it.
import { checksumAddress } from "../../address.js";
import type { Identified } from "../../receive/receiver.js";
import type { TransactionPayload } from "../../wire/payload.js";
import { fromBase64, toBase64 } from "../solana/bytes.js";
import type { ChainReader } from "./chain.js";
import { readFetched, transactionCall } from "./fetch.js";
import { type Hex, isHex, toBytes } from "./hex.js";
import { keyOf, movementOf } from "./movement.js";
import { type ReadTransaction, readTransaction } from "./transaction.js";

/** Identifies a transaction. Rejects only where no implementation of secp256k1 is installed. */
export async function identifyTransaction(
  chain: ChainReader,
  { transaction }: TransactionPayload,
  signal: AbortSignal,
): Promise<Identified> {
  return identityOf(isHex(transaction, 32) ? await ask(chain, transaction, signal) : await readBase64(transaction));
}

/** Identifies the base64 of a transaction's bytes; asks nobody. */
export const identifyBase64 = async (text: string): Promise<Identified> => identityOf(await readBase64(text));

function identityOf(read: ReadTransaction): Identified {
  if (!read.ok) return read;
  const { raw, hash, sender } = read.transaction;
  return {
    ok: true,
    key: keyOf(read.transaction),
    canonical: hash,
    payer: checksumAddress(sender),
    asset: movementOf(read.transaction)?.asset,
    transaction: toBase64(toBytes(raw)),
  };
}

async function ask(chain: ChainReader, text: Hex, signal: AbortSignal): Promise<ReadTransaction> {
  const hash = text.toLowerCase() as Hex;
  const reply = await chain.rpc.batch([transactionCall(hash)], { signal });
  return reply.ok ? readFetched(reply.answers[0], hash) : { ok: false, code: reply.code };
}

/** The transaction behind the base64 of its bytes. */
export async function readBase64(text: string): Promise<ReadTransaction> {
  const bytes = fromBase64(text);
  if (!bytes) return { ok: false, code: "payment_malformed", expected: "standard, padded base64" };
  return readTransaction(bytes);
}
