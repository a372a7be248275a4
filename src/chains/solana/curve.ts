// Two questions about 32 bytes on ed25519: are they a point at all (a derived address must not be), and are they one of the
// few points of small order, under which signatures prove nothing.

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether the bytes decompress to a curve point, by the chain's rule: the sign bit is ignored and `y` is taken modulo p.
 * (RFC 8032 is stricter in a handful of encodings that no hash will ever hit.)
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  let y = 0n;
  for (let i = 31; i >= 0; i--) y = (y << 8n) | BigInt(i === 31 ? bytes[i]! & 0x7f : bytes[i]!);
  const square = (y * y) % P;
  const [u, v] = [(square + P - 1n) % P, (D * square + 1n) % P];
  // x² = u/v has a root exactly if u·v is a square (v is never zero on this curve): Euler's criterion.
  return power((u * v) % P, (P - 1n) / 2n) !== P - 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % P;
    if (bit === "1") result = (result * base) % P;
  }
  return result;
}

/** `y` of the eight points of small order, non-canonical spellings included; little-endian hex, sign bit cleared. */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/**
 * Whether the bytes spell a point of small order. The chain's strict verification refuses such keys and such halves of a
 * signature where OpenSSL accepts them, so a payment with one could pass here and never land.
 */
export function isSmallOrder(bytes: Uint8Array): boolean {
  const hex = Array.from(bytes, (byte, i) => (i === 31 ? byte & 0x7f : byte).toString(16).padStart(2, "0"));
  return SMALL_ORDER.has(hex.join(""));
}
