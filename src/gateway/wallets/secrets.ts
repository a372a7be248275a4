// The private key of a hosted wallet as 32 bytes: made, read from what an operator imports, and the address that it has. No
// message repeats what was given for a key.
import { randomBytes } from "node:crypto";
import { decodeBase58, encodeBase58 } from "../../chains/solana/base58.js";
import { publicKeyOf } from "../../chains/solana/signing.js";
import { loadAccounts } from "./load-accounts.js";

type Family = "evm" | "solana";

const HEX_32 = /^(?:0x)?([0-9a-fA-F]{64})$/;
const EXPECTED = {
  evm: "an EVM private key: 0x and 64 hex digits, more than zero and below the order of the curve",
  solana: "a Solana secret key: base58 of 64 bytes whose halves belong together, or a 32-byte seed as 64 hex digits",
} as const;

/** 32 random bytes that are a key of the family. */
export async function newSecret(family: Family): Promise<Buffer> {
  for (;;) {
    const secret = randomBytes(32);
    // All but one in 2^127 are valid keys of secp256k1; every seed is one of ed25519.
    if ((await addressOf(family, secret)) !== undefined) return secret;
  }
}

/**
 * Reads what is imported.
 *
 * @throws RangeError that says what was expected, and nothing of what came.
 */
export async function readSecret(family: Family, text: string): Promise<Buffer> {
  const secret = family === "evm" ? readHex(text) : (readHex(text) ?? readPair(text));
  if (secret === undefined || (await addressOf(family, secret)) === undefined) {
    throw new RangeError(`Expected ${EXPECTED[family]}`);
  }
  return secret;
}

function readHex(text: string): Buffer | undefined {
  const [, digits] = HEX_32.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Buffer.from(digits, "hex");
}

/** Seed and public key, as wallets export them. A pair that does not belong together would sign as somebody else. */
function readPair(text: string): Buffer | undefined {
  const bytes = decodeBase58(text.trim());
  if (bytes?.length !== 64) return undefined;
  const pair = Buffer.from(bytes);
  const seed = Buffer.from(pair.subarray(0, 32));
  const derived = publicKeyOf(seed);
  return derived !== undefined && pair.subarray(32).equals(derived) ? seed : undefined;
}

/** The address of a key, checksummed on EVM; undefined where the bytes are none. */
export async function addressOf(family: Family, secret: Uint8Array): Promise<string | undefined> {
  if (secret.length !== 32) return undefined;
  if (family === "solana") {
    const key = publicKeyOf(secret);
    return key && encodeBase58(key);
  }
  if (!isScalar(secret)) return undefined;
  const { privateKeyToAddress } = await loadAccounts();
  return privateKeyToAddress(`0x${Buffer.from(secret).toString("hex")}`);
}

/** The order of secp256k1. Checked here, because the library's own message would show the key. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function isScalar(secret: Uint8Array): boolean {
  const value = BigInt(`0x${Buffer.from(secret).toString("hex")}`);
  return value > 0n && value < ORDER;
}
