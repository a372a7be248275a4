// Payments in SOL for tests: built and signed with @solana/web3.js, so that what our code reads was written by others. Each
// part can be replaced, which is what a dishonest buyer does.
import { createHash } from "node:crypto";
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";

export const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const LIGHTHOUSE = new PublicKey("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");

export const call = (programId: PublicKey, data: Uint8Array, keys: TransactionInstruction["keys"] = []) =>
  new TransactionInstruction({ programId, data: Buffer.from(data), keys });
export const memo = (text: string) => call(MEMO, Buffer.from(text));
export const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
export const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
export const transfer = (from: PublicKey, to: PublicKey, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports });

/** A secret of 32 bytes, always the same one for a label, and the memo that it opens. */
export function secretOf(label: string): { readonly secret: `0x${string}`; readonly reference: string } {
  const secret = createHash("sha256").update(`secret ${label}`).digest();
  return { secret: `0x${secret.toString("hex")}`, reference: createHash("sha256").update(secret).digest("hex") };
}

export interface Build {
  readonly blockhash: string;
  readonly version?: "legacy" | 0;
  readonly tables?: AddressLookupTableAccount[];
  /** Signers beside the payer. */
  readonly others?: readonly Keypair[];
}

/** A transaction of these instructions, paid for and signed by the payer. */
export function sign(
  payer: Keypair,
  instructions: readonly TransactionInstruction[],
  build: Build,
): VersionedTransaction {
  const { blockhash: recentBlockhash, version = 0, tables, others = [] } = build;
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash,
    instructions: [...instructions],
  });
  const compiled = version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage();
  const transaction = new VersionedTransaction(compiled);
  transaction.sign([payer, ...others]);
  return transaction;
}

export const encode = (transaction: VersionedTransaction): string =>
  Buffer.from(transaction.serialize()).toString("base64");

/** The key pair of a seed of 32 equal bytes. */
export const keyOf = (byte: number): Keypair => Keypair.fromSeed(Buffer.alloc(32, byte));
