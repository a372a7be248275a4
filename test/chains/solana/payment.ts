// Solana payments for tests: built with @solana/web3.js and @solana/spl-token, so that what our code reads was written by
// others, and signed by Node. Each part can be replaced, which is what a dishonest buyer does.
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  MessageV0,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
} from "@solana/web3.js";
import { DEFAULT_CAPS, type StaticTerms } from "../../../src/chains/solana/terms.js";

export interface Signer {
  readonly key: PublicKey;
  readonly secret: KeyObject;
}

/** The key pair of a seed of 32 equal bytes. */
export function signerOf(byte: number): Signer {
  const head = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([head, Buffer.alloc(32, byte)]);
  const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const key = new PublicKey(createPublicKey(secret).export({ format: "der", type: "spki" }).subarray(12));
  return { key, secret };
}

export const PAYER = signerOf(1);
export const FEE_PAYER = signerOf(2);
export const PAY_TO = signerOf(3).key;
/** Another key of the seller's. */
export const SETTLER = signerOf(4).key;
export const STRANGER = signerOf(5);
export const MINT = new PublicKey("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU");
export const MEMO = new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
export const LIGHTHOUSE = new PublicKey("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
export const AMOUNT = 10_000n;
const BLOCKHASH = new PublicKey(Buffer.alloc(32, 9)).toBase58();

export const TERMS: StaticTerms = {
  network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  mint: MINT.toBase58(),
  payTo: PAY_TO.toBase58(),
  amount: AMOUNT,
  feePayer: FEE_PAYER.key.toBase58(),
  ourSigners: [FEE_PAYER.key.toBase58(), SETTLER.toBase58()],
  ...DEFAULT_CAPS,
};

export const ata = (owner: PublicKey, mint = MINT, program = TOKEN_PROGRAM_ID): PublicKey =>
  getAssociatedTokenAddressSync(mint, owner, true, program);

export const call = (programId: PublicKey, data: Uint8Array, keys: TransactionInstruction["keys"] = []) =>
  new TransactionInstruction({ programId, data: Buffer.from(data), keys });
export const limit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
export const price = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
export const memo = (text: string) => call(MEMO, Buffer.from(text));

export interface Move {
  readonly source?: PublicKey;
  readonly mint?: PublicKey;
  readonly destination?: PublicKey;
  readonly authority?: PublicKey;
  readonly amount?: bigint;
  readonly program?: PublicKey;
}

/** The transfer a buyer owes, with some of it replaced. */
export function transfer(move: Move = {}): TransactionInstruction {
  const { mint = MINT, authority = PAYER.key, amount = AMOUNT, program = TOKEN_PROGRAM_ID } = move;
  const { source = ata(PAYER.key, mint, program), destination = ata(PAY_TO, mint, program) } = move;
  return createTransferCheckedInstruction(source, mint, destination, authority, amount, 6, [], program);
}

/** What each published client builds (protocol §4.2), Phantom with its Lighthouse instructions included. */
export const CLIENTS: Record<string, (program?: PublicKey) => TransactionInstruction[]> = {
  ts1: (program) => [limit(6_180), price(1n), transfer({ ...(program && { program }) })],
  ts2: (program) => [limit(20_000), price(1n), transfer({ ...(program && { program }) }), memo("a1".repeat(16))],
  fm: (program) => [limit(50_000), price(1n), transfer({ ...(program && { program }) }), memo("b2".repeat(16))],
  phantom: (program) => [
    limit(20_000),
    price(1n),
    transfer({ ...(program && { program }) }),
    call(LIGHTHOUSE, Uint8Array.of(9, 1), [{ pubkey: PAYER.key, isSigner: false, isWritable: false }]),
    memo("c3".repeat(16)),
  ],
};

export interface Build {
  readonly feePayer?: PublicKey;
  readonly version?: "legacy" | 0;
  readonly tables?: AddressLookupTableAccount[];
}

export function compile(instructions: TransactionInstruction[], build: Build = {}): VersionedMessage {
  const { feePayer = FEE_PAYER.key, version = 0, tables } = build;
  const message = new TransactionMessage({ payerKey: feePayer, recentBlockhash: BLOCKHASH, instructions });
  return version === 0 ? message.compileToV0Message(tables) : message.compileToLegacyMessage();
}

/** A v0 message again with some members replaced, by which it may stop being well formed. */
export function patch(message: VersionedMessage, changes: Partial<MessageV0>): MessageV0 {
  return new MessageV0({
    header: changes.header ?? message.header,
    staticAccountKeys: changes.staticAccountKeys ?? message.staticAccountKeys,
    recentBlockhash: message.recentBlockhash,
    compiledInstructions: changes.compiledInstructions ?? message.compiledInstructions,
    addressTableLookups: changes.addressTableLookups ?? message.addressTableLookups,
  });
}

/** The wire bytes: slot 0 empty, a signature for each other required signer whose secret is known. */
export function wire(message: VersionedMessage, signers: readonly Signer[] = [PAYER, STRANGER]): Buffer {
  const bytes = message.serialize();
  const count = message.header.numRequiredSignatures;
  const signatures = message.staticAccountKeys.slice(0, count).map((key, i) => {
    const signer = signers.find((known) => known.key.equals(key));
    return i > 0 && signer ? sign(null, bytes, signer.secret) : Buffer.alloc(64);
  });
  return Buffer.concat([Uint8Array.of(count), ...signatures, bytes]);
}

export const encode = (message: VersionedMessage, signers?: readonly Signer[]): string =>
  wire(message, signers).toString("base64");

/** A payment as its buyer sends it. */
export const pay = (instructions: TransactionInstruction[] = CLIENTS.ts2!(), build?: Build): string =>
  encode(compile(instructions, build));
