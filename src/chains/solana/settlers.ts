// The keys that sign slot 0 and pay the network fee on one Solana cluster. A key stays inside its account; nothing here
// logs or returns one, and no message repeats what was given for one.
import { decodeBase58, encodeBase58 } from "./base58.js";
import { fromHex, sameBytes } from "./bytes.js";
import { createSigner, publicKeyOf } from "./signing.js";

/** Whoever signs as fee payer: made from a secret key, or an object of the same form (a KMS, an HSM). */
export interface SolanaAccount {
  /** Base58. */
  readonly address: string;
  /** The 64 bytes of an ed25519 signature over a transaction's message. */
  signMessage(message: Uint8Array): Promise<Uint8Array>;
}

const SEED = /^(?:0x)?([0-9a-fA-F]{64})$/;

interface Secret {
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

/**
 * The address of a secret key: base58 of 64 bytes (seed and public key), or the 32-byte seed in hex, with or without `0x`.
 * Undefined where it is neither, or where the two halves do not fit. Where the runtime has no `node:crypto` only the longer
 * form has an address.
 *
 * @example addressOfSecret("0x0101…01") // "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9"
 */
export function addressOfSecret(secret: string): string | undefined {
  const read = readSecret(secret);
  return read && encodeBase58(read.publicKey);
}

/**
 * The account of a secret key; an account as it is.
 *
 * @throws Error with a sentence that does not hold the key, where the text is none.
 */
export function toSolanaAccount(settler: string | SolanaAccount): SolanaAccount {
  if (typeof settler !== "string") return settler;
  const secret = readSecret(settler);
  if (!secret) throw new Error("A Solana settler key must be base58 of 64 bytes, or a 32-byte seed as 64 hex digits");
  return { address: encodeBase58(secret.publicKey), signMessage: createSigner(secret.seed) };
}

function readSecret(text: string): Secret | undefined {
  const [, hex] = SEED.exec(text) ?? [];
  if (hex !== undefined) {
    const seed = fromHex(hex);
    const publicKey = publicKeyOf(seed);
    return publicKey && { seed, publicKey };
  }
  const bytes = decodeBase58(text);
  if (bytes?.length !== 64) return undefined;
  const [seed, publicKey] = [bytes.slice(0, 32), bytes.slice(32)];
  // Invariant: the halves fit, or every signature would be another key's than the address says. Where the runtime cannot
  // tell here, the first signature does: settlement checks each one before it is sent.
  const derived = publicKeyOf(seed);
  return !derived || sameBytes(derived, publicKey) ? { seed, publicKey } : undefined;
}
