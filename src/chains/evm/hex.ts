// Hex text and the 32-byte words of the ABI: `0x` and lower-case digits, whole bytes.

export type Hex = `0x${string}`;

const TABLE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Value of a hex digit by its character code; 255 = not a digit. */
const DIGITS = new Uint8Array(128).fill(255);
for (let value = 0; value < 16; value++) {
  DIGITS["0123456789abcdef".charCodeAt(value)] = value;
  DIGITS["0123456789ABCDEF".charCodeAt(value)] = value;
}

/** Whether a value is hex text of whole bytes, of exactly `bytes` bytes where given. */
export function isHex(value: unknown, bytes?: number): value is Hex {
  if (typeof value !== "string" || !/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return false;
  return bytes === undefined || value.length === 2 + 2 * bytes;
}

/** Bytes of hex digits, with or without `0x`. Pass checked hex only: anything else is a RangeError. */
export function toBytes(hex: string): Uint8Array {
  const start = hex.startsWith("0x") ? 2 : 0;
  const bytes = new Uint8Array((hex.length - start) >> 1);
  for (let i = 0, at = start; i < bytes.length; i++, at += 2) {
    const high = DIGITS[hex.charCodeAt(at)] ?? 255;
    const low = DIGITS[hex.charCodeAt(at + 1)] ?? 255;
    if ((high | low) > 15) throw new RangeError("not hex");
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

export function fromBytes(bytes: Uint8Array): Hex {
  let digits = "";
  for (const byte of bytes) digits += TABLE[byte]!;
  return `0x${digits}`;
}

/** JSON-RPC quantity: no leading zeros. */
export const toQuantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

/** One ABI word of a number, as 64 digits without `0x`. */
export const word = (value: bigint | number): string => value.toString(16).padStart(64, "0");

/** One ABI word of an address, as 64 digits without `0x`. */
export const addressWord = (address: string): string => address.slice(2).toLowerCase().padStart(64, "0");

/** ABI `bytes`: its length and its content, filled up to whole words; without `0x`. */
export function bytesWords(data: Hex): string {
  const digits = data.slice(2);
  return word(digits.length / 2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, "0");
}
