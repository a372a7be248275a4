// Transactions as buyers build them, for the tests of the Solana sandbox. Token instructions come from @solana/spl-token,
// which is a second opinion on the bytes that the sandbox reads and writes itself.
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import {
  type Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { toBase58 } from "../../../src/testing/solana/encoding.js";
import type { SolanaSandbox } from "../../../src/testing/solana/sandbox.js";

export const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

export const memo = (text: string) =>
  new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(text, "utf8") });

export const sol = (from: Keypair, to: PublicKey, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports });

/** TransferChecked between the associated accounts of two owners. */
export function tokens(
  { usdc }: Pick<SolanaSandbox, "usdc">,
  from: PublicKey,
  to: PublicKey,
  amount: bigint,
  program = TOKEN_PROGRAM_ID,
) {
  const mint = new PublicKey(usdc);
  const [source, destination] = [from, to].map((owner) => getAssociatedTokenAddressSync(mint, owner, true, program));
  return createTransferCheckedInstruction(source!, mint, destination!, from, amount, 6, [], program);
}

/** A v0 transaction signed by all; the first signer pays. */
export function signed(blockhash: string, signers: readonly Keypair[], ...instructions: TransactionInstruction[]) {
  const transaction = unsigned(blockhash, signers[0]!, ...instructions);
  transaction.sign([...signers]);
  return transaction;
}

export function unsigned(recentBlockhash: string, payer: Keypair, ...instructions: TransactionInstruction[]) {
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  return new VersionedTransaction(message.compileToV0Message());
}

export const hash = async (connection: Connection) => (await connection.getLatestBlockhash()).blockhash;

/** Base58 of the first signature, under which the chain knows the transaction. */
export const idOf = ({ signatures }: VersionedTransaction) => toBase58(signatures[0]!);

export const stranger = () => Keypair.generate().publicKey;

/** What a promise was rejected with; fails where it was not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It was expected to be refused");
}
