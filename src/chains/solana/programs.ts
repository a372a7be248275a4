// The programs that a payment may call, and those that are named where a payment wrongly calls them. Source: protocol §7.3.
import { decodeAddress } from "./base58.js";
import { sameBytes } from "./bytes.js";

const ADDRESSES = {
  computeBudget: "ComputeBudget111111111111111111111111111111",
  token: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  token2022: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
  memo: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  lighthouse: "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95",
  associatedToken: "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL",
  system: "11111111111111111111111111111111",
} as const;

export type Program = keyof typeof ADDRESSES;

const names = Object.keys(ADDRESSES) as Program[];

// A wrong letter above is a defect of this file and stops the import, never a payment.
const KEYS = Object.fromEntries(
  names.map((name) => {
    const key = decodeAddress(ADDRESSES[name]);
    if (!key) throw new Error(`the address of program ${name} is not 32 bytes`);
    return [name, key];
  }),
) as Record<Program, Uint8Array>;

/** A program's address, in base58. */
export const programAddress = (name: Program): string => ADDRESSES[name];

/** A program's key. */
export const programKey = (name: Program): Uint8Array => KEYS[name];

/** Which of the known programs a key is. */
export function programOf(key: Uint8Array | undefined): Program | undefined {
  return key && names.find((name) => sameBytes(KEYS[name], key));
}
