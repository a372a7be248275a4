// Names that nobody can guess: ids of records, and API keys. Randomness of the operating system.
import { createHash, randomBytes } from "node:crypto";
import { encodeBase58 } from "../../chains/solana/base58.js";
import type { Mode } from "../payment.js";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const CHARACTERS = 22;
/** Bytes from here on would make some characters likelier than others. */
const EVEN = 256 - (256 % ALPHABET.length);

/**
 * 22 characters of base58 (128 bits) behind a word that says of what.
 *
 * @example createId("pay") // "pay_7Rm4XfcAwu3nQ5pKdLvB2E"
 */
export function createId(kind: "acc" | "key" | "wal" | "pay" | "evt"): string {
  let text = "";
  while (text.length < CHARACTERS) {
    for (const byte of randomBytes(CHARACTERS)) {
      if (byte < EVEN && text.length < CHARACTERS) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${kind}_${text}`;
}

/** Of the random part: enough to find a key, and 200 bits short of knowing it. */
const SHOWN = 8;

/** A new API key: 32 random bytes. What is kept of it is its public part and a hash. */
export function createSecret(mode: Mode): { readonly secret: string; readonly prefix: string; readonly hash: string } {
  const scheme = `tg_${mode}_`;
  const secret = scheme + encodeBase58(randomBytes(32));
  const hash = createHash("sha256").update(secret).digest("hex");
  return { secret, prefix: secret.slice(0, scheme.length + SHOWN), hash };
}
