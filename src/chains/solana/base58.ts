// Base58 in Bitcoin's alphabet, as Solana writes keys, signatures and hashes. Bounded, because its cost is quadratic.

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGITS = new Map([...ALPHABET].map((character, digit) => [character, digit]));
/** A signature has 64 bytes and at most 88 characters; nothing longer is ever read. */
const MAX_TEXT = 88;

/** Bytes as base58 text: a key, a signature, a hash. */
export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = [];
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  for (let at = zeros; at < bytes.length; at++) {
    let carry = bytes[at]!;
    for (let i = 0; i < digits.length; i++) {
      carry += digits[i]! << 8;
      digits[i] = carry % 58;
      carry = (carry / 58) | 0;
    }
    for (; carry > 0; carry = (carry / 58) | 0) digits.push(carry % 58);
  }
  let text = ALPHABET[0]!.repeat(zeros);
  for (let i = digits.length - 1; i >= 0; i--) text += ALPHABET[digits[i]!];
  return text;
}

/**
 * The bytes of base58 text; undefined where it has another character or more than 88 of them.
 *
 * @example decodeBase58("11111111111111111111111111111111") // 32 zero bytes
 */
export function decodeBase58(text: string): Uint8Array | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const bytes: number[] = [];
  let zeros = 0;
  while (zeros < text.length && text[zeros] === ALPHABET[0]) zeros++;
  for (const character of text.slice(zeros)) {
    const digit = DIGITS.get(character);
    if (digit === undefined) return undefined;
    let carry = digit;
    for (let i = 0; i < bytes.length; i++) {
      carry += bytes[i]! * 58;
      bytes[i] = carry & 255;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 255);
  }
  const decoded = new Uint8Array(zeros + bytes.length);
  decoded.set(bytes.reverse(), zeros);
  return decoded;
}

/** The 32 bytes of an address; undefined where the text is none, or is no text at all. */
export function decodeAddress(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string") return undefined;
  const bytes = decodeBase58(text);
  return bytes?.length === 32 ? bytes : undefined;
}
