// Bytes as the Solana wire has them: compared, read from text without a throw, and read forward by a cursor that never
// leaves its buffer.

/** Whether two byte strings are the same. Public data only: the time it takes tells where they differ. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A short byte string as a key for maps and sets: a character a byte, a tenth of base58's cost. */
export const byteKey = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

/** The bytes of well-formed lower-case hex. */
export function fromHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Lower-case hex. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Standard, padded base64. */
export const toBase64 = (bytes: Uint8Array): string => btoa(byteKey(bytes));

/**
 * The bytes of standard, padded base64; undefined for anything else. One byte string has one spelling, so unused bits
 * that are not zero are refused as well.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) return undefined;
  const binary = atob(text);
  if (btoa(binary) !== text) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * Reads forward. The first thing that does not fit is remembered as `problem`; from then on every read yields nothing, so
 * a decoder asks once at the end.
 */
export class Cursor {
  problem: string | undefined;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  fail(problem: string): void {
    this.problem ??= problem;
  }

  /** The next byte without taking it. */
  peek(): number {
    return this.#bytes[this.#at] ?? 0;
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  /** The next `count` bytes, as a view. */
  take(count: number): Uint8Array {
    if (this.problem === undefined && count > this.left) this.fail("the bytes end too early");
    if (this.problem !== undefined) return new Uint8Array(0);
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  /** Everything that is left, as a view that moves nothing. */
  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  /** A length in Solana's "compact-u16": seven bits a byte, three bytes at most, the shortest spelling only. */
  length(): number {
    let value = 0;
    for (let i = 0; i < 3; i++) {
      const byte = this.byte();
      value |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        if (byte === 0 && i > 0) this.fail("a length is not spelled in its shortest form");
        if (value > 0xffff) this.fail("a length is larger than 65535");
        return this.problem === undefined ? value : 0;
      }
    }
    this.fail("a length has more than three bytes");
    return 0;
  }

  /** As many items as the length in front of them says; stops at the first problem. */
  list<Item>(read: () => Item): Item[] {
    const count = this.length();
    const items: Item[] = [];
    for (let i = 0; i < count && this.problem === undefined; i++) items.push(read());
    return items;
  }
}
