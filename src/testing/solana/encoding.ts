// Base58 of any length (web3.js exports it for 32 bytes only) and JSON with bare integers of 64 bits, as a Solana node
// writes both.
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export function toBase58(bytes: Uint8Array): string {
  let rest = BigInt(`0x0${Buffer.from(bytes).toString("hex")}`);
  let digits = "";
  for (; rest > 0n; rest /= 58n) digits = ALPHABET[Number(rest % 58n)] + digits;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + digits;
}

/** The bytes, or `undefined` where the text holds a character that is not of the alphabet. */
export function fromBase58(text: string): Uint8Array | undefined {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const hex = value === 0n ? "" : value.toString(16);
  const [ones = ""] = /^1*/.exec(text) ?? [];
  return new Uint8Array([
    ...Buffer.alloc(ones.length),
    ...Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex"),
  ]);
}

/** JSON text. A bigint is a bare number: `rentEpoch` is 2^64-1 on every account, and clients expect it unquoted. */
export function toJson(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => toJson(item ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`).join(",")}}`;
}
