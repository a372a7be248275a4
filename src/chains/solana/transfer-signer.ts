// Whoever holds the key of a transfer's sender: made from a secret, or an object of the same form (a hosted wallet, a KMS).
import { addressOfSecret, toSolanaAccount } from "./settlers.js";

/** Signs what it is given, shows nothing. */
export interface SolanaSigner {
  /** Base58. */
  readonly address: string;
  /** The 64 bytes of an ed25519 signature over a transaction's message. */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/**
 * The signer of a secret key: base58 of 64 bytes, or a 32-byte seed in hex.
 *
 * @throws RangeError with a sentence that does not hold the key, where the text is none.
 * @example createSolanaSigner("0x0101…01").address // "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9"
 */
export function createSolanaSigner(secret: string): SolanaSigner {
  if (addressOfSecret(secret) === undefined) {
    throw new RangeError("A Solana key must be base58 of 64 bytes, or a 32-byte seed as 64 hex digits");
  }
  const { address, signMessage } = toSolanaAccount(secret);
  return { address, sign: signMessage };
}
