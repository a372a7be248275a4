// The fee payer's signature in slot 0. What a signer gives back is checked before it is used: it may be a service with
// another key.
import { decodeAddress, encodeBase58 } from "./base58.js";
import { fromBase64, toBase64 } from "./bytes.js";
import { verifySignature } from "./ed25519.js";
import type { SolanaAccount } from "./settlers.js";

export interface Signed {
  /** The complete transaction, base64. */
  readonly wire: string;
  /** Base58 of the first signature: what the chain knows the transaction by. */
  readonly id: string;
}

const SIGNATURE = 64;

/** Fills slot 0, whatever stood there; undefined where the signer throws or gives no signature of its own key. */
export async function signFirst(
  settler: SolanaAccount,
  wire: string,
  message: Uint8Array,
): Promise<Signed | undefined> {
  // Its error is dropped: it may hold secrets.
  // A copy, because what was read once serves others too.
  const signature = await settler.signMessage(new Uint8Array(message)).then(
    (bytes): unknown => bytes,
    () => undefined,
  );
  const key = decodeAddress(settler.address);
  const bytes = fromBase64(wire);
  if (!key || !bytes || !(signature instanceof Uint8Array) || signature.length !== SIGNATURE) return undefined;
  if (!(await verifySignature(key, message, signature))) return undefined;
  // Safe because a verified payment has two signatures: their count is one byte.
  bytes.set(signature, 1);
  return { wire: toBase64(bytes), id: encodeBase58(signature) };
}
