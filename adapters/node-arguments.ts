// The many ways in which Node lets a handler call writeHead, write and end, read into one form, with Node's own errors.
import { STATUS_CODES } from "node:http";

export type Callback = (error?: Error | null) => void;

type HeaderValue = number | string | readonly string[];
/** The header argument of writeHead: an object, a flat array, or an array of pairs. */
export type HeadFields = Readonly<Record<string, HeaderValue | undefined>> | readonly unknown[] | undefined;

/** `(chunk?, encoding?, callback?)` with any of them left out. */
export function readArguments(args: readonly unknown[]): {
  chunk: unknown;
  encoding: BufferEncoding | undefined;
  callback: Callback | undefined;
} {
  const found = args.find((arg) => typeof arg === "function");
  const [chunk, encoding] = args;
  return {
    chunk: typeof chunk === "function" ? undefined : chunk,
    encoding: typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : undefined,
    callback: typeof found === "function" ? (found as Callback) : undefined,
  };
}

/** Calls back in the next tick, as Node does. */
export function later(callback: Callback | undefined, error?: Error): void {
  if (callback) process.nextTick(callback, ...(error ? [error] : []));
}

/** The chunk as it came, if Node takes it. Throws Node's errors for what Node does not take. */
export function checkChunk(chunk: unknown): string | Uint8Array {
  if (typeof chunk === "string" || chunk instanceof Uint8Array) return chunk;
  if (chunk === null) throw coded(new TypeError("May not write null values to stream"), "ERR_STREAM_NULL_VALUES");
  const message = `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array. Received type ${typeof chunk}`;
  throw coded(new TypeError(message), "ERR_INVALID_ARG_TYPE");
}

export function sizeOf(chunk: string | Uint8Array, encoding: BufferEncoding | undefined): number {
  return typeof chunk === "string" ? Buffer.byteLength(chunk, encoding) : chunk.byteLength;
}

export function toBytes(chunk: string | Uint8Array, encoding: BufferEncoding | undefined): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk;
}

/** Header lines of writeHead in order; names may repeat in the array forms. */
export function headerPairs(fields: HeadFields): (readonly [name: string, value: HeaderValue])[] {
  if (!fields) return [];
  const pairs: (readonly [string, unknown])[] = [];
  if (!isArray(fields)) {
    for (const [name, value] of Object.entries(fields)) pairs.push([name, value]);
  } else if (Array.isArray(fields[0])) {
    for (const pair of fields) if (Array.isArray(pair)) pairs.push([String(pair[0]), pair[1]]);
  } else {
    if (fields.length % 2 !== 0)
      throw coded(new TypeError("The argument 'headers' is invalid"), "ERR_INVALID_ARG_VALUE");
    for (let at = 0; at < fields.length; at += 2) pairs.push([String(fields[at]), fields[at + 1]]);
  }
  // An undefined value stays in: setHeader refuses it with Node's own error.
  return pairs.filter((pair): pair is readonly [string, HeaderValue] => pair[0] !== "");
}

/** Refuses what Node would refuse only when the head is sent, while the handler can still be told. */
export function checkHead(status: number, message: string | undefined): void {
  if (!Number.isInteger(status) || status < 100 || status > 999)
    throw coded(new RangeError(`Invalid status code: ${status}`), "ERR_HTTP_INVALID_STATUS_CODE");
  if (/[^\t\x20-\x7e\x80-\xff]/.test(message ?? STATUS_CODES[status] ?? ""))
    throw coded(new TypeError("Invalid character in statusMessage"), "ERR_INVALID_CHAR");
}

function isArray(fields: NonNullable<HeadFields>): fields is readonly unknown[] {
  return Array.isArray(fields);
}

function coded(error: Error, code: string): Error {
  return Object.assign(error, { code });
}
