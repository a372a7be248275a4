// Seals the keys of hosted wallets: AES-256-GCM under a key that scrypt makes of the operator's passphrase. Neither passphrase
// nor key is ever stored. A sealed key is bound to its account and wallet, so that in another row it does not open.
//
//   sealed = base64( version 1 | log2 N, r, p | 12 bytes of nonce | ciphertext | 16 bytes of tag )
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { spellPassphrase } from "./passphrase.js";

/** Opens and seals under one passphrase. */
export interface Vault {
  seal(secret: Uint8Array, place: Place): string;
  /** The secret; zero it after use. Undefined where it was sealed under another passphrase, for another place, or altered. */
  open(sealed: string, place: Place): Buffer | undefined;
}

/** Where a sealed secret belongs; part of what is authenticated. */
export interface Place {
  readonly account: string;
  readonly wallet: string;
}

/** Half a second and 128 MiB for each guess. Source: RFC 7914, with a larger N. */
const COST = { logN: 17, r: 8, p: 1 } as const;
const VERSION = 1;
const HEADER = Buffer.from([VERSION, COST.logN, COST.r, COST.p]);
const NONCE = 12;
const TAG = 16;
const SALT = 16;

/** 16 random bytes, base64: not secret, one for each database and passphrase. */
export const newSalt = (): string => randomBytes(SALT).toString("base64");

/**
 * Derives the key: about half a second.
 *
 * @throws RangeError where the salt is none.
 */
export async function createVault(passphrase: string, salt: string): Promise<Vault> {
  const salted = Buffer.from(salt, "base64");
  if (salted.length !== SALT) throw new RangeError(`The vault's salt must have ${SALT} bytes, got ${salted.length}`);
  const key = await deriveKey(spellPassphrase(passphrase), salted);
  return {
    seal(secret, place) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(boundTo(place));
      const sealed = [HEADER, nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString("base64");
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, "base64");
      // Another version or cost was sealed with another key: there is none but this one yet.
      if (bytes.length < HEADER.length + NONCE + TAG || !bytes.subarray(0, HEADER.length).equals(HEADER))
        return undefined;
      const nonce = bytes.subarray(HEADER.length, HEADER.length + NONCE);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG }).setAAD(boundTo(place));
      decipher.setAuthTag(bytes.subarray(-TAG));
      const opened = decipher.update(bytes.subarray(HEADER.length + NONCE, -TAG));
      // Invariant: nothing leaves before the tag was checked, which `final` does by throwing.
      if (isAuthentic(decipher)) return opened;
      opened.fill(0);
      return undefined;
    },
  };
}

function isAuthentic(decipher: { final(): Buffer }): boolean {
  try {
    decipher.final();
    return true;
  } catch (error) {
    // Node names a wrong tag with no code of its own; whatever else it were, what was opened must not be used.
    if (error instanceof Error) return false;
    throw error;
  }
}

/** Header, account and wallet; JSON, so that no two places have one spelling. */
const boundTo = ({ account, wallet }: Place): Buffer =>
  Buffer.concat([HEADER, Buffer.from(JSON.stringify(["tollgate wallet key", account, wallet]))]);

function deriveKey(passphrase: string, salt: Buffer): Promise<Buffer> {
  const { logN, r, p } = COST;
  const N = 2 ** logN;
  // Node refuses more than 32 MiB unless told that it is meant.
  const options = { N, r, p, maxmem: 128 * N * r + 1024 * 1024 };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

/** What is sealed so that a wrong passphrase is told at start, in a place that no wallet has. */
const WORD = "tollgate";
const WORD_PLACE: Place = { account: "", wallet: "check" };

/** The word by which a passphrase is checked later. */
export const sealWord = (vault: Vault): string => vault.seal(Buffer.from(WORD), WORD_PLACE);

/** Is it the passphrase with which this word was sealed? */
export const opensWord = (vault: Vault, check: string): boolean => vault.open(check, WORD_PLACE)?.toString() === WORD;
