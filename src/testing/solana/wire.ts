// Reads a transaction as it travels: its signatures, its message byte for byte, and whether the signatures are true.
// It knows no chain; a text that is no transaction is `undefined`.
import { createHash, createPublicKey, verify } from "node:crypto";
import { PublicKey, type VersionedMessage, VersionedTransaction } from "@solana/web3.js";
import { fromBase58, toBase58 } from "./encoding.js";

/** The most bytes that a packet of the network carries. */
export const MAX_TRANSACTION_BYTES = 1232;

export interface WireTransaction {
  readonly wire: Uint8Array;
  readonly message: VersionedMessage;
  /** As signed: serializing the decoded message again could spell it otherwise. */
  readonly messageBytes: Uint8Array;
  readonly signatures: readonly Uint8Array[];
  /** Addresses in the order of their signatures; the first pays the fee. */
  readonly signers: readonly string[];
  /** Base58 of the first signature, the transaction's id. */
  readonly id: string;
  /** What the chain remembers to refuse a second run: it does not depend on signatures. */
  readonly messageHash: string;
}

/** Decodes the text of a `sendTransaction`; `undefined` where it is not that encoding. */
export function decodeText(text: string, encoding: "base58" | "base64"): Uint8Array | undefined {
  if (encoding === "base58") return fromBase58(text);
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined;
}

/** Reads legacy and v0 transactions. */
export function readTransaction(wire: Uint8Array): WireTransaction | undefined {
  const transaction = deserialize(wire);
  if (transaction === undefined) return undefined;
  const { message, signatures } = transaction;
  const signers = message.staticAccountKeys.slice(0, signatures.length).map((key) => key.toBase58());
  const first = signatures[0];
  // One byte counts the signatures: 128 of them would not fit into a packet.
  if (first === undefined || signers.length !== signatures.length || wire[0] !== signatures.length) return undefined;
  const messageBytes = wire.slice(1 + 64 * signatures.length);
  const messageHash = createHash("sha256").update(messageBytes).digest("hex");
  return { wire, message, messageBytes, signatures, signers, id: toBase58(first), messageHash };
}

function deserialize(wire: Uint8Array): VersionedTransaction | undefined {
  try {
    return VersionedTransaction.deserialize(wire);
  } catch (error) {
    // web3.js throws plain errors and range errors for cut or odd bytes: they are what `undefined` says.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The DER head of an Ed25519 public key. */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

/** Whether every required signature is a true one over the message. */
export function isFullySigned({ signers, signatures, messageBytes }: WireTransaction): boolean {
  return signers.every((signer, index) => {
    const signature = signatures[index];
    if (signature === undefined) return false;
    const der = Buffer.concat([SPKI, new PublicKey(signer).toBytes()]);
    return verify(null, messageBytes, createPublicKey({ key: der, format: "der", type: "spki" }), signature);
  });
}

/** The same transaction with another blockhash and its signatures kept, which are then no longer true. */
export function withBlockhash(transaction: WireTransaction, blockhash: string): WireTransaction {
  const copy = VersionedTransaction.deserialize(transaction.wire);
  copy.message.recentBlockhash = blockhash;
  const read = readTransaction(copy.serialize());
  if (read === undefined) throw new Error("A transaction with another blockhash could not be read back");
  return read;
}
