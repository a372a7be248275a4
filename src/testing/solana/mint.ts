// The bytes of a mint as the token programs lay them out, so that one can be placed at an address whose key nobody here
// has, such as Circle's mint of USDC on devnet.
import { PublicKey } from "@solana/web3.js";

export interface MintLayout {
  readonly decimals: number;
  /** May mint and freeze. */
  readonly authority: string;
  readonly supply?: bigint;
  /** Token-2022 with a transfer fee, in basis points, kept back from the receiver. */
  readonly transferFeeBps?: number;
}

const ACCOUNT_SIZE = 165;
const MINT_TYPE = 1;
const TRANSFER_FEE_CONFIG = 1;
const TRANSFER_FEE_CONFIG_SIZE = 108;
const NO_MAXIMUM = 18_446_744_073_709_551_615n;

/** 82 bytes, or 278 with the extension of a transfer fee. */
export function mintBytes({ decimals, authority, supply = 0n, transferFeeBps }: MintLayout): Uint8Array {
  const key = Buffer.from(new PublicKey(authority).toBytes());
  const some = Buffer.from([1, 0, 0, 0]);
  const base = Buffer.concat([some, key, u64(supply), Buffer.from([decimals, 1]), some, key]);
  if (transferFeeBps === undefined) return new Uint8Array(base);

  const padding = Buffer.alloc(ACCOUNT_SIZE - base.length);
  const head = Buffer.alloc(5);
  head.writeUInt8(MINT_TYPE, 0);
  head.writeUInt16LE(TRANSFER_FEE_CONFIG, 1);
  head.writeUInt16LE(TRANSFER_FEE_CONFIG_SIZE, 3);
  // One fee before an epoch and one after it: both hold from epoch 0.
  const fee = Buffer.concat([u64(0n), u64(NO_MAXIMUM), u16(transferFeeBps)]);
  return new Uint8Array(Buffer.concat([base, padding, head, key, key, u64(0n), fee, fee]));
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}
