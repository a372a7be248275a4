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
  const bytes = new Uint8Array((hex.length - startOf(hex)) >> 1);
  writeDigits(bytes, bytes.length, hex);
  return bytes;
}

/** Writes one ABI word, right-aligned, so that it ends before `end` of zeroed bytes. Checked hex of up to 32 bytes only. */
export function writeHexWord(bytes: Uint8Array, end: number, hex: string): void {
  if (hex.length - startOf(hex) > 64) throw new RangeError("longer than a word");
  writeDigits(bytes, end, hex);
}

function writeDigits(bytes: Uint8Array, end: number, hex: string): void {
  const start = startOf(hex);
  for (let i = end - ((hex.length - start) >> 1), at = start; i < end; i++, at += 2) {
    const high = DIGITS[hex.charCodeAt(at)] ?? 255;
    const low = DIGITS[hex.charCodeAt(at + 1)] ?? 255;
    if ((high | low) > 15) throw new RangeError("not hex");
    bytes[i] = (high << 4) | low;
  }
}

const startOf = (hex: string): number => (hex.startsWith("0x") ? 2 : 0);

/** Writes one ABI word of a uint256, so that it ends before `end` of zeroed bytes. */
export function writeNumberWord(bytes: Uint8Array, end: number, value: bigint): void {
  if (value < 0n) throw new RangeError("not unsigned");
  const digits = value.toString(16);
  writeHexWord(bytes, end, digits.length % 2 === 0 ? digits : `0${digits}`);
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
