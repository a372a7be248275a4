// What ties a public transaction to its maker. Anyone can copy one that is on the chain, so its maker puts a hash into it
// beforehand, and shows what it is the hash of when he pays with it. Source: design §6; faults A18.
import { sha256 } from "../../hash.js";
import { fromHex } from "./bytes.js";

const REFERENCE = /^[0-9a-f]{64}$/;

/** The memos that can be a hash: 64 lower-case hex digits and nothing else. */
export function readReferences(memos: readonly Uint8Array[]): readonly string[] {
  return memos.map((memo) => new TextDecoder().decode(memo)).filter((text) => REFERENCE.test(text));
}

/**
 * The reference of a secret (`0x` and 64 hex digits): SHA-256 of its 32 bytes, in lower-case hex.
 *
 * @example await referenceOf(`0x${"00".repeat(32)}`) // "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"
 */
export const referenceOf = async (secret: string): Promise<string> => sha256(fromHex(secret.slice(2).toLowerCase()));

/** Whether the secret is the one that one of the references was made from. */
export async function opens(secret: string | undefined, references: readonly string[]): Promise<boolean> {
  if (secret === undefined || !/^0x[0-9a-f]{64}$/i.test(secret)) return false;
  return references.includes(await referenceOf(secret));
}
