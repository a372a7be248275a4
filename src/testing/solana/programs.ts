// Addresses of programs, and the bytes of token accounts and mints as the token programs lay them out. Read here for
// balances and `jsonParsed` answers; the layouts of a mint's extensions are written in mint.ts.
import { PublicKey } from "@solana/web3.js";
import type { AccountState } from "./svm.js";

export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
export const TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
export const ATA_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
export const MEMO_PROGRAM = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
export const SYSTEM_PROGRAM = "11111111111111111111111111111111";

export const isTokenProgram = (program: string): boolean => program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;

const TOKEN_ACCOUNT_SIZE = 165;
const MINT_SIZE = 82;
/** Stands behind the 165 bytes of an account with extensions. */
const ACCOUNT_TYPE = { mint: 1, account: 2 } as const;

export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
  readonly program: string;
}

export interface Mint {
  readonly decimals: number;
  readonly supply: bigint;
}

const view = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);
const keyAt = (data: Uint8Array, offset: number) => new PublicKey(data.subarray(offset, offset + 32)).toBase58();

/** `undefined` where it is no initialized token account. */
export function readTokenAccount(account: AccountState | null): TokenAccount | undefined {
  if (account === null || !isTokenProgram(account.owner)) return undefined;
  const { data, owner: program } = account;
  const sized = data.length === TOKEN_ACCOUNT_SIZE || data[TOKEN_ACCOUNT_SIZE] === ACCOUNT_TYPE.account;
  if (!sized || data[108] === 0) return undefined;
  return { mint: keyAt(data, 0), owner: keyAt(data, 32), amount: view(data).getBigUint64(64, true), program };
}

/** `undefined` where it is no initialized mint. */
export function readMint(account: AccountState | null): Mint | undefined {
  if (account === null || !isTokenProgram(account.owner)) return undefined;
  const { data } = account;
  const sized = data.length === MINT_SIZE || data[TOKEN_ACCOUNT_SIZE] === ACCOUNT_TYPE.mint;
  if (!sized || data[45] === 0) return undefined;
  return { decimals: data[44] ?? 0, supply: view(data).getBigUint64(36, true) };
}

/** The four spellings that a node gives of one amount. */
export function uiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, "0");
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const text = `${whole}.${fraction}`.replace(/\.?0*$/, "");
  return { amount: amount.toString(), decimals, uiAmount: Number(text), uiAmountString: text };
}

/** The token account that the ATA program keeps for an owner. */
export function associatedAccount(owner: string, mint: string, program: string): string {
  const seeds = [owner, program, mint].map((address) => new PublicKey(address).toBytes());
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(ATA_PROGRAM))[0].toBase58();
}
