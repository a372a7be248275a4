// Builds and signs the transactions of a test buyer on Solana. Every part can be replaced or bent, down to the compiled
// message, because that is what a dishonest buyer does. Needs @solana/web3.js.
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { toBase58 } from "./encoding.js";
import { associatedAccount, MEMO_PROGRAM } from "./programs.js";

/** What a test may replace in any transaction; absent = the right thing. */
export interface MessageParts {
  /** Of the node's newest confirmed block where it is absent. */
  readonly blockhash?: string;
  /** Compute unit limit. */
  readonly units?: number;
  /** Micro-lamports for each unit. */
  readonly unitPrice?: bigint;
  /** `null` = no memo. */
  readonly memo?: string | null;
  /** The instructions that go into the message in place of the right ones. */
  readonly change?: (built: readonly TransactionInstruction[]) => readonly TransactionInstruction[];
  /** The message that is signed in place of the compiled one. */
  readonly changeMessage?: (built: VersionedMessage) => VersionedMessage;
  /** Who signs beside the wallet, where the message asks for it. */
  readonly signers?: readonly Keypair[];
  readonly tables?: readonly AddressLookupTableAccount[];
  readonly legacy?: boolean;
  /** Stands in the first signature's place. */
  readonly slot0?: Uint8Array;
}

export interface TokenMove {
  readonly source: string;
  readonly mint: string;
  readonly destination: string;
  readonly authority: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly tokenProgram: string;
}

export interface SignedMessage {
  readonly bytes: Uint8Array;
  /** Base58 of the first signature; undefined while it is missing. */
  readonly id: string | undefined;
}

const TRANSFER_CHECKED = 12;

/** TransferChecked of either token program. */
export function tokenTransfer({ tokenProgram, authority, ...move }: TokenMove): TransactionInstruction {
  const data = Buffer.alloc(10, TRANSFER_CHECKED);
  data.writeBigUInt64LE(move.amount, 1);
  data.writeUInt8(move.decimals, 9);
  const keys = [
    { ...key(move.source), isWritable: true },
    key(move.mint),
    { ...key(move.destination), isWritable: true },
    { ...key(authority), isSigner: true },
  ];
  return new TransactionInstruction({ programId: new PublicKey(tokenProgram), keys, data });
}

export const solTransfer = (from: string, to: string, lamports: bigint): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: new PublicKey(from), toPubkey: new PublicKey(to), lamports });

export const ataOf = associatedAccount;

/** Limit, price, the transfer, the memo; then what the parts make of them, signed by everyone who is there. */
export function signMessage(
  wallet: Keypair,
  feePayer: string,
  transfer: TransactionInstruction,
  {
    blockhash,
    units,
    unitPrice = 1n,
    memo,
    ...parts
  }: MessageParts & { readonly blockhash: string; readonly units: number },
): SignedMessage {
  const built = [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: unitPrice }),
    transfer,
    ...(typeof memo === "string" ? [memoOf(memo)] : []),
  ];
  const { change = (instructions) => instructions, changeMessage = (message) => message, tables = [] } = parts;
  const draft = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions: [...change(built)],
  });
  const compiled = parts.legacy ? draft.compileToLegacyMessage() : draft.compileToV0Message([...tables]);
  const transaction = new VersionedTransaction(changeMessage(compiled));
  const { staticAccountKeys, header } = transaction.message;
  const required = staticAccountKeys.slice(0, header.numRequiredSignatures);
  const present = [wallet, ...(parts.signers ?? [])].filter((signer) =>
    required.some((address) => address.equals(signer.publicKey)),
  );
  transaction.sign(present);
  if (parts.slot0) transaction.signatures[0] = parts.slot0;
  const [first = new Uint8Array(64)] = transaction.signatures;
  const id = first.some((byte) => byte !== 0) ? toBase58(first) : undefined;
  return { bytes: transaction.serialize(), id };
}

const key = (address: string) => ({ pubkey: new PublicKey(address), isSigner: false, isWritable: false });

const memoOf = (text: string) =>
  new TransactionInstruction({ programId: new PublicKey(MEMO_PROGRAM), keys: [], data: Buffer.from(text, "utf8") });
