// RLP as far as a signed transaction needs it: one list of strings and lists. Reading checks bounds only; whoever needs the one
// canonical spelling writes what was read and compares the bytes. Source: Ethereum Yellow Paper, appendix B.

/** One item of a list, its header taken off. */
export interface Item {
  readonly list: boolean;
  readonly content: Uint8Array;
}

interface Span {
  readonly list: boolean;
  readonly start: number;
  readonly end: number;
}

/** The items of the one list that these bytes are; undefined where they are anything else or go on after it. */
export function readList(bytes: Uint8Array): readonly Item[] | undefined {
  const outer = readSpan(bytes, 0);
  if (!outer?.list || outer.end !== bytes.length) return undefined;
  const items: Item[] = [];
  for (let at = outer.start; at < outer.end; ) {
    const span = readSpan(bytes, at);
    if (!span) return undefined;
    items.push({ list: span.list, content: bytes.subarray(span.start, span.end) });
    at = span.end;
  }
  return items;
}

/** Where the item at `at` has its content; undefined where that leaves the bytes. */
function readSpan(bytes: Uint8Array, at: number): Span | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first < 0x80) return { list: false, start: at, end: at + 1 };
  const list = first >= 0xc0;
  const size = first - (list ? 0xc0 : 0x80);
  const sizeBytes = Math.max(0, size - 55);
  const start = at + 1 + sizeBytes;
  const length = sizeBytes === 0 ? size : Number(readNumber(bytes.subarray(at + 1, start)));
  return start + length <= bytes.length ? { list, start, end: start + length } : undefined;
}

/** A big-endian number; empty = 0. */
export function readNumber(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** A number in as few bytes as it has; 0 = empty. */
export function numberBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0n; rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return Uint8Array.from(bytes);
}

/** A string item. */
export function writeString(content: Uint8Array): Uint8Array {
  return content.length === 1 && content[0]! < 0x80 ? content : withHeader(0x80, content);
}

/** A list of items that are written already. */
export const writeList = (items: readonly Uint8Array[]): Uint8Array => withHeader(0xc0, concat(items));

function withHeader(base: number, content: Uint8Array): Uint8Array {
  if (content.length <= 55) return concat([Uint8Array.of(base + content.length), content]);
  const size = numberBytes(BigInt(content.length));
  return concat([Uint8Array.of(base + 55 + size.length), size, content]);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
