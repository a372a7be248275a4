// Who signs on Solana, by form: a secret key as text, a web3.js Keypair, or an object that signs by itself. A secret stays
// inside its signer, and no message repeats it.
import { decodeAddress, encodeBase58 } from "../chains/solana/base58.js";
import { addressOfSecret } from "../chains/solana/settlers.js";
import { createSolanaSigner, type SolanaSigner } from "../chains/solana/transfer-signer.js";
import type { Problems } from "../config-problems.js";
import { solanaKeyProblem } from "../receive/option-words.js";

/** What is used of a web3.js Keypair. */
export interface SolanaKeypair {
  readonly publicKey: { toBase58(): string };
  /** 64 bytes: the seed and the public key. */
  readonly secretKey: Uint8Array;
}

/** A key pair, whoever signs for an address, or a secret key as text (base58 of 64 bytes, or a 32-byte seed in hex). */
export type SolanaKey = SolanaKeypair | SolanaSigner | string;

/** The signer behind a key; undefined where it is none, with a problem that holds nothing of what came. */
export function readSolanaKey(key: SolanaKey, problems: Problems): SolanaSigner | undefined {
  if (typeof key === "string") return readSecret(key, problems);
  const given: unknown = key;
  if (typeof given !== "object" || given === null) return refuse(given, problems);
  if ("secretKey" in key) {
    const { secretKey, publicKey } = key;
    if (!(secretKey instanceof Uint8Array) || secretKey.length !== 64) return refuse(given, problems);
    const signer = readSecret(encodeBase58(secretKey), problems);
    if (!signer || signer.address === publicKey?.toBase58?.()) return signer;
    problems.add(PATH, "contradiction", "the public key is not the one of the secret key");
    return undefined;
  }
  return decodeAddress(key.address) && typeof key.sign === "function" ? key : refuse(given, problems);
}

const PATH = "solanaWallet.key";

function readSecret(secret: string, problems: Problems): SolanaSigner | undefined {
  if (addressOfSecret(secret) !== undefined) return createSolanaSigner(secret);
  problems.add(PATH, "invalid", solanaKeyProblem(secret));
  return undefined;
}

function refuse(given: unknown, problems: Problems): undefined {
  const expected = "expected a Keypair of @solana/web3.js, an object with address and sign, or a secret key as text";
  problems.add(PATH, given === undefined ? "required" : "invalid", expected);
}
